//! `install.sh --for`: an installation without chibi, one that is shared with chibi, and what
//! uninstalling leaves.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::Host;
use crate::host::{Has, Ran, finish};
use crate::installing::script;

const EXE: &str = env!("CARGO_BIN_EXE_agent-skills");

/// A home without chibi.
fn home() -> Host {
    let host = Host::stdin();
    fs::remove_dir_all(host.home().join(".chibi")).unwrap();
    host
}

/// The program as a shell finds it there.
fn program(host: &Host) -> PathBuf {
    host.home().join(".local/bin/agent-skills")
}

fn data(host: &Host) -> PathBuf {
    host.home().join(".local/share/agent-skills")
}

/// A command of that program, without variables of ours.
fn runs(host: &Host, words: &[&str]) -> Ran {
    let mut command = host.surround(Command::new(program(host)));
    command.env_remove("AGENT_SKILLS_HOME").args(words);
    finish(&mut command, b"")
}

#[test]
fn without_chibi_there_are_a_program_and_a_data_directory() {
    let host = home();
    let ran = script(&host, &["--for", "claude-code", "--program", EXE]);
    ran.stdout.has("with its data in");
    assert!(program(&host).symlink_metadata().unwrap().is_file());
    assert!(data(&host).join("skills").is_dir() && !host.home().join(".chibi").exists());
    // Once more: an upgrade.
    let ran = script(&host, &["--for=codex", "--program", EXE]);
    ran.stdout.has("with its data in");
    runs(&host, &["config", "path"])
        .stdout
        .has("/.local/share/agent-skills/config.toml");
    let doctor = runs(&host, &["doctor", "--json"]).stdout;
    doctor.has("for other agents than chibi");
    doctor.lacks("plugin-");
}

#[test]
fn a_chibi_that_has_it_serves_other_agents_too() {
    let host = Host::stdin();
    let plugin = host.plugin_dir().join("agent-skills");
    assert_eq!(script(&host, &["--program", EXE]).status, 0);
    let ran = script(&host, &["--for", "claude-code"]);
    ran.stdout.has("it serves other agents too");
    assert_eq!(fs::read_link(program(&host)).unwrap(), plugin);
    assert!(!data(&host).exists());
    let path = runs(&host, &["config", "path"]).stdout;
    path.has("/plugins/agent-skills/config.toml");
}

#[test]
fn agents_are_connected_and_disconnected() {
    let host = home();
    let settings = host.home().join(".claude/settings.json");
    let ran = script(&host, &["--for", "claude-code,codex", "--program", EXE]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let entries = fs::read_to_string(&settings).unwrap();
    entries.has(program(&host).to_str().unwrap());
    // A script disconnects all or none, and none below an agent.
    let hooks = host.home().join(".codex/hooks.json");
    let whole = fs::read_to_string(&hooks).unwrap();
    fs::write(&hooks, "{").unwrap();
    let ran = script(&host, &["--uninstall"]);
    ran.stderr
        .has("not JSON")
        .has("still connected: claude-code codex");
    assert!(ran.status == 1 && settings.exists() && program(&host).exists());
    fs::write(&hooks, whole).unwrap();
    if cfg!(target_os = "linux") {
        let claude = host.home().join("claude");
        fs::copy("/bin/sh", &claude).unwrap();
        let mut below = host.surround(Command::new(claude));
        let install = concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh");
        let ran = finish(below.args([install, "--uninstall"]), b"");
        ran.stderr.has("below `claude`");
        assert!(ran.status == 1 && settings.exists() && hooks.exists());
    }
    let ran = script(&host, &["--uninstall"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!settings.exists() && !hooks.exists() && !program(&host).exists());
    assert!(!data(&host).join("hosts").exists());
}

#[test]
fn two_installations_are_named_by_doctor() {
    let host = home();
    script(&host, &["--for", "claude-code", "--program", EXE]);
    let ran = script(&host, &["--program", EXE]);
    ran.stdout.has("is another installation");
    let doctor = runs(&host, &["doctor", "--json"]).stdout;
    doctor.has("plugin-elsewhere");
}

#[test]
fn a_program_of_somebody_else_stays() {
    let host = home();
    fs::create_dir_all(program(&host).parent().unwrap()).unwrap();
    for is_link in [false, true] {
        if is_link {
            fs::remove_file(program(&host)).unwrap();
            symlink("/usr/bin/true", program(&host)).unwrap();
        } else {
            fs::write(program(&host), "theirs").unwrap();
        }
        script(&host, &["--for", "codex", "--program", EXE])
            .ends(1)
            .stderr
            .has("did not make it");
        assert!(!data(&host).exists());
    }
    let elsewhere = host.home().join("bin");
    let words = [
        "--for",
        "codex",
        "--program",
        EXE,
        "--link",
        elsewhere.to_str().unwrap(),
    ];
    script(&host, &words);
    assert!(elsewhere.join("agent-skills").is_file());
    script(&host, &["--for", "codex", "--dir", "x"])
        .ends(1)
        .stderr
        .has("leave out --dir");
}

#[test]
fn uninstalling_leaves_the_users_skills_in_the_data_directory() {
    let host = home();
    script(&host, &["--for", "claude-code", "--program", EXE]);
    let skill = data(&host).join("skills/mine");
    fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: mine\ndescription: d\n---\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    fs::write(data(&host).join("config.toml"), "unattended = true\n").unwrap();
    let ran = script(&host, &["--uninstall"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!program(&host).exists() && skill.join("SKILL.md").exists());
}

#[test]
fn no_skill_moves_the_installation_by_making_the_directory() {
    let host = Host::stdin().skill("s", "allowed-tools: Bash(mkdir:*) Write", "");
    host.activates("s");
    let make = json!({"command": "mkdir -p ~/.local/share/agent-skills"});
    host.blocks("shell_exec", &make);
    let above = json!({"command": "mkdir -p ~/.local/share/agent-skills/skills"});
    host.blocks("shell_exec", &above);
    let file = data(&host).join("config.toml");
    host.blocks("write_file", &json!({"path": file, "content": ""}));
}
