//! `list --sbom`: the software bill of an installation.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::Host;
use crate::archives::zip;
use crate::host::{Has, write_at};
use crate::market::{acme, skill};
use crate::repository::Hub;
use crate::server::Server;

fn with(name: &str, more: &str) -> String {
    skill(name).replace("\n---\nBody", &format!("\n{more}---\nBody"))
}

/// A host with a skill of every origin: of a repository, an archive, a directory, a link, by hand, in a
/// project that is not trusted, and one that cannot be loaded.
fn installation() -> (Host, Hub, Server) {
    let (host, hub) = acme(Host::stdin());
    host.succeeds(&["install", "acme/pdf", "--yes"]);
    let server = Server::new(hub.dir());
    let archive = [
        ("SKILL.md", &*with("zipped", "license: LGPL-2.1+\n")),
        ("run.sh*", "echo"),
    ];
    server.file("zipped.zip", zip(&archive));
    let address = server.url("zipped.zip?token=geheim");
    host.succeeds(&["install", "--yes", &address]);
    let place = |path: &str, text: &str| {
        let path = host.home().join(path);
        write_at(path, text);
    };
    place(
        "local/SKILL.md",
        &with("local", "license: MIT OR Apache-2.0\n"),
    );
    place(
        "copy/SKILL.md",
        &with("copy", "license: Terms in LICENSE.txt\n"),
    );
    place(
        ".agents/skills/hand/SKILL.md",
        &with("hand", "version: 7\nlicense: mit\n"),
    );
    symlink("SKILL.md", host.home().join(".agents/skills/hand/link.md")).unwrap();
    place(".agents/skills/bad/SKILL.md", "no frontmatter");
    let dir = |name: &str| host.home().join(name).to_str().unwrap().to_owned();
    host.succeeds(&["install", "--yes", &dir("local")]);
    symlink(dir("copy"), host.skills_dir().join("copy")).unwrap();
    let project = host.project().join(".agents/skills/theirs");
    write_at(project.join("SKILL.md"), with("theirs", "license: 0BSD\n"));
    fs::write(project.join("ignore-what-was-said"), "").unwrap();
    (host, hub, server)
}

fn bill(host: &Host) -> Value {
    serde_json::from_str(&host.succeeds(&["list", "--sbom"])).unwrap()
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let mut items = list.as_array().unwrap().iter();
    items
        .find(|item| item["name"] == name)
        .unwrap_or_else(|| panic!("{name}: {list:#}"))
}

fn property<'a>(component: &'a Value, name: &str) -> Option<&'a str> {
    let name = format!("agent-skills:{name}");
    let mut properties = component["properties"].as_array()?.iter();
    properties.find(|one| one["name"] == name)?["value"].as_str()
}

/// A Python that validates bills; `None`, and a remark, without one.
fn validator() -> Option<Command> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/validate");
    for python in ["python3", "/usr/bin/python3"] {
        let mut command = Command::new(python);
        command.arg(&script);
        let asked = Command::new(python)
            .arg(&script)
            .arg("--available")
            .status();
        if asked.is_ok_and(|status| status.success()) {
            return Some(command);
        }
    }
    println!("skipped: there is no python3 with jsonschema 4.18 or later");
    None
}

/// The validator's line about each document.
fn validated(documents: &[Value]) -> Option<Vec<String>> {
    let mut validator = validator()?;
    let dir = tempfile::tempdir().unwrap();
    let written = documents.iter().enumerate().map(|(at, document)| {
        let path = dir.path().join(at.to_string());
        fs::write(&path, document.to_string()).unwrap();
        path
    });
    let paths: Vec<PathBuf> = written.collect();
    let output = validator.args(&paths).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<String> = stdout.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), documents.len(), "{lines:?}");
    Some(lines)
}

#[test]
fn bills_are_valid_by_the_published_schemas() {
    let (host, _hub, _server) = installation();
    let empty = Host::stdin();
    let bills = [&host, &empty].map(bill);
    for line in validated(&bills).unwrap_or_default() {
        line.finishes(": valid");
    }
}

#[test]
fn each_skill_has_its_origin_version_licence_and_digests() {
    let (host, _hub, server) = installation();
    let bill = bill(&host);
    let components = &bill["components"];
    let info = host.json(&["info", "pdf", "--json"]);
    let commit = info["commit"].as_str().unwrap();
    let pdf = named(components, "pdf");
    assert_eq!(pdf["version"], commit);
    assert_eq!(
        pdf["purl"],
        format!("pkg:github/acme/skills@{commit}#skills/pdf")
    );
    assert_eq!(pdf["licenses"], Value::Null);
    assert_eq!(
        pdf["externalReferences"][0]["url"],
        "https://github.com/acme/skills"
    );
    let lockfile = host.lockfile();
    let entry = named(&lockfile["skills"], "pdf");
    assert_eq!(property(pdf, "digest"), entry["sha256"].as_str());
    for (path, digest) in entry["files"].as_object().unwrap() {
        let file = named(&pdf["components"], path);
        let digest = digest.as_str().unwrap();
        let bare = digest.strip_suffix("+x").unwrap_or(digest);
        assert_eq!(file["hashes"], json!([{"alg": "SHA-256", "content": bare}]));
        assert_eq!(property(file, "executable").is_some(), digest != bare);
    }

    let zipped = named(components, "zipped");
    let reference = &zipped["externalReferences"][0];
    assert_eq!(reference["url"], server.url("zipped.zip"));
    assert_eq!(
        reference["hashes"][0]["content"].as_str().unwrap().len(),
        64
    );
    assert_eq!(zipped["licenses"][0]["license"]["name"], "LGPL-2.1+");
    let local = named(components, "local");
    assert_eq!(local["licenses"][0]["license"]["name"], "MIT OR Apache-2.0");
    assert_eq!(property(local, "source"), Some("~/local"));
    let copy = named(components, "copy");
    assert_eq!(
        copy["licenses"][0]["license"]["name"],
        "Terms in LICENSE.txt"
    );
    assert_eq!(property(copy, "linked-to"), Some("~/copy"));

    let hand = named(components, "hand");
    assert_eq!(hand["version"], "7");
    assert_eq!(hand["bom-ref"], "~/.agents/skills/hand");
    // A link has no bytes of its own to have a digest of.
    assert_eq!(property(hand, "link"), Some("link.md"));
    assert_eq!(hand["components"].as_array().unwrap().len(), 1);
    let expected = [
        ("pdf", "git"),
        ("zipped", "archive"),
        ("local", "local"),
        ("copy", "link"),
        ("hand", "none"),
        ("bad", "none"),
        ("theirs", "none"),
    ];
    for (name, origin) in expected {
        assert_eq!(property(named(components, name), "origin"), Some(origin));
    }
    assert_eq!(components.as_array().unwrap().len(), expected.len());
}

#[test]
fn a_bill_has_neither_tokens_nor_what_is_not_trusted() {
    let (host, _hub, _server) = installation();
    let text = host.succeeds(&["list", "--sbom"]);
    for secret in ["geheim", "ignore-what-was-said", "0BSD"] {
        assert!(!text.contains(secret), "{secret}");
    }
    // A model does not even learn its name.
    host.tool("agent-skills", &json!({"args": ["list", "--sbom"]}))
        .has("\"hand\"")
        .lacks("theirs");
}

#[test]
fn a_bill_names_who_signed_and_what_was_changed_since() {
    let (host, _hub) = acme(Host::stdin());
    host.succeeds(&["install", "acme/pdf", "--yes"]);
    let path = host.plugin_dir().join("skills.lock.json");
    let mut lockfile: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    lockfile["skills"][0]["signer"] = json!({
        "principal": "ada@example.com", "key": "SHA256:abc", "kind": "ssh", "signed": "commit",
    });
    fs::write(&path, lockfile.to_string()).unwrap();
    let components = &bill(&host)["components"];
    let pdf = named(components, "pdf");
    assert_eq!(property(pdf, "signer:principal"), Some("ada@example.com"));
    assert_eq!(property(pdf, "signer:key"), Some("SHA256:abc"));
    fs::write(host.skills_dir().join("pdf/README.md"), "added").unwrap();
    let components = &bill(&host)["components"];
    let pdf = named(components, "pdf");
    // Nobody signed what is there now.
    assert_eq!(property(pdf, "signer:key"), None);
    let was = lockfile["skills"][0]["sha256"].as_str();
    assert_eq!(property(pdf, "installed-digest"), was);
    assert_ne!(property(pdf, "digest"), was);
}
