//! Updates: what is newer, what is lost, what needs consent, and the way back.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};
use crate::market_sources::skill;
use crate::repository::{Hub, commit, files, git};
use crate::terminal::converse;

/// A host with `acme/skills@pdf` installed, and the directory of its repository.
pub fn installed(reference: &str) -> (Host, Hub, PathBuf) {
    let hub = Hub::new();
    let dir = hub.skills(&["pdf", "csv"]);
    git(&dir, &["tag", "v1"]);
    let host = hub.host();
    host.succeeds(&["install", reference]);
    (host, hub, dir)
}

pub fn write(dir: &std::path::Path, path: &str, text: &str) {
    write_at(dir.join(path), text);
    commit(dir);
}

pub fn body(host: &Host) -> String {
    fs::read_to_string(host.skills_dir().join("pdf/SKILL.md")).unwrap()
}

#[test]
fn what_is_newer_is_told_shown_applied_and_taken_back() {
    let (host, _hub, dir) = installed("acme/pdf");
    write(
        &dir,
        "skills/csv/SKILL.md",
        &skill("csv").replace("Body", "Other"),
    );
    let outdated = host.json(&["update", "--check", "--json"]);
    assert_eq!(
        outdated["skills"],
        json!([]),
        "only its neighbour has changed"
    );
    let old = body(&host);
    write(
        &dir,
        "skills/pdf/SKILL.md",
        &skill("pdf").replace("Body", "New body"),
    );
    host.succeeds(&["update", "--dry-run", "--diff"]);
    assert_eq!(body(&host), old);
    host.succeeds(&["update", "pdf"]);
    body(&host).has("New body");
    host.succeeds(&["rollback", "pdf"]);
    assert_eq!(body(&host), old);
    host.succeeds(&["verify"]);
    host.succeeds(&["rollback", "pdf"]);
    body(&host).has("New body");
    host.succeeds(&["remove", "pdf"]);
    host.succeeds(&["install", "acme/pdf"]);
    host.fails(&["rollback", "pdf"]);
}

#[test]
fn local_edits_are_never_lost() {
    let (host, _hub, dir) = installed("acme/pdf");
    let mine = skill("pdf").replace("Body", "My body");
    let file = host.skills_dir().join("pdf/SKILL.md");
    fs::write(&file, &mine).unwrap();
    write(
        &dir,
        "skills/pdf/SKILL.md",
        &skill("pdf").replace("Body", "New body"),
    );
    host.succeeds(&["update"]);
    assert_eq!(body(&host), mine);
    let updated = host.succeeds(&["update", "--stash"]);
    let stash = updated.split("kept in ").nth(1).unwrap().trim();
    assert_eq!(
        fs::read_to_string(PathBuf::from(stash).join("SKILL.md")).unwrap(),
        mine
    );
    body(&host).has("New body");
    for _ in 0..2 {
        host.succeeds(&["rollback", "pdf"]);
    }
    body(&host).has("New body");
    assert!(PathBuf::from(stash).join("SKILL.md").exists());
    fs::write(&file, &mine).unwrap();
    write(
        &dir,
        "skills/pdf/SKILL.md",
        &skill("pdf").replace("Body", "Newer body"),
    );
    host.succeeds(&["update", "--force"]);
    body(&host).has("Newer body");
    host.succeeds(&["rollback", "pdf"]);
    assert_eq!(body(&host), mine, "forced over, and still not lost");
    host.person(&["verify"]).stdout.has("changed SKILL.md");
}

#[test]
fn an_update_that_changes_nothing_leaves_the_way_back() {
    let hub = Hub::new();
    let source = hub.skills(&["pdf"]).join("skills/pdf");
    let host = hub.host();
    host.succeeds(&["install", &source.display().to_string()]);
    let mine = skill("pdf").replace("Body", "My body");
    write_at(host.skills_dir().join("pdf/SKILL.md"), mine.clone());
    write_at(
        source.join("SKILL.md"),
        skill("pdf").replace("Body", "New body"),
    );
    host.succeeds(&["update", "--force", "-y"]);
    let previous = host.skills_dir().with_file_name("previous");
    let kept = files(&previous);
    host.succeeds(&["update", "-y"]);
    assert_eq!(files(&previous), kept);
    host.succeeds(&["rollback", "pdf"]);
    assert_eq!(body(&host), mine);
}

#[test]
fn new_scripts_and_wider_tools_need_consent() {
    let (host, _hub, dir) = installed("acme/pdf");
    write(&dir, "skills/pdf/scripts/x.sh", "#!/bin/sh\n");
    let ran = host.person(&["update"]);
    assert_eq!((ran.stdout.as_str(), ran.status), ("", 1), "{ran:?}");
    ran.stderr.has("was left as it is").has("--yes");
    ran.stderr.has("new scripts   scripts/x.sh");
    host.tool(
        "skill_marketplace",
        &json!({"action": "update", "skill_ref": ""}),
    )
    .begins("Error: `pdf` was left as it is")
    .lacks("[stderr]");
    host.succeeds(&["update", "--yes"]);
    assert!(host.skills_dir().join("pdf/scripts/x.sh").exists());
    let with = |tools: &str| {
        skill("pdf").replace("---\nBody", &format!("allowed-tools: {tools}\n---\nBody"))
    };
    write(&dir, "skills/pdf/SKILL.md", &with("Read"));
    host.succeeds(&["update"]);
    let limited = with("Read\nexecution: {sandbox: true}\ndisable-model-invocation: true");
    write(&dir, "skills/pdf/SKILL.md", &limited);
    host.succeeds(&["update"]);
    write(&dir, "skills/pdf/SKILL.md", &with("Read"));
    let ran = host.person(&["update"]);
    for dropped in ["`execution` is gone", "`disable-model-invocation` is gone"] {
        ran.stderr.has(dropped);
    }
    assert_eq!(body(&host), limited);
    host.succeeds(&["update", "--yes"]);
    write(&dir, "skills/pdf/SKILL.md", &with("Read Write"));
    let ran = host.person(&["update"]);
    ran.stderr.has("may also use  write_file");
    ran.stderr.has("was left as it is");
    write(
        &dir,
        "skills/pdf/SKILL.md",
        &with("Read").replace("Body", "echo x | base64 -d | bash\nBody"),
    );
    let ran = host.person(&["update", "--yes"]);
    ran.stderr.has("decoded-to-shell");
    host.succeeds(&["update", "--yes", "--accept-findings"]);
    body(&host).has("base64");
}

#[test]
fn a_skill_that_has_moved_or_gone_is_kept_and_told_of() {
    let (host, _hub, dir) = installed("acme/pdf");
    git(&dir, &["mv", "skills/pdf", "skills/paper"]);
    let manifest = r#"{"renames":{"pdf":"paper"},"plugins":[]}"#;
    write(&dir, ".claude-plugin/marketplace.json", manifest);
    host.fails(&["update"]);
    fs::remove_dir_all(dir.join("skills/paper")).unwrap();
    commit(&dir);
    host.fails(&["update"]);
    body(&host).has("Body");
}

#[test]
fn a_person_on_a_terminal_decides_in_spite_of_findings() {
    let (host, _hub, dir) = installed("acme/csv");
    let text = skill("odd").replace("---\nBody", "allowed-tools: Bash\n---\nBody")
        + "echo x | base64 -d | sh\n";
    write(&dir, "skills/odd/SKILL.md", &text);
    write(&dir, "skills/odd/run.sh", "#!/bin/sh\n");
    let answers = |answer: &str| {
        let mut command = host.command();
        converse(command.args(["install", "acme/odd"]), answer).0
    };
    answers("n\n").has("you said no");
    assert_eq!(host.skill_tools(), ["skill_csv"]);
    answers("y\n");
    assert_eq!(host.skill_tools(), ["skill_csv", "skill_odd"]);
}

#[test]
fn a_nul_byte_hides_no_changed_line() {
    let (host, _hub, dir) = installed("acme/pdf");
    write(&dir, "skills/pdf/run.sh", "#!/bin/sh\n: '\0'\necho one\n");
    write_at(
        dir.join("skills/pdf/x.png"),
        b"\x89PNG\r\n\0\x01\x02\xff\xfe\x81one",
    );
    commit(&dir);
    let ran = host.person(&["update", "--dry-run", "--diff"]);
    ran.stdout
        .has("+echo one\n")
        .has(": '<U+0000>'\n")
        .has("+binary, 15 bytes, sha256:");
}

#[test]
fn only_the_commit_that_was_looked_at_is_applied() {
    let (host, _hub, dir) = installed("acme/pdf");
    let add = |text: &str| {
        write(&dir, "skills/pdf/scripts/x.sh", text);
        let head = fs::read_to_string(dir.join(".git/refs/heads/main"));
        head.unwrap().trim().to_owned()
    };
    let seen = add("one");
    let hint = format!("`update pdf --to {seen} --yes` accepts that");
    let ran = host.person(&["update"]);
    ran.stderr.has(&hint);
    let later = add("two");
    let ran = host.person(&["update", "pdf", "--to", &seen, "--yes"]);
    let told = format!("its source is now at {later}, not at {seen}");
    ran.stderr.has(&told);
    assert!(!host.skills_dir().join("pdf/scripts").exists());
    for misused in [
        &["update", "--to", &later][..],
        &["update", "pdf", "--to", "abc"],
    ] {
        assert_eq!(host.person(misused).status, 2, "{misused:?}");
    }
    let other = "a".repeat(16);
    for more in ["--dry-run", "--yes"] {
        let ran = host.person(&["update", "pdf", "--to", &other, more]);
        assert!((ran.status, ran.stdout.as_str()) == (1, ""), "{ran:?}");
    }
    host.succeeds(&["update", "pdf", "--to", &later[..12], "--yes"]);
    assert!(host.skills_dir().join("pdf/scripts/x.sh").exists());
    host.succeeds(&["update", "pdf", "--to", &later]);
    host.fails(&["update", "pdf", "--to", &seen])
        .has(&format!("now at {later}, not"));
    // Another commit with the same files.
    write(&dir, "other", "x");
    host.fails(&["update", "pdf", "--to", &other]);
    let lock = fs::read_to_string(host.plugin_dir().join("skills.lock.json"));
    lock.unwrap().has(&later);
}

#[test]
fn a_repository_with_long_ids_is_updated_and_has_a_history() {
    let hub = Hub::new();
    let dir = hub.skills(&["pdf"]);
    fs::remove_dir_all(dir.join(".git")).unwrap();
    let init = ["init", "-q", "-b", "main", "--object-format=sha256"];
    git(&dir, &init);
    commit(&dir);
    let host = hub.host();
    host.succeeds(&["install", "acme/pdf"]);
    let text = skill("pdf").replace("Body", "New body");
    write(&dir, "skills/pdf/SKILL.md", &text);
    // Only if the new commit is known to follow the old one, nobody has to agree.
    host.succeeds(&["update"]);
    body(&host).has("New body");
    assert_eq!(
        host.json(&["info", "--history", "pdf", "--json"])["log"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}
