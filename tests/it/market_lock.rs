//! The lockfile: two scopes, restoring, verifying, other programs' files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::archives::zip;
use crate::host::{Has, write_at};
use crate::market_sources::skill;
use crate::repository::{Hub, commit};

fn acme() -> (Host, Hub) {
    let hub = Hub::new();
    hub.skills(&["pdf", "csv"]);
    (hub.host(), hub)
}

#[test]
fn a_projects_skills_are_restored_from_its_lockfile() {
    let (host, hub) = acme();
    let chibi = host.project().join(".chibi");
    host.succeeds(&["install", "github:acme/skills", "--all", "--project"]);
    assert!(chibi.join("skills/pdf/SKILL.md").exists());
    assert_eq!(fs::read_dir(host.skills_dir()).unwrap().count(), 0);
    let lock = fs::read_to_string(chibi.join("skills.lock.json")).unwrap();
    let json: Value = serde_json::from_str(&lock).unwrap();
    for entry in json["skills"].as_array().unwrap() {
        let keys = ["commit", "tree", "sha256"];
        assert!(keys.iter().all(|key| entry[key].is_string()), "{entry}");
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
    let write = |text: String| fs::write(&archive, zip(&[("SKILL.md", &text)])).unwrap();
    write(skill("zipped"));
    host.succeeds(&["install", archive.to_str().unwrap()]);
    host.succeeds(&["remove", "--yes", "pdf"]);
    fs::remove_dir_all(host.skills_dir().join("zipped")).unwrap();
    write(skill("zipped").replace("Body", "Other"));
    host.fails(&["install", "--frozen"]);
    assert!(!host.skills_dir().join("zipped").exists());
}

#[test]
fn a_lockfile_that_was_tampered_with_restores_nothing_else() {
    let (host, _hub) = acme();
    host.succeeds(&["install", "acme/pdf"]);
    let lock = host.lockfile();
    let digest = lock["skills"][0]["sha256"].as_str().unwrap();
    let text = lock.to_string().replace(digest, &"0".repeat(64));
    fs::write(host.plugin_dir().join("skills.lock.json"), text).unwrap();
    fs::remove_dir_all(host.skills_dir().join("pdf")).unwrap();
    host.fails(&["install"]);
    assert!(!host.skills_dir().join("pdf").exists());
}

#[test]
fn lock_files_of_other_programs_are_imported() {
    let (host, _hub) = acme();
    let vercel = r#"{"version":1,"skills":{
        "pdf":{"source":"acme/skills","sourceType":"github","skillPath":"skills/pdf/SKILL.md","computedHash":"x"},
        "bad":{"source":"acme/skills","sourceType":"github","skillPath":"../../x/SKILL.md"}}}"#;
    fs::write(host.project().join("skills-lock.json"), vercel).unwrap();
    let ran = host.person(&["sync", "--layer", "plugin", "."]);
    assert_eq!(ran.status, 1, "one of two failed: {ran:?}");
    ran.stdout.has("installed `pdf`");
    ran.stderr.has("`bad` was left out");
    let openskills = host.home().join("skills");
    fs::create_dir_all(openskills.join("csv")).unwrap();
    let entry = r#"{"source":"acme/skills","sourceType":"git","repoUrl":"https://github.com/acme/skills","subpath":"skills/csv","installedAt":"x"}"#;
    fs::write(openskills.join("csv/.openskills.json"), entry).unwrap();
    let ran = host.person(&["sync", openskills.to_str().unwrap()]);
    assert_eq!(ran.status, 3, "changed: {ran:?}");
    assert!(host.home().join(".chibi/skills/csv/SKILL.md").exists());
    assert_eq!(host.skill_tools(), ["skill_csv", "skill_pdf"]);
    host.succeeds(&["sync", openskills.to_str().unwrap()]);
    host.fails(&["sync", "--prune", "skills-lock.json"])
        .has("exactly which");
}

#[test]
fn a_lock_file_without_paths_is_imported_by_name() {
    let (host, _hub) = acme();
    let lock = r#"{"version":1,"skills":{"pdf":{"source":"acme/skills","sourceType":"github","computedHash":"x"}}}"#;
    fs::write(host.project().join("skills-lock.json"), lock).unwrap();
    assert_eq!(host.person(&["sync", "skills-lock.json"]).status, 3);
    assert_eq!(host.skill_tools(), ["skill_pdf"]);
}

#[test]
fn a_projects_lockfile_leads_to_nothing_of_its_readers() {
    let (host, _hub) = acme();
    let at = |path: &str| host.project().join(".chibi").join(path);
    fs::create_dir(at("")).unwrap();
    let own = host.home().join("canary/pdf");
    write_at(own.join("SKILL.md"), skill("pdf"));
    fs::write(
        own.join("../x.zip"),
        zip(&[("pdf/SKILL.md", &skill("pdf"))]),
    )
    .unwrap();
    commit(&own);
    let inside = host.project().join("in");
    fs::create_dir(&inside).unwrap();
    let digest = inside.join(format!("x.zip#sha256={}", "0".repeat(64)));
    symlink(&own, inside.join("link")).unwrap();
    symlink(&own, &digest).unwrap();
    fs::write(inside.join("x.zip"), "").unwrap();
    let head = fs::read_to_string(own.join(".git/refs/heads/main")).unwrap();
    let head = head.trim();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    for (kind, source, told) in [
        ("local", path(&own), "is a copy of"),
        ("local", "~/canary/pdf".to_owned(), "is a copy of"),
        ("local", path(&inside.join("link")), "is a copy of"),
        ("local", path(&digest), "is a copy of"),
        ("archive", path(&own.join("../x.zip")), "is a copy of"),
        ("git", format!("file://{}", path(&own)), "is a copy of"),
        (
            "git",
            format!("file://{}/%2e%2e/canary/pdf", path(&inside)),
            "is a copy of",
        ),
    ] {
        let entry = json!({
            "id": "x#", "name": "pdf", "source": source, "kind": kind, "requested": "x",
            "ref": null, "commit": head, "path": "", "tree": null, "sha256": "", "files": {},
            "license": null,
        });
        let lock = json!({"version": 1, "skills": [entry]}).to_string();
        fs::write(at("skills.lock.json"), &lock).unwrap();
        let ran = host.person(&["install", "--yes"]);
        assert!(at("skills/pdf").symlink_metadata().is_err(), "{ran:?}");
        assert!(ran.stderr.contains(told), "{source}: {ran:?}");
        fs::create_dir_all(at("skills/pdf")).unwrap();
        let ran = host.person(&["update", "--yes", "--force", "--project"]);
        ran.stdout.has("outside the project");
        fs::remove_dir_all(at("skills/pdf")).unwrap();
        assert_eq!(fs::read_to_string(at("skills.lock.json")).unwrap(), lock);
    }
    let foreign = json!({"skills": {"pdf": {"source": own, "sourceType": "local"}}});
    fs::write(host.project().join("skills-lock.json"), foreign.to_string()).unwrap();
    let ran = host.person(&["sync", "--yes", "--project", "."]);
    ran.stderr.has("outside the project");
    assert!(at("skills/pdf").symlink_metadata().is_err());
}

#[test]
fn a_projects_lockfile_installs_what_it_says_or_nothing() {
    let (host, _hub) = acme();
    let at = |path: &str| host.project().join(".chibi").join(path);
    let source = host.project().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("SKILL.md"), skill("pdf")).unwrap();
    host.succeeds(&["install", "./source", "--project"]);
    fs::remove_dir_all(at("skills/pdf")).unwrap();
    let ran = host.person(&["install"]);
    ran.stdout.finishes(
        "\nnext: agent-skills trust (skills of a project are offered once it is trusted)\n",
    );
    fs::remove_dir_all(at("skills/pdf")).unwrap();
    fs::write(source.join("more.md"), "x").unwrap();
    let lock = fs::read(at("skills.lock.json")).unwrap();
    let ran = host.person(&["install", "--yes"]);
    ran.stderr
        .has("no longer has the files that the lockfile lists");
    assert!(!at("skills/pdf").exists());
    assert_eq!(fs::read(at("skills.lock.json")).unwrap(), lock);
}
