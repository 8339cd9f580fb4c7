//! Which version of a skill is in use, and which there are.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Host;
use crate::market_sources::skill;
use crate::repository::{Hub, commit, git};

fn version(number: &str) -> String {
    skill("pdf").replace(
        "---\nBody",
        &format!("metadata:\n  version: \"{number}\"\n---\nBody"),
    ) + &format!("Since {number}.\n")
}

fn release(dir: &Path, number: &str) {
    fs::write(dir.join("skills/pdf/SKILL.md"), version(number)).unwrap();
    commit(dir);
    git(dir, &["tag", &format!("v{number}")]);
}

fn released() -> (Host, Hub, PathBuf) {
    let hub = Hub::new();
    let dir = hub.repository("acme/skills", &[("skills/pdf/SKILL.md", &version("1.1"))]);
    git(&dir, &["tag", "v1.1"]);
    release(&dir, "1.2");
    let host = hub.host();
    (host, hub, dir)
}

fn json_of(host: &Host, words: &[&str]) -> Value {
    serde_json::from_str(&host.succeeds(words)).unwrap()
}

#[test]
fn a_version_is_installed_by_its_tag_and_shown_with_its_commit() {
    let (host, _hub, dir) = released();
    release(&dir, "1.10");
    host.succeeds(&["install", "acme/skills@pdf#v1.2"]);
    let installed = json_of(&host, &["list", "--json"])["skills"].take();
    assert_eq!(installed[0]["version"], json!("1.2"));
    let lock = host.lockfile();
    assert_eq!(installed[0]["commit"], lock["skills"][0]["commit"]);
    let outdated = json_of(&host, &["update", "--check", "--json"])["skills"].take();
    assert_eq!(outdated[0]["newer_tags"], json!(["v1.10"]));
    assert_eq!(outdated[0]["version"], json!("1.2"));
    let history = json_of(&host, &["info", "--history", "pdf", "--json"]);
    let newer: Vec<bool> = history["log"]
        .as_array()
        .unwrap()
        .iter()
        .map(|commit| commit["newer"].as_bool().unwrap())
        .collect();
    assert_eq!(newer, [true, false, false]);
}

#[test]
fn what_changed_is_told_before_and_after_an_update() {
    let (host, _hub, dir) = released();
    host.succeeds(&["install", "acme/pdf"]);
    fs::write(dir.join("other"), "x").unwrap();
    commit(&dir);
    release(&dir, "2.0");
    let before = json_of(&host, &["info", "--history", "pdf", "--json"]);
    assert_eq!(before["version"], json!("1.2"));
    assert_eq!(before["previous"], json!(null));
    assert_eq!(
        before["log"].as_array().unwrap().len(),
        3,
        "the other file's commit is none of its"
    );
    host.succeeds(&["update"]);
    let after = json_of(&host, &["info", "--history", "pdf", "--json"]);
    assert_eq!(after["version"], json!("2.0"));
    assert_eq!(after["previous"]["version"], json!("1.2"));
    assert_eq!(after["previous"]["commit"], before["commit"]);
    host.succeeds(&["rollback", "pdf"]);
    assert_eq!(
        json_of(&host, &["info", "--history", "pdf", "--json"])["version"],
        json!("1.2")
    );
}
