//! The lockfile: two scopes, restoring, verifying, other programs' files.

use std::fs;

use serde_json::Value;

use crate::Host;
use crate::archives::zip;
use crate::market_sources::skill;
use crate::repository::{Hub, commit};

fn acme() -> (Host, Hub) {
    let hub = Hub::new();
    hub.repository(
        "acme/skills",
        &[
            ("skills/pdf/SKILL.md", &skill("pdf")),
            ("skills/csv/SKILL.md", &skill("csv")),
        ],
    );
    let host = Host::stdin().var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
    (host, hub)
}

#[test]
fn a_projects_skills_are_restored_from_its_lockfile() {
    let (host, hub) = acme();
    let chibi = host.project().join(".chibi");
    host.succeeds(&[
        "install",
        "acme/skills",
        "--reading",
        "repo",
        "--all",
        "--project",
    ]);
    assert!(chibi.join("skills/pdf/SKILL.md").exists());
    assert_eq!(fs::read_dir(host.skills_dir()).unwrap().count(), 0);
    let lock = fs::read_to_string(chibi.join("skills.lock.json")).unwrap();
    let json: Value = serde_json::from_str(&lock).unwrap();
    for entry in json["skills"].as_array().unwrap() {
        assert!(
            ["commit", "tree", "sha256"]
                .iter()
                .all(|key| entry[key].is_string()),
            "{entry}"
        );
    }
    // Upstream goes on; what the lockfile says comes back.
    let file = hub.dir().join("acme/skills/skills/pdf/SKILL.md");
    fs::write(file, skill("pdf").replace("Body", "New body")).unwrap();
    commit(&hub.dir().join("acme/skills"));
    fs::remove_dir_all(chibi.join("skills")).unwrap();
    host.succeeds(&["install", "--frozen"]);
    let restored = fs::read_to_string(chibi.join("skills/pdf/SKILL.md")).unwrap();
    assert!(restored.contains("\nBody of pdf."));
    assert_eq!(
        fs::read_to_string(chibi.join("skills.lock.json")).unwrap(),
        lock
    );
    host.succeeds(&["verify", "--project"]);
    host.succeeds(&["remove", "csv", "--project"]);
    assert!(!chibi.join("skills/csv").exists());
}

#[test]
fn frozen_refuses_drift_and_then_nothing_lands() {
    let (host, _hub) = acme();
    host.succeeds(&["install", "acme/skills", "--reading", "repo", "--all"]);
    fs::write(host.skills_dir().join("pdf/extra"), "x").unwrap();
    fs::remove_dir_all(host.skills_dir().join("csv")).unwrap();
    host.fails(&["install", "--frozen"]);
    assert!(!host.skills_dir().join("csv").exists());
    // Without it, what is missing comes back and what was changed stays.
    host.succeeds(&["install"]);
    assert!(host.skills_dir().join("csv").exists() && host.skills_dir().join("pdf/extra").exists());
    // A source that has changed under its name is drift, too.
    let archive = host.home().join("x.zip");
    fs::write(&archive, zip(&[("SKILL.md", &skill("zipped"))])).unwrap();
    host.succeeds(&["install", archive.to_str().unwrap()]);
    host.succeeds(&["remove", "pdf"]);
    fs::remove_dir_all(host.skills_dir().join("zipped")).unwrap();
    fs::write(
        &archive,
        zip(&[("SKILL.md", &skill("zipped").replace("Body", "Other"))]),
    )
    .unwrap();
    host.fails(&["install", "--frozen"]);
    assert!(!host.skills_dir().join("zipped").exists());
}

#[test]
fn a_lockfile_that_was_tampered_with_restores_nothing_else() {
    let (host, _hub) = acme();
    host.succeeds(&["install", "acme/pdf"]);
    let path = host.plugin_dir().join("skills.lock.json");
    let lock: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let digest = lock["skills"][0]["sha256"].as_str().unwrap();
    let text = lock.to_string().replace(digest, &"0".repeat(64));
    fs::write(&path, text).unwrap();
    fs::remove_dir_all(host.skills_dir().join("pdf")).unwrap();
    host.fails(&["install"]);
    assert!(!host.skills_dir().join("pdf").exists());
}

#[test]
fn a_lockfile_of_another_version_is_read_and_never_written() {
    let (host, _hub) = acme();
    host.succeeds(&["install", "acme/pdf"]);
    let path = host.plugin_dir().join("skills.lock.json");
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("\"version\": 1", "\"version\": 9");
    fs::write(&path, &text).unwrap();
    host.succeeds(&["verify"]);
    for words in [
        &["install", "acme/csv"][..],
        &["remove", "pdf"],
        &["update"],
        &["install"],
        &["rollback", "pdf"],
    ] {
        host.fails(words);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn lock_files_of_other_programs_are_imported() {
    let (host, _hub) = acme();
    let vercel = r#"{"version":1,"skills":{
        "pdf":{"source":"acme/skills","sourceType":"github","skillPath":"skills/pdf/SKILL.md","computedHash":"x"},
        "bad":{"source":"acme/skills","sourceType":"github","skillPath":"../../x/SKILL.md"}}}"#;
    fs::write(host.project().join("skills-lock.json"), vercel).unwrap();
    let ran = host.person(&["import-lock"]);
    assert_eq!(ran.status, 1, "one of two failed: {ran:?}");
    assert!(
        ran.stdout.contains("installed `pdf`") && ran.stdout.contains("`bad` was left out"),
        "{ran:?}"
    );
    let openskills = host.home().join("skills");
    fs::create_dir_all(openskills.join("csv")).unwrap();
    let entry = r#"{"source":"acme/skills","sourceType":"git","repoUrl":"https://github.com/acme/skills","subpath":"skills/csv","installedAt":"x"}"#;
    fs::write(openskills.join("csv/.openskills.json"), entry).unwrap();
    host.succeeds(&["import-lock", openskills.to_str().unwrap()]);
    assert_eq!(host.skill_tools(), ["skill_csv", "skill_pdf"]);
    assert!(
        host.fails(&["import-lock", "/etc/passwd"])
            .contains("not JSON")
    );
}
