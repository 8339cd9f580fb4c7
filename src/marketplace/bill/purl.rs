//! Where a skill came from, as other programs write it: a package URL (purl-spec 1.0). Pure.

use percent_encoding::{AsciiSet, utf8_percent_encode};

use crate::marketplace::lock::LockEntry;
use crate::marketplace::reference::{Kind, OciRepo};
use crate::sys::URI_PATH;

/// What is encoded in a part of a purl.
const PART: &AsciiSet = &URI_PATH.add(b'/');
/// What is encoded in the value of a qualifier.
const VALUE: &AsciiSet = &URI_PATH.remove(b':');

/// Forges with a type of their own. Both take their names in any case, and a purl has them in lower
/// case.
const FORGES: [(&str, &str); 2] = [("github.com", "github"), ("bitbucket.org", "bitbucket")];

/// The package URL of a skill called `name`; `None` if it came from this machine or a site's index:
/// these have no address that is the package's own.
pub fn purl(name: &str, entry: &LockEntry) -> Option<String> {
    let part = |text: &str| utf8_percent_encode(text, PART).to_string();
    let value = |text: &str| utf8_percent_encode(text, VALUE).to_string();
    match entry.kind {
        Kind::Git => {
            let commit = entry.commit.as_deref().map(part);
            let at = commit.map_or_else(String::new, |commit| format!("@{commit}"));
            let path = fragment(entry);
            if let Some((forge, owner, repo)) = on_forge(&entry.source) {
                let [owner, repo] = [owner, repo].map(|name| part(&name.to_lowercase()));
                return Some(format!("pkg:{forge}/{owner}/{repo}{at}{path}"));
            }
            let address = value(&format!("git+{}{at}", repository(&entry.source)?));
            let name = part(name);
            Some(format!("pkg:generic/{name}{at}?vcs_url={address}{path}"))
        }
        Kind::Archive | Kind::File => {
            let address = value(web_address(&entry.source)?);
            let digest = archive_digest(entry);
            let checksum = digest.map(|digest| format!("checksum=sha256:{digest}&"));
            let (name, checksum) = (part(name), checksum.unwrap_or_default());
            Some(format!(
                "pkg:generic/{name}?{checksum}download_url={address}"
            ))
        }
        Kind::Oci => {
            let repo = OciRepo::parse(&entry.source).ok()?;
            let digest = part(entry.commit.as_deref()?);
            let (name, at) = (part(repo.short_name()), repo.as_str());
            let address = value(at.strip_prefix("oci://").unwrap_or(at));
            let is_tag = |rev: &&str| !rev.contains(':');
            let tag = entry.rev.as_deref().filter(is_tag);
            let tag = tag.map_or_else(String::new, |tag| format!("&tag={}", value(tag)));
            let path = fragment(entry);
            Some(format!(
                "pkg:oci/{name}@{digest}?repository_url={address}{tag}{path}"
            ))
        }
        Kind::Local | Kind::WellKnown => None,
    }
}

/// The skill's directory in its repository, as a package URL writes it.
fn fragment(entry: &LockEntry) -> String {
    match entry.path.trim_matches('/') {
        "" => String::new(),
        path => format!("#{}", utf8_percent_encode(path, URI_PATH)),
    }
}

/// The SHA-256 of the archive or file that was downloaded.
pub fn archive_digest(entry: &LockEntry) -> Option<&str> {
    if entry.kind == Kind::Oci {
        return None;
    }
    entry.commit.as_deref()?.strip_prefix("sha256:")
}

/// The address of something on the web. What follows `?` is left out: it may be a token, and a bill
/// is made to be handed on.
pub fn web_address(source: &str) -> Option<&str> {
    let is_web = source.starts_with("https://") || source.starts_with("http://");
    source.split('?').next().filter(|_| is_web)
}

/// The URL of a repository, also of one that is written as ssh's `user@host:path`; `None` for one of
/// this machine.
pub fn repository(source: &str) -> Option<String> {
    match source.split_once(':')? {
        ("https" | "http" | "ssh" | "git", _) => Some(source.to_owned()),
        (host, path) if host.contains('@') && !host.contains('/') => {
            Some(format!("ssh://{host}/{}", path.trim_start_matches('/')))
        }
        _ => None,
    }
}

/// Type, owner and name of a repository on one of [`FORGES`].
fn on_forge(source: &str) -> Option<(&'static str, &str, &str)> {
    let rest = source.split_once("://").map_or(source, |(_, rest)| rest);
    let (host, path) = rest.split_once(['/', ':'])?;
    let host = host.rsplit('@').next()?;
    let (_, forge) = FORGES.into_iter().find(|(name, _)| *name == host)?;
    let (owner, repo) = path.trim_matches('/').split_once('/')?;
    let repo = repo.strip_suffix(".git").unwrap_or(repo);
    (!repo.contains('/')).then_some((forge, owner, repo))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(kind: &str, source: &str, commit: Option<&str>, path: &str) -> LockEntry {
        serde_json::from_value(json!({
            "id": "x", "name": "pdf", "source": source, "kind": kind, "requested": "x", "ref": null,
            "commit": commit, "path": path, "tree": null, "sha256": "0", "files": {}, "license": null,
        }))
        .unwrap()
    }

    #[test]
    fn each_kind_of_source_has_the_address_that_others_use() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let of_archive = format!("sha256:{}", "ab".repeat(32));
        for (kind, source, commit, path, expected) in [
            (
                "git",
                "https://github.com/Acme/Skills",
                id,
                "skills/my pdf",
                format!("pkg:github/acme/skills@{id}#skills/my%20pdf"),
            ),
            (
                "git",
                "git@github.com:acme/skills.git",
                id,
                "",
                format!("pkg:github/acme/skills@{id}"),
            ),
            (
                "git",
                "https://gitlab.com/a/b/c.git",
                id,
                "x",
                format!("pkg:generic/pdf@{id}?vcs_url=git%2Bhttps://gitlab.com/a/b/c.git%40{id}#x"),
            ),
            (
                "archive",
                "https://h.org/pdf.zip?token=secret",
                &of_archive,
                "",
                format!("pkg:generic/pdf?checksum={of_archive}&download_url=https://h.org/pdf.zip"),
            ),
        ] {
            let entry = entry(kind, source, Some(commit), path);
            assert_eq!(purl("pdf", &entry), Some(expected));
        }
        for (kind, source) in [
            ("local", "/srv/pdf"),
            ("archive", "/srv/pdf.zip"),
            ("git", "file:///srv/skills"),
            ("git", "~/a@b:c"),
        ] {
            let entry = entry(kind, source, None, "");
            assert_eq!(purl("pdf", &entry), None);
        }
    }
}
