//! Validated parts of a reference: a repository's URL, a revision, a path in a repository. None of
//! them can be an option to git or lead out of a directory.

use std::fmt;

use percent_encoding::utf8_percent_encode;
use url::{Host, Url};

use crate::error::{Error, Result};
use crate::sys::{URI_PATH, limits, secret};
use skill_text::visible;

const GITHUB: &str = "https://github.com/";

/// Texts that were checked when they were parsed, as they are written.
macro_rules! written {
    ($($name:ident)*) => {$(
        impl $name {
            /// As text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

pub(super) use written;

written!(RefName SubPath WebUrl);

/// The address of a repository, in the form the lockfile keeps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoUrl(String);

/// The name of a branch or tag, valid by the rules of `git check-ref-format`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RefName(String);

/// A relative path. Its parts are separated by `/`; none is empty, `.` or `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubPath(String);

impl RepoUrl {
    /// Parses a URL with a scheme that git may use for the network or local files, or ssh's
    /// `user@host:path`.
    ///
    /// # Errors
    /// For other schemes (`ext::` runs programs), credentials in the URL, and text that git or ssh
    /// could read as an option.
    pub fn parse(written: &str) -> Result<Self> {
        let refused = |why: &str| {
            let written = public(written);
            Error::new(format!("the repository `{}` {why}", written.escape_debug())).hint(
                "give an address like https://github.com/OWNER/REPO or git@HOST:OWNER/REPO.git",
            )
        };
        let written = written.trim_end_matches('/');
        if let Some((authority, path)) = written.split_once(':')
            && !path.starts_with("//")
        {
            let is_scp = unsafe_text(written).is_none()
                && authority.contains('@')
                && is_authority(authority)
                && is_path(path.trim_start_matches('/'));
            let refused = || refused("is not an address that can be used");
            return is_scp.then(|| Self(written.to_owned())).ok_or_else(refused);
        }
        let schemes = ["https", "http", "ssh", "git", "file"];
        let address = Address::parse(written, &schemes).map_err(refused)?;
        if !is_path(address.path) {
            return Err(refused("has a path that cannot be used"));
        }
        let url = address.to_string();
        // GitHub serves a repository with and without `.git`; the lockfile has only one of the two.
        match url.strip_suffix(".git") {
            Some(bare) if url.starts_with(GITHUB) => Ok(Self(bare.to_owned())),
            _ => Ok(Self(url)),
        }
    }

    /// The GitHub repository `owner/repo`.
    ///
    /// # Errors
    /// When either is not a name that GitHub allows.
    pub fn github(owner: &str, repo: &str) -> Result<Self> {
        let is_name = |name: &str| is_word(name) && !name.starts_with('.');
        if !is_name(owner) || !is_name(repo) {
            let name = format!("{owner}/{repo}");
            let text = format!("`{}` is not the name of a repository", name.escape_debug());
            return Err(Error::new(text).hint("give it as OWNER/REPO, or as a whole https address"));
        }
        Self::parse(&format!("{GITHUB}{owner}/{repo}"))
    }

    /// Parses `OWNER/REPO` on GitHub, or an address.
    ///
    /// # Errors
    /// As [`RepoUrl::parse`] and [`RepoUrl::github`].
    pub fn parse_short(written: &str) -> Result<Self> {
        match written.split_once('/') {
            Some((owner, repo)) if !written.contains([':', '@']) => Self::github(owner, repo),
            _ => Self::parse(written),
        }
    }

    /// The address to give to git. `mirror` (`AGENT_SKILLS_GITHUB_BASE`) replaces
    /// `https://github.com/` here, so the lockfile is the same with and without it.
    ///
    /// # Errors
    /// When the mirror is not a valid address.
    pub fn fetch_from(&self, mirror: Option<&str>) -> Result<Self> {
        let (Some(path), Some(base)) = (self.0.strip_prefix(GITHUB), mirror) else {
            return Ok(self.clone());
        };
        let address = Self::parse(&format!("{}/{path}", base.trim_end_matches('/')));
        address.map_err(|error| error.context("AGENT_SKILLS_GITHUB_BASE"))
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part of the path without `.git`.
    pub fn repo_name(&self) -> &str {
        let last = self.0.rsplit(['/', ':']).next().unwrap_or_default();
        last.strip_suffix(".git").unwrap_or(last)
    }

    /// The part of the path before the repository's name: an account or a group.
    pub fn owner(&self) -> Option<&str> {
        let path = match self.0.split_once("://") {
            Some((_, rest)) => rest.split_once('/')?.1,
            None => self.0.split_once(':')?.1,
        };
        path.rsplit_once('/')?.0.rsplit('/').next()
    }
}

impl fmt::Display for RepoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.strip_prefix(GITHUB).unwrap_or(&self.0))
    }
}

/// A URL taken apart.
pub struct Address<'w> {
    /// In small letters.
    pub scheme: String,
    /// Host and port in the one form that is compared: in small letters, without https' own port.
    pub authority: String,
    /// What follows the slash after them, as it is written.
    pub path: &'w str,
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, authority, path) = (&self.scheme, &self.authority, self.path);
        write!(f, "{scheme}://{authority}/{path}")
    }
}

impl<'w> Address<'w> {
    /// Takes a URL apart that has one of these schemes.
    ///
    /// # Errors
    /// Why it may not be used: it is not encrypted, contains credentials, or has no certain host.
    pub fn parse(written: &'w str, schemes: &[&str]) -> Result<Self, &'static str> {
        if let Some(why) = unsafe_text(written) {
            return Err(why);
        }
        let (scheme, rest) = written.split_once("://").ok_or("is not an address")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (scheme, authority) = (scheme.to_ascii_lowercase(), authority.to_ascii_lowercase());
        let own_port = if matches!(&*scheme, "https" | "oci") {
            ":443"
        } else {
            ""
        };
        let authority = match authority.strip_suffix(own_port).unwrap_or(&authority) {
            "www.github.com" => "github.com".to_owned(),
            bare => bare.to_owned(),
        };
        match &*scheme {
            other if !schemes.contains(&other) => Err("has a scheme that is not supported"),
            "file" if !authority.is_empty() => Err("is a file of another machine"),
            "https" | "http" | "oci" if authority.contains('@') => Err(
                "contains credentials: keep them in git's helper, curl's `~/.netrc` or where \
                 `docker login` does",
            ),
            "http" if !is_loopback(&authority) => Err("is not encrypted: use https"),
            "file" => Ok(()),
            _ if is_authority(&authority) => Ok(()),
            _ => Err("has no usable host"),
        }?;
        Ok(Self {
            scheme,
            authority,
            path,
        })
    }
}

impl RefName {
    /// Parses what a person or a lockfile wrote.
    ///
    /// # Errors
    /// When git would refuse it as a branch or tag name.
    pub fn parse(written: &str) -> Result<Self> {
        let bad_part = |part: &str| {
            part.is_empty() || part.starts_with('.') || part.to_ascii_lowercase().ends_with(".lock")
        };
        let bad = unsafe_text(written).is_some()
            || written == "@"
            || written.len() > 255
            || written.ends_with('.')
            || written.contains(['~', '^', ':', '?', '*', '[', '\\'])
            || written.contains("..")
            || written.contains("@{")
            || written.split('/').any(bad_part);
        if bad {
            let text = format!(
                "`{}` cannot be a branch, tag or commit",
                written.escape_debug()
            );
            let hint = "give the name of a branch or tag, or a full commit id";
            return Err(Error::new(text).hint(hint));
        }
        Ok(Self(written.to_owned()))
    }
}

impl SubPath {
    /// Parses a path in a repository; leading and trailing slashes are ignored.
    ///
    /// # Errors
    /// When it is empty, absolute on another system, or has parts such as `..`.
    pub fn parse(written: &str) -> Result<Self> {
        let path = written.trim_matches('/');
        let path = path.strip_prefix("./").unwrap_or(path);
        let bad_part = |part: &str| matches!(part, "" | "." | "..");
        if path.split('/').any(bad_part) || path.chars().any(|c| c.is_control() || c == '\\') {
            let text = format!(
                "`{}` is not a path inside a repository",
                written.escape_debug()
            );
            let hint = "give it without `.` and `..`, with `/` between its parts";
            return Err(Error::new(text).hint(hint));
        }
        Ok(Self(path.to_owned()))
    }
}

/// Why this text must not be passed to git at all, if so.
pub fn unsafe_text(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("is empty")
    } else if text.len() > limits::REFERENCE {
        Some("is too long")
    } else if text.starts_with('-') {
        Some("begins with `-`, as options do")
    } else if text.contains(char::is_whitespace) || visible(text) != text {
        Some("contains spaces, or characters that deceive a reader")
    } else if text.contains("::") && !text.contains('[') {
        Some("names a program that git would run")
    } else {
        None
    }
}

/// What a message shows of an address: without the user and password before its host.
pub fn public(written: &str) -> String {
    let start = written.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = written.split_at(start);
    match secret::user_info(rest) {
        // The user alone is no secret of ssh's.
        Some(end) if rest[..end].contains(':') || start > 0 && !scheme.starts_with("ssh") => {
            format!("{scheme}…{}", &rest[end..])
        }
        _ => written.to_owned(),
    }
}

/// Whether a host, with or without a port, is the local machine.
pub fn is_loopback(authority: &str) -> bool {
    let is = |host: &&str| authority.strip_prefix(host).is_some_and(is_port);
    ["localhost", "127.0.0.1", "[::1]"].iter().any(is)
}

fn is_path(path: &str) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.starts_with('-');
    path.split('/').all(is_part) && !path.contains(['\\', '?', '#', '@', ':'])
}

/// `host` or `host:port`, each optionally preceded by `user@`.
pub fn is_authority(authority: &str) -> bool {
    let (user, rest) = authority.split_once('@').unwrap_or(("git", authority));
    let after_brackets = rest.rfind(']').map(|end| end + 1);
    let colon = after_brackets.or_else(|| rest.find(':'));
    let (host, port) = rest.split_at(colon.unwrap_or(rest.len()));
    let is_plain = host.starts_with('[') || is_word(host) && !host.ends_with('.');
    // One address has one spelling, so that rules about it hold: resolvers also take `10.5`.
    let is_its_own = |parsed: Host| parsed.to_string().eq_ignore_ascii_case(host);
    is_word(user) && is_plain && Host::parse(host).is_ok_and(is_its_own) && is_port(port)
}

/// Letters, digits, `-`, `_` and `.`, not like an option.
fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain)
}

/// Empty, or `:` and digits.
fn is_port(text: &str) -> bool {
    let is_number = |port: &str| !port.starts_with(['0', '+']) && port.parse::<u16>().is_ok();
    text.is_empty() || text.strip_prefix(':').is_some_and(is_number)
}

/// An https URL, or an http URL of the local machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WebUrl(String);

impl WebUrl {
    /// Parses a URL without a fragment.
    ///
    /// # Errors
    /// When it is not encrypted, contains credentials, or has no certain host.
    pub fn parse(written: &str) -> Result<Self> {
        let refused = |why: &str| {
            let written = public(written);
            Error::new(format!("the address `{}` {why}", written.escape_debug()))
                .hint("give an address like https://HOST/FILE")
        };
        let address = Address::parse(written, &["https", "http"]).map_err(refused)?;
        // What could be read in several ways (`..`, `\\`, quotes) gets one form.
        let url = Url::parse(&address.to_string());
        let url = url.map_err(|_| refused("has parts that cannot be used"))?;
        match url.fragment() {
            None => Ok(Self(url.into())),
            Some(_) => Err(refused("has a `#`")),
        }
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        self.0.split('/').nth(2).unwrap_or_default()
    }

    /// The URL of the host's root.
    #[must_use]
    pub fn root(&self) -> Self {
        let scheme = if self.is_encrypted() { "https" } else { "http" };
        Self(format!("{scheme}://{}/", self.host()))
    }

    /// The URL of `path` below this URL, which is treated as a directory.
    #[must_use]
    pub fn join(&self, path: &SubPath) -> Self {
        let mut url = self.0.trim_end_matches('/').to_owned();
        url.push('/');
        url.extend(utf8_percent_encode(path.as_str(), URI_PATH));
        Self(url)
    }

    /// Where `written` leads, which is at this URL: an address, or a path on this host.
    ///
    /// # Errors
    /// As [`WebUrl::parse`].
    pub fn led(&self, written: &str) -> Result<Self> {
        let to = Url::parse(&self.0).and_then(|own| own.join(written));
        let to = to.map_err(|error| {
            let text = format!("`{self}` redirects to an invalid address");
            Error::caused(text, error).hint("tell the site's owner")
        })?;
        Self::parse(to.as_str().split('#').next().unwrap_or_default())
    }

    /// Whether it is https. Otherwise its host is the local machine.
    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The last part of its path; empty for a root.
    pub fn file_name(&self) -> &str {
        let path = self.0.split('?').next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
