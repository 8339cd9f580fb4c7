//! Skills that are installed for other agents: links where they look, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Host;
use crate::host::Has;

/// A host with the skill `pdf` to install from the project.
fn host() -> Host {
    let host = Host::stdin();
    let dir = host.project().join("source/pdf");
    fs::create_dir_all(&dir).unwrap();
    let text = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n";
    fs::write(dir.join("SKILL.md"), text).unwrap();
    host
}

#[track_caller]
fn installs(host: &Host, words: &[&str]) -> String {
    let ran = host.person(&[&["install", "--yes", "./source/pdf"], words].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.stdout
}

fn installed(host: &Host) -> PathBuf {
    host.skills_dir().join("pdf")
}

fn link(host: &Host, agent: &str) -> PathBuf {
    host.home().join(agent).join("skills/pdf")
}

/// Where the link of an agent leads.
#[track_caller]
fn leads(host: &Host, agent: &str) -> PathBuf {
    fs::read_link(link(host, agent)).unwrap()
}

fn json(host: &Host, words: &[&str]) -> Value {
    serde_json::from_str(&host.person(words).stdout).unwrap()
}

fn doctor(host: &Host, words: &[&str]) -> String {
    host.person(&[&["doctor"], words].concat()).stdout
}

#[test]
fn agents_find_an_installed_skill_by_links() {
    let host = host();
    installs(&host, &["--for", "claude-code,codex,gemini"])
        .has("found by claude-code: ")
        .has("found by codex, gemini: ");
    for agent in [".claude", ".agents"] {
        assert_eq!(fs::read_link(link(&host, agent)).unwrap(), installed(&host));
    }
    // Once more, nothing changes.
    installs(&host, &["--for", "claude-code,codex"]).lacks("found by");
    // chibi has it once, where it is installed.
    let list = json(&host, &["list", "--json"]);
    let skills = list["skills"].as_array().unwrap();
    assert_eq!(skills.len(), 1, "{list}");
    assert_eq!(skills[0]["layer"], "plugin");
    let agents: Vec<_> = skills[0]["agents"].as_array().unwrap().iter().collect();
    let has = |name: &str| agents.iter().any(|one| one["agent"] == name);
    assert!(
        has("claude-code") && has("codex") && has("opencode"),
        "{list}"
    );
    host.person(&["info", "pdf"]).stdout.has("found by");
}

#[test]
fn what_is_not_ours_stays() {
    let host = host();
    let theirs = link(&host, ".claude");
    fs::create_dir_all(&theirs).unwrap();
    fs::create_dir_all(link(&host, ".agents").parent().unwrap()).unwrap();
    symlink("/etc", link(&host, ".agents")).unwrap();
    let told = installs(&host, &["--for", "claude-code,codex"]);
    assert_eq!(told.matches("something else").count(), 2, "{told}");
    assert!(theirs.symlink_metadata().unwrap().is_dir());
    host.person(&["remove", "--yes", "pdf"]);
    assert_eq!(leads(&host, ".agents"), Path::new("/etc"));
    assert!(theirs.exists() && !installed(&host).exists());
}

#[test]
fn removing_a_skill_removes_its_links_and_an_update_keeps_them() {
    let host = host();
    installs(&host, &["--for", "claude-code"]);
    let file = host.project().join("source/pdf/SKILL.md");
    let text = fs::read_to_string(&file).unwrap() + "More.\n";
    fs::write(&file, text).unwrap();
    let ran = host.person(&["update", "--yes", "pdf"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let seen = || fs::read_to_string(link(&host, ".claude").join("SKILL.md"));
    seen().unwrap().has("More.");
    assert_eq!(host.person(&["rollback", "pdf"]).status, 0);
    seen().unwrap().lacks("More.");
    host.person(&["remove", "--dry-run", "pdf"])
        .stdout
        .has("would be no longer found by claude-code");
    host.person(&["remove", "--yes", "pdf"])
        .stdout
        .has("no longer found by claude-code");
    assert!(link(&host, ".claude").symlink_metadata().is_err());
    doctor(&host, &[]).lacks("found `pdf`");
}

#[test]
fn an_agent_gets_all_that_is_installed() {
    let host = host();
    installs(&host, &[]);
    assert!(!host.home().join(".agents").exists());
    host.person(&["install", "--for", "codex"])
        .ends(0)
        .stdout
        .has("found by codex");
    assert_eq!(leads(&host, ".agents"), installed(&host));
}

#[test]
fn connected_agents_find_what_is_installed() {
    let host = host();
    let ran = host.person(&["hosts", "add", "codex", "--yes"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    installs(&host, &[]).has("found by codex").lacks("claude");
    assert_eq!(leads(&host, ".agents"), installed(&host));
}

#[test]
fn a_removed_skill_comes_back_with_its_links() {
    let host = host();
    host.succeeds(&["hosts", "add", "codex", "--yes"]);
    installs(&host, &[]);
    let changed = installed(&host).join("SKILL.md");
    let text = fs::read_to_string(&changed).unwrap() + "Mine.\n";
    fs::write(&changed, text).unwrap();
    assert_eq!(host.person(&["remove", "--yes", "pdf"]).status, 0);
    assert!(link(&host, ".agents").symlink_metadata().is_err());
    doctor(&host, &["--json"]).lacks("link-missing");
    host.person(&["rollback", "pdf"])
        .ends(0)
        .stdout
        .has("found by codex");
    assert_eq!(leads(&host, ".agents"), installed(&host));
}

#[test]
fn doctor_names_and_mends_links() {
    let host = host();
    host.succeeds(&["hosts", "add", "claude-code", "codex", "--yes"]);
    installs(&host, &[]);
    doctor(&host, &[]).lacks("\nlinks\n");
    fs::remove_file(link(&host, ".claude")).unwrap();
    fs::remove_file(link(&host, ".agents")).unwrap();
    fs::create_dir(link(&host, ".agents")).unwrap();
    doctor(&host, &["--json"])
        .has("link-missing")
        .has("link-replaced");
    doctor(&host, &["--fix"]).has("was made");
    assert_eq!(leads(&host, ".claude"), installed(&host));
    assert!(link(&host, ".agents").symlink_metadata().unwrap().is_dir());
    fs::remove_dir_all(installed(&host)).unwrap();
    doctor(&host, &["--json"]).has("link-dangling");
    doctor(&host, &["--fix"]);
    assert!(link(&host, ".claude").symlink_metadata().is_err());
}

#[test]
fn a_projects_links_are_relative_and_none_is_followed() {
    let host = host();
    installs(&host, &["--project", "--for", "claude-code,codex"]);
    let project = host.project();
    for agent in [".claude", ".agents"] {
        let to = fs::read_link(project.join(agent).join("skills/pdf")).unwrap();
        assert_eq!(to, Path::new("../../.chibi/skills/pdf"));
        assert!(project.join(agent).join("skills/pdf/SKILL.md").exists());
    }
    let told = host.person(&["remove", "--project", "--yes", "pdf"]).stdout;
    assert_eq!(told.matches("no longer found by").count(), 2, "{told}");
    assert!(
        project
            .join(".claude/skills/pdf")
            .symlink_metadata()
            .is_err()
    );
    // A repository's own link does not lead our files out of it.
    let outside = host.home().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(project.join(".claude")).unwrap();
    symlink(&outside, project.join(".claude")).unwrap();
    installs(&host, &["--project", "--for", "claude-code"]).has("note: could not link");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn another_name_of_a_skill_is_the_name_of_its_link() {
    let host = host();
    installs(&host, &["--name", "mine", "--for", "codex"]);
    let links = host.home().join(".agents/skills");
    let to = fs::read_link(links.join("mine")).unwrap();
    assert!(
        to.ends_with("skills/mine--") || to.ends_with("skills/mine"),
        "{to:?}"
    );
    host.person(&["remove", "--yes", to.file_name().unwrap().to_str().unwrap()]);
    assert_eq!(fs::read_dir(links).unwrap().count(), 0);
}

#[test]
fn a_new_connection_has_its_agent_find_what_is_installed() {
    let host = host();
    installs(&host, &[]);
    let common = link(&host, ".agents");
    let hosts = |words: &[&str]| host.succeeds(&[&["hosts"], words].concat());
    let dry = hosts(&["add", "gemini", "--dry-run"]);
    let found = format!("found by gemini: {}\n", common.display());
    dry.has(&format!("would be {found}"));
    assert!(!host.home().join(".agents").exists());
    hosts(&["add", "gemini", "--yes"]).has(&found);
    assert_eq!(fs::read_link(&common).unwrap(), installed(&host));
    hosts(&["add", "gemini", "--yes"]).has("connected already");
    // It stays while another connected agent looks there, and goes with the last.
    hosts(&["add", "codex", "--yes"]).lacks("found by");
    hosts(&["remove", "gemini", "--yes"]).lacks("found by");
    assert!(common.exists());
    let dry = hosts(&["remove", "codex", "--dry-run"]);
    let lost = format!(
        "no longer found by codex, copilot, gemini, qwen-code, opencode, cursor: {}\n",
        common.display()
    );
    dry.has(&format!("would be {lost}"));
    hosts(&["remove", "codex", "--yes"])
        .has(&lost)
        .lacks("still finds");
    assert!(common.symlink_metadata().is_err() && installed(&host).exists());
    doctor(&host, &[]).lacks("found `pdf`");
}

#[test]
fn a_projects_skill_is_linked_in_the_project() {
    let host = host();
    let hosts = |words: &[&str]| host.succeeds(&[&["hosts"], words].concat());
    installs(&host, &["--project"]);
    let told = hosts(&["add", "codex", "--scope=project", "--yes"]);
    let next = "install --layer project --for codex";
    told.has(next);
    let words: Vec<&str> = next.split(' ').collect();
    host.succeeds(&words).has("found by codex");
    hosts(&[
        "add",
        "codex",
        "--scope=project",
        "--mode=restrict",
        "--yes",
    ])
    .lacks(next);
}
