//! The software bill of an installation (docs/json.md#a-software-bill): what is installed, in
//! which version, from where, with which digests and under which licence, as `CycloneDX` 1.6
//! (ECMA-424) in JSON, with package URLs (purl-spec 1.0), which other programs read. It has no time:
//! the format requires none. Pure.

use percent_encoding::{AsciiSet, utf8_percent_encode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::marketplace::lock::{Digest, LockEntry};
use crate::marketplace::prelude::*;
use crate::sys::URI_PATH;

/// What is encoded in a part of a purl.
const PART: &AsciiSet = &URI_PATH.add(b'/');
/// What is encoded in the value of a qualifier.
const VALUE: &AsciiSet = &URI_PATH.remove(b':');
/// Forges with a type of their own. Both take their names in any case, and a purl has them in lower
/// case.
const FORGES: [(&str, &str); 2] = [("github.com", "github"), ("bitbucket.org", "bitbucket")];

/// What made a bill.
const PROGRAM: &str = "agent-skills";
/// Its version.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The reference of what the bill is about.
const WHOLE: &str = "installation";

/// One installed skill.
#[derive(Debug)]
pub struct Item {
    /// Its name, or its directory's if it could not be loaded.
    pub name: String,
    /// Its layer.
    pub layer: &'static str,
    /// Its directory; no other skill of the bill has it.
    pub directory: String,
    /// As its author wrote it.
    pub version: Option<String>,
    /// As its author wrote it.
    pub license: Option<String>,
    /// What the lockfile says; `None` for a skill that was put there by hand.
    pub entry: Option<LockEntry>,
    /// Whether a project says that of itself.
    pub claimed: bool,
    /// What its directory is a link to.
    pub linked_to: Option<String>,
    /// Its files, or why they were not read.
    pub content: Result<Digest, String>,
}

/// The software bill of these skills. The same installation has the same bill.
pub fn cyclonedx(skills: &[Item]) -> Value {
    let refs: Vec<&str> = skills.iter().map(|skill| &*skill.directory).collect();
    let mut document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": null,
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "operations"}],
            "tools": {
                "components": [{"type": "application", "name": PROGRAM, "version": VERSION}],
            },
            "component": {
                "type": "application",
                "bom-ref": WHOLE,
                "name": "installed agent skills",
            },
        },
        "components": skills.iter().map(component).collect::<Vec<_>>(),
        "dependencies": [{"ref": WHOLE, "dependsOn": refs}],
    });
    document["serialNumber"] = format!("urn:uuid:{}", uuid(&document)).into();
    document
}

fn component(skill: &Item) -> Value {
    let entry = skill.entry.as_ref();
    let commit = || entry?.commit.as_deref();
    let license = skill.license.as_deref().map(one_line).unwrap_or_default();
    // It is what the author says, not what somebody found out.
    let license = Some(license.trim()).filter(|name| !name.is_empty());
    let license =
        license.map(|name| json!([{"license": {"name": name, "acknowledgement": "declared"}}]));
    let files: Vec<Value> = skill.content.iter().flat_map(files).collect();
    let properties = properties(skill).into_iter();
    let properties = properties.map(|(name, value)| property(name, &value));
    let mut component = json!({
        // A reusable part that is neither an application nor a framework counts as a library.
        "type": "library",
        "bom-ref": skill.directory,
        "name": skill.name,
        "version": skill.version.as_deref().or_else(commit),
        "licenses": license,
        "purl": entry.and_then(|entry| purl(&skill.name, entry)),
        "externalReferences": entry.and_then(reference),
        "properties": properties.collect::<Vec<_>>(),
        "components": Some(files).filter(|files| !files.is_empty()),
    });
    if let Value::Object(fields) = &mut component {
        fields.retain(|_, value| !value.is_null());
    }
    component
}

/// The files of a skill. Links have no content of their own.
fn files(digest: &Digest) -> impl Iterator<Item = Value> + '_ {
    let files = digest.files.paths();
    let files = files.filter(|path| !digest.links.contains(*path));
    files.map(|path| {
        let marked = digest.files.get(path).unwrap_or_default();
        let sha256 = marked.strip_suffix("+x").unwrap_or(marked);
        let mut component = json!({
            "type": "file",
            "name": path,
            "hashes": [{"alg": "SHA-256", "content": sha256}],
        });
        if marked != sha256 {
            component["properties"] = json!([property("executable", "true")]);
        }
        component
    })
}

/// What has no place of its own in the format, by name (docs/json.md#a-software-bill).
fn properties(skill: &Item) -> Vec<(&'static str, String)> {
    let entry = skill.entry.as_ref();
    let origin = match (entry, &skill.linked_to) {
        // As the lockfile writes it.
        (Some(entry), _) => json!(entry.kind).as_str().unwrap_or_default().to_owned(),
        (None, Some(_)) => "link".to_owned(),
        (None, None) => "none".to_owned(),
    };
    let address = |text: &str| web_address(text).unwrap_or(text).to_owned();
    // What came with a project is its claim, and of changed files nobody signed.
    let now = skill.content.as_ref().ok().map(|now| &now.sha256);
    let is_signed = |entry: &&LockEntry| now == Some(&entry.sha256) && !skill.claimed;
    let signer = entry
        .filter(is_signed)
        .and_then(|entry| entry.signer.as_ref());
    let said = [
        ("layer", Some(skill.layer.to_owned())),
        ("directory", Some(skill.directory.clone())),
        ("origin", Some(origin)),
        ("source", entry.map(|entry| address(&entry.source))),
        (
            "address",
            entry.and_then(|entry| Some(address(entry.address.as_deref()?))),
        ),
        ("ref", entry.and_then(|entry| entry.rev.clone())),
        ("commit", entry.and_then(|entry| entry.commit.clone())),
        ("path", entry.map(|entry| entry.path.clone())),
        ("tree", entry.and_then(|entry| entry.tree.clone())),
        (
            "signer:principal",
            signer.and_then(|signer| signer.principal.clone()),
        ),
        (
            "signer:key",
            signer.map(|signer| signer.key.fingerprint.clone()),
        ),
        ("claimed", skill.claimed.then(|| "true".to_owned())),
        ("linked-to", skill.linked_to.clone()),
    ];
    let said = said.into_iter();
    let mut said: Vec<_> = said
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    match &skill.content {
        Ok(Digest { sha256, links, .. }) => {
            said.push(("digest", sha256.clone()));
            let installed = skill.entry.iter().map(|entry| &entry.sha256);
            let changed = installed.filter(|was| *was != sha256 && !was.is_empty());
            said.extend(changed.map(|was| ("installed-digest", was.clone())));
            said.extend(links.iter().map(|path| ("link", path.clone())));
        }
        Err(why) => said.push(("unread", why.clone())),
    }
    said.retain(|(_, value)| !value.is_empty());
    said
}

/// The place on the web, if there is one.
fn reference(entry: &LockEntry) -> Option<Value> {
    if entry.kind == SourceKind::Git {
        return Some(json!([{"type": "vcs", "url": repository(&entry.source)?}]));
    }
    let mut reference = json!({"type": "distribution", "url": web_address(&entry.source)?});
    if let Some(digest) = archive_digest(entry) {
        reference["hashes"] = json!([{"alg": "SHA-256", "content": digest}]);
    }
    Some(json!([reference]))
}

fn property(name: &str, value: &str) -> Value {
    json!({"name": format!("{PROGRAM}:{name}"), "value": value})
}

/// A UUID of version 8 (RFC 9562, section 5.8) for a document that has none so far.
fn uuid(document: &Value) -> String {
    let mut bytes = Sha256::digest(document.to_string());
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = format!("{bytes:x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}

/// The package URL of a skill called `name`; `None` if it came from this machine or a site's index:
/// these have no address that is the package's own.
pub fn purl(name: &str, entry: &LockEntry) -> Option<String> {
    let part = |text: &str| utf8_percent_encode(text, PART).to_string();
    let value = |text: &str| utf8_percent_encode(text, VALUE).to_string();
    match entry.kind {
        SourceKind::Git => {
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
        SourceKind::Archive | SourceKind::File => {
            let address = value(web_address(&entry.source)?);
            let digest = archive_digest(entry);
            let checksum = digest.map(|digest| format!("checksum=sha256:{digest}&"));
            let (name, checksum) = (part(name), checksum.unwrap_or_default());
            Some(format!(
                "pkg:generic/{name}?{checksum}download_url={address}"
            ))
        }
        SourceKind::Oci => {
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
        SourceKind::Local | SourceKind::WellKnown => None,
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
    if entry.kind == SourceKind::Oci {
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

    #[test]
    fn the_same_document_has_the_same_uuid_and_another_another() {
        let one = uuid(&json!({"a": 1}));
        assert_eq!(one, uuid(&json!({"a": 1})));
        assert_ne!(one, uuid(&json!({"a": 2})));
        assert_eq!((one.len(), &one[14..15]), (36, "8"), "{one}");
        assert!("89ab".contains(&one[19..20]), "{one}");
    }

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
