//! Where a source is, whichever way its address is written: a policy's globs are compared with
//! hosts and paths, so that no other spelling of a blocked address is allowed. Does not know what
//! a policy says, nor what is fetched.

use std::borrow::Cow;
use std::{fmt, fs};

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use super::skill_names::matches_exactly;

/// Hosts that serve GitHub's repositories, or files and archives of them, by the same owner.
const OF_GITHUB: [&str; 4] = [
    "www.github.com",
    "ssh.github.com",
    "codeload.github.com",
    "raw.githubusercontent.com",
];

/// The address of a source, or the one that git uses for it.
#[derive(Debug)]
pub struct SourceAddress {
    written: String,
    /// Empty if the address has none.
    scheme: String,
    /// Host, unusual port, path and query, of a local directory the path; and the same decoded once
    /// more, as a server might. What allows has to match both.
    certain: [String; 2],
    /// The first; the other without port and query; that with the port, also if it is ssh's own; and
    /// without the home directory that ssh's paths may begin with: `~/x` is `x` there. What blocks has
    /// to match one.
    possible: [String; 4],
}

/// A glob of sources, as a policy has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct SourceGlob {
    written: String,
    scheme: Option<String>,
    place: String,
}

impl SourceAddress {
    /// The address `written` in any form that git or curl accepts, or the path of a directory.
    pub fn new(written: &str) -> Self {
        let is_local = is_local(written);
        let (address, query) = match written.find(['?', '#']) {
            Some(at) if !is_local => written.split_at(at),
            _ => (written, ""),
        };
        let parts = Parts::parse(address, Port::OnlyInUrl);
        let (host, port, path) = (&parts.host, &parts.port, &parts.path);
        let is_ssh = parts.scheme == "ssh" && port.is_empty();
        let ported = if is_ssh { ":22" } else { port };
        let again = match path.strip_prefix('/') {
            Some(inside) if !is_local => format!("/{}", resolved(&decoded(inside))),
            _ => path.clone(),
        };
        let below_home = match again.strip_prefix("/~").and_then(|home| home.find('/')) {
            Some(end) if parts.scheme == "ssh" => &again["/~".len() + end..],
            _ => &again,
        };
        let exact = format!("{host}{port}{path}{query}");
        Self {
            certain: [exact.clone(), format!("{host}{port}{again}{query}")],
            possible: [
                exact,
                format!("{host}{again}"),
                format!("{host}{ported}{again}"),
                format!("{host}{below_home}"),
            ],
            written: written.to_owned(),
            scheme: parts.scheme,
        }
    }

    /// The address, and that of the directory to which the links of a local one lead.
    pub fn all(written: &str) -> Vec<Self> {
        let path = match written.get("file://".len()..) {
            Some(path) if is_local(written) && !written.starts_with('/') => decoded(path),
            _ => Cow::from(written),
        };
        let real = fs::canonicalize(&*path).ok().filter(|_| is_local(written));
        let real = real.map(|path| Self::new(&path.to_string_lossy()));
        [Self::new(written)].into_iter().chain(real).collect()
    }
}

/// As in a glob of names, but only ASCII letters are folded: no other character becomes one.
fn matches(pattern: &str, text: &str) -> bool {
    matches_exactly(&pattern.to_ascii_lowercase(), &text.to_ascii_lowercase())
}

/// Whether an address is the path of a directory, or a URL of one.
fn is_local(written: &str) -> bool {
    let scheme = written.get(.."file://".len());
    written.starts_with('/') || scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
}

impl From<String> for SourceGlob {
    fn from(written: String) -> Self {
        let parts = Parts::parse(&written, Port::Anywhere);
        Self {
            place: parts.host + &parts.port + &parts.path,
            scheme: written.contains("://").then_some(parts.scheme),
            written,
        }
    }
}

impl SourceGlob {
    /// Whether a policy that allows this allows `source`. `https` in a glob means ssh, too.
    pub fn allows(&self, source: &SourceAddress) -> bool {
        let by = |scheme: &String| {
            matches(scheme, &source.scheme) || scheme == "https" && source.scheme == "ssh"
        };
        let is_there = |place: &String| match source.scheme.as_str() {
            // Most file systems distinguish them.
            "file" => matches_exactly(&self.place, place),
            _ => matches(&self.place, place),
        };
        self.scheme.as_ref().is_none_or(by) && source.certain.iter().all(is_there)
    }

    /// Whether a policy that blocks this blocks `source`: in doubt about port, query and encoding it
    /// does, and `https` in a glob means every way over the network.
    pub fn blocks(&self, source: &SourceAddress) -> bool {
        let by = |scheme: &String| {
            matches(scheme, &source.scheme) || scheme == "https" && source.scheme != "file"
        };
        let is_there = |place: &String| matches(&self.place, place);
        matches(&self.written, &source.written)
            || self.scheme.as_ref().is_none_or(by) && source.possible.iter().any(is_there)
    }
}

impl fmt::Display for SourceGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// The parts of an address or a glob, each in the one form that is compared.
struct Parts {
    scheme: String,
    host: String,
    /// With its `:`; empty for the scheme's own.
    port: String,
    /// With its `/`, if there is one.
    path: String,
}

/// What `HOST:22/PATH` without a scheme means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Port {
    /// The path `22/PATH` by ssh, as git reads an address.
    OnlyInUrl,
    /// A port, as in a glob.
    Anywhere,
}

impl Parts {
    fn parse(written: &str, port: Port) -> Self {
        let (scheme, rest) = written.split_once("://").unwrap_or(("", written));
        let scheme = scheme.to_ascii_lowercase();
        let is_port = |path: &str| {
            let first = path.split('/').next().unwrap_or_default();
            port == Port::Anywhere && first.bytes().all(|byte| b"0123456789*?".contains(&byte))
        };
        // Git decodes the path of a URL, but not that of ssh's `host:path`.
        let scp = rest.split_once(':').filter(|(at, path)| {
            let is_host = !at.contains(['/', '[']) && (at.contains('@') || !is_port(path));
            scheme.is_empty() && is_host
        });
        let (scheme, authority, path) = match scp {
            Some((authority, path)) => ("ssh", authority, Some(Cow::from(path))),
            None if scheme.is_empty() && rest.starts_with('/') => {
                ("file", "", Some(Cow::from(rest)))
            }
            None => {
                let (authority, path) = rest
                    .split_once('/')
                    .map_or((rest, None), |(authority, path)| (authority, Some(path)));
                (scheme.as_str(), authority, path.map(decoded))
            }
        };
        let authority = &authority.to_ascii_lowercase();
        // A glob without a path may be any part of an address.
        let (host, port) = match path {
            Some(_) => host_and_port(scheme, authority),
            None => (authority.clone(), String::new()),
        };
        Self {
            scheme: scheme.to_owned(),
            host,
            port,
            path: path.map_or_else(String::new, |path| format!("/{}", resolved(&path))),
        }
    }
}

fn decoded(path: &str) -> Cow<'_, str> {
    percent_decode_str(path).decode_utf8_lossy()
}

/// Without user, trailing dots and the port that the scheme has anyway.
fn host_and_port(scheme: &str, authority: &str) -> (String, String) {
    let host = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (host, ""),
    };
    let (host, port) = (host.trim_end_matches('.'), port.trim_start_matches('0'));
    let usual = match scheme {
        "ssh" if host != "ssh.github.com" => "22",
        "http" => "80",
        "git" => "9418",
        _ => "443",
    };
    let port = match port {
        "" => String::new(),
        port if port == usual => String::new(),
        port => format!(":{port}"),
    };
    let host = if OF_GITHUB.contains(&host) {
        "github.com"
    } else {
        host
    };
    (host.to_owned(), port)
}

/// Without empty parts, `.`, `..` and the `.git` that hosts add or leave out.
fn resolved(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    let (bare, end) = path.split_at(path.floor_char_boundary(path.len().saturating_sub(4)));
    let bare = if end.eq_ignore_ascii_case(".git") {
        bare
    } else {
        &path
    };
    bare.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(written: &str) -> SourceGlob {
        written.to_owned().into()
    }

    /// Each is the repository `x` of the account `evil` on GitHub.
    const SPELLINGS: [&str; 27] = [
        "https://github.com/evil/x",
        "https://github.com/evil/x.git",
        "https://github.com/evil/x/",
        "https://github.com/evil/x.git/",
        "https://github.com//evil///x",
        "https://github.com/evil/./x",
        "https://github.com/acme/../evil/x",
        "https://github.com/acme/%2e%2E/evil/x",
        "https://github.com/%65vil/x",
        "https://github.com/evil%2fx",
        "https://github.com/EVIL/%58%2Egit",
        "https://GitHub.com/Evil/X",
        "https://github.com:443/evil/x",
        "https://github.com:0443/evil/x",
        "https://github.com./evil/x",
        "https://github.com.:443/evil/x",
        "https://user:token@github.com/evil/x",
        "https://www.github.com/evil/x",
        "ssh://github.com/evil/x",
        "ssh://git@github.com/evil/x",
        "ssh://git@github.com:22/evil/x.git",
        "ssh://git@ssh.github.com:443/evil/x",
        "git://github.com:9418/evil/x",
        "git@github.com:evil/x.git",
        "git@GITHUB.com:/evil/x",
        "git@github.com.:evil/x",
        "github.com/evil/x",
    ];

    #[test]
    fn every_spelling_of_an_address_is_one_place() {
        for written in SPELLINGS {
            let source = SourceAddress::new(written);
            let exact = source.certain[0].to_ascii_lowercase();
            assert_eq!(exact, "github.com/evil/x", "{written}");
            for blocked in SPELLINGS {
                let is_scheme = blocked.starts_with("ssh:") || blocked.starts_with("git:");
                assert!(glob(blocked).blocks(&source) || is_scheme, "{blocked}");
            }
            for allowed in ["github.com/evil/*", "git@github.com:evil/*", "*"] {
                assert!(glob(allowed).allows(&source), "{allowed} {written}");
            }
            assert!(!glob("github.com/acme/*").allows(&source), "{written}");
        }
    }

    #[test]
    fn what_a_glob_says_of_an_address_depends_on_the_list() {
        for (pattern, written, allows, blocks) in [
            // Something else may listen on another port, or answer another query.
            ("h.org/a/*", "ssh://git@h.org:2222/a/x", false, true),
            ("h.org:2222/a/*", "ssh://git@h.org:2222/a/x", true, true),
            ("h.org/x.zip", "https://h.org/x.zip?v=2", false, true),
            ("h.org/x.zip?v=2", "https://h.org/x.zip?v=2", true, true),
            ("h.org/*", "https://h.org/", true, true),
            ("https://h.org/*", "https://h.org/a/x", true, true),
            ("https://h.org/*", "git@h.org:a/x.git", true, true),
            ("https://h.org/*", "git://h.org/a/x", false, true),
            ("https://*", "/srv/x", false, false),
            ("https://*", "file:///srv/x", false, false),
            ("git://*", "https://h.org/a/x", false, false),
            ("*://*", "https://h.org/a/x", true, true),
            ("/srv/*", "file:///srv/%78", true, true),
            ("/srv/*", "/srv/x", true, true),
            ("file:///srv/*", "/srv/x", true, true),
            ("/srv/a%20b", "/srv/a%20b", true, true),
            ("/srv/a b", "/srv/a%20b", false, false),
            ("/srv/*", "https://h.org/srv/x", false, false),
            ("h.org/a/s?ills", "https://h.org/a/skills", true, true),
            ("*.org/a/*.git", "git@h.org:a/x.git", true, true),
            ("*.git", "git@h.org:a/x.git", false, true),
            ("*git@*", "git@h.org:a/x.git", false, true),
            ("github.com/a/*", "https://a@evil.org/a/x", false, false),
            (
                "github.com/a/*",
                "https://github.com@evil.org/a/x",
                false,
                false,
            ),
            ("github.com/a/*", "ssh://h/github.com/a/x", false, false),
            ("github.com/a/*", "git@h:github.com/a/x", false, false),
            ("h/a/*", "git@h:%61/x", false, true),
            ("h/a/*", "git@h:a/..%2fevil/x", false, true),
            ("h/a/*", "https://h/a/%252e%252e/evil/x", false, true),
            ("h/evil/*", "git@h:a/..%2fevil/x", false, true),
            ("h/a/*", "https://h/a%2f..%2fevil/x", false, false),
            ("[::1]/a/*", "http://[::1]:80/a/x", true, true),
            ("h.org:a/*", "git@h.org:a/x", true, true),
            ("h.org/a/*", "git@h.org:~/a/x", false, true),
            ("h.org/a/*", "ssh://git@h.org/~git/a/x", false, true),
            ("h.org/~a/*", "git@h.org:~a/x", true, true),
            ("h.org/a/*", "https://h.org/~b/a/x", false, false),
            ("h.org:a/*", "https://h.org/a/x", true, true),
            ("h.org/a/*", "h.org:a/x", true, true),
            ("h.org/22/*", "h.org:22/x", true, true),
            ("h.org:*/a/*", "https://h.org:8443/a/x", true, true),
            // Paths of directories differ by case; nothing becomes a letter by folding.
            ("/srv/a/*", "/srv/A/x", false, true),
            ("/srv/A/*", "/srv/A/x", true, true),
            ("h.org/sk*", "https://h.org/s\u{212a}x", false, false),
        ] {
            let (glob, source) = (glob(pattern), SourceAddress::new(written));
            let said = (glob.allows(&source), glob.blocks(&source));
            assert_eq!(said, (allows, blocks), "{pattern} {written}");
        }
    }

    #[test]
    fn githubs_files_and_archives_have_their_owner() {
        for written in [
            "https://raw.githubusercontent.com/evil/x/main/SKILL.md",
            "https://codeload.github.com/evil/x/zip/refs/heads/a.zip",
            "https://github.com/evil/x/archive/refs/heads/main.zip",
        ] {
            let source = SourceAddress::new(written);
            assert!(glob("github.com/evil/*").blocks(&source), "{written}");
            assert!(!glob("github.com/acme/*").allows(&source), "{written}");
        }
    }
}
