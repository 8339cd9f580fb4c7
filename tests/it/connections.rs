//! What is said of connections that broke, whose files they write, and who is asked.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::Host;
use crate::host::{Has, write_at};
use crate::terminal::converse;

const EXE: &str = env!("CARGO_BIN_EXE_agent-skills");

fn row(host: &Host, name: &str) -> Value {
    let rows: Vec<Value> = serde_json::from_str(&host.succeeds(&["hosts", "--json"])).unwrap();
    let mut rows = rows.into_iter();
    rows.find(|row| row["host"] == name).unwrap()
}

/// What `doctor` finds of this code.
fn checks(host: &Host, code: &str) -> (Vec<Value>, i32) {
    let ran = host.person(&["doctor", "--json"]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let all = answer["checks"].as_array().unwrap().iter();
    let found = all.filter(|check| check["code"] == code);
    (found.cloned().collect(), ran.status)
}

#[test]
fn a_connection_that_cannot_be_read_is_named() {
    for (agent, file) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let host = Host::stdin();
        host.succeeds(&["hosts", "add", agent, "--yes"]);
        let file = host.home().join(file);
        // With our entry still in it, and without: our record tells of it.
        let whole = fs::read_to_string(&file).unwrap();
        for text in [format!("{{{whole}"), "{\"hooks\": {".to_owned()] {
            fs::write(&file, text).unwrap();
            let next =
                format!("move it away and run `agent-skills hosts add {agent} --scope user`");
            let path = file.display().to_string();
            let missing = row(&host, agent)["missing"].to_string();
            let (found, status) = checks(&host, "agent-entry");
            let shown = [host.succeeds(&["hosts"]), missing, found[0].to_string()];
            for said in shown {
                let parts = [&path, "is not JSON", &next];
                assert!(parts.iter().all(|part| said.contains(*part)), "{said}");
            }
            assert_eq!((found.len(), status), (1, 1));
        }
        fs::write(&file, whole).unwrap();
        assert!(checks(&host, "agent-entry").0.is_empty());
    }
}

/// An agent, a file that switches its hooks off, the file's text, and what is said of it.
const SWITCHED_OFF: &str = r#"
    claude-code | project/.claude/settings.json | {"disableAllHooks": true} | disableAllHooks
    claude-code | home/.claude/settings.local.json | {"disableAllHooks": true} | set it to false
    copilot | project/.github/copilot/settings.json | {"disableAllHooks": true} | disableAllHooks
    qwen-code | project/.qwen/settings.json | {"disableAllHooks": true} | disableAllHooks
    codex | home/.codex/config.toml | features.hooks = false | features.hooks
    codex | home/.codex/config.toml | features.codex_hooks = false | features.codex_hooks
    codex | home/.codex/config.toml | [features | cannot be read
    gemini | project/.gemini/settings.json | {"hooksConfig": {"enabled": false}} | set it to true
    gemini | project/.gemini/settings.json | {"hooksConfig": {"disabled": ["agent-skills"]}} | take `agent-skills` out
"#;

#[test]
fn what_switches_hooks_off_is_named() {
    for line in SWITCHED_OFF.trim().lines() {
        let cells: Vec<&str> = line.trim().split(" | ").collect();
        let [agent, file, text, said] = cells[..] else {
            panic!("{line}")
        };
        let host = Host::stdin();
        host.succeeds(&["hosts", "add", agent, "--yes"]);
        assert!(checks(&host, "agent-entry").0.is_empty(), "{agent}");
        let file = match file.split_once('/') {
            Some(("home", file)) => host.home().join(file),
            Some((_, file)) => host.project().join(file),
            None => panic!("{line}"),
        };
        write_at(file, text);
        let missing = row(&host, agent)["missing"].to_string();
        assert!(missing.contains(said), "{line}: {missing}");
        let (found, status) = checks(&host, "agent-entry");
        assert_eq!((found.len(), status), (1, 1), "{line}: {found:?}");
    }
}

#[test]
fn entries_that_somebody_changed_are_named() {
    for (agent, file, from, to) in [
        (
            "claude-code",
            ".claude/settings.json",
            "\"matcher\": \"*\"",
            "\"matcher\": \"Read\"",
        ),
        (
            "opencode",
            ".config/opencode/plugins/agent-skills.js",
            "throw ",
            "// throw ",
        ),
    ] {
        let host = Host::stdin();
        host.succeeds(&["hosts", "add", agent, "--yes"]);
        let file = host.home().join(file);
        let whole = fs::read_to_string(&file).unwrap();
        whole.has(from);
        fs::write(&file, whole.replace(from, to)).unwrap();
        let missing = row(&host, agent)["missing"].to_string();
        missing.has("not as they were written");
        host.succeeds(&["hosts", "add", agent, "--yes"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    }
}

#[test]
fn connected_commands_are_tried_side_by_side() {
    let host = Host::stdin();
    let bin = host.home().join("bin");
    fs::create_dir(&bin).unwrap();
    let agents = ["claude-code", "gemini", "qwen-code"];
    for agent in agents {
        host.succeeds(&["hosts", "add", agent, "--yes"]);
    }
    // A shell under our name, which reads `hook` as its script: none ends before all have begun.
    symlink("/bin/sh", bin.join("agent-skills")).unwrap();
    let wait = "touch $1; until [ -e claude-code ] && [ -e gemini ] && [ -e qwen-code ]; do \
                sleep 0.02; done; echo {}";
    fs::write(host.project().join("hook"), wait).unwrap();
    for file in [".claude", ".gemini", ".qwen"] {
        let file = host.home().join(file).join("settings.json");
        let text = fs::read_to_string(&file).unwrap();
        let ours = bin.join("agent-skills");
        fs::write(&file, text.replace(EXE, ours.to_str().unwrap())).unwrap();
    }
    let (found, _) = checks(&host, "agent-command");
    assert_eq!(found.len(), agents.len(), "{found:?}");
    assert!(found.iter().all(|it| it["outcome"] == "ok"), "{found:?}");
}

#[test]
fn where_only_others_are_connected_their_words_are_used() {
    let host = Host::stdin().var("PATH", "/usr/bin:/bin");
    let skill = host.home().join("of/notes");
    let text = "---\nname: notes\ndescription: d\nallowed-tools: Read Bash(git log:*)\n---\nb\n";
    write_at(skill.join("SKILL.md"), text);
    host.succeeds(&["hosts", "add", "claude-code", "--yes"]);
    let from = skill.display().to_string();
    let shown = host.succeeds(&["show", &from]);
    shown.has("Read, Bash(git log:*)");
    let installed = host.succeeds(&["install", &from]);
    installed.has("next: ask your agent for what it does\n");
    let info = host.succeeds(&["info", "notes"]);
    info.has("Bash(git log:*)");
    let all = [shown, installed, info];
    let chibi = |said: &&String| said.contains("chibi \"") || said.contains("shell_exec");
    assert_eq!(all.iter().find(chibi), None);
    let (found, status) = checks(&host, "program");
    found[0]["message"].to_string().has("for other agents");
    assert_eq!(status, 0);
    // What chibi itself asks for has its names.
    host.hook("on_start", &serde_json::json!({}));
    let info = host.tool(
        "agent-skills",
        &serde_json::json!({"args": ["info", "notes"]}),
    );
    info.has("shell_exec(git log:*)");
    symlink(EXE, host.plugin_dir().join("agent-skills")).unwrap();
    host.succeeds(&["show", &from]).has("shell_exec(git log:*)");
}

#[test]
fn a_script_disconnects_by_a_yes() {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    host.succeeds(&["hosts", "add", "codex", "--yes"]);
    host.activates("careful");
    let ran = host.unattended(&["hosts", "remove", "codex"]);
    ran.stderr.has("accept");
    let ran = host.unattended(&["hosts", "remove", "codex", "--yes"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!host.home().join(".codex").exists());
}

#[test]
fn hosts_add_shows_what_it_writes_and_asks() {
    let host = Host::stdin();
    let file = host.home().join(".gemini/settings.json");
    for (answer, status) in [("n\n", 1), ("\n", 1), ("y\n", 0)] {
        let words = ["hosts", "add", "gemini"];
        let (shown, code) = converse(host.command().args(words), answer);
        assert_eq!((code, file.exists()), (status, status == 0), "{shown}");
        let diff = format!("+++ {}", file.display());
        let parts = [&diff, "hook gemini", "Connect gemini for you? [y/N]"];
        assert!(parts.iter().all(|part| shown.contains(*part)), "{shown}");
        let end = if status == 0 {
            "connected gemini"
        } else {
            "you said no"
        };
        shown.has(end);
    }
    let (shown, code) = converse(host.command().args(["hosts", "remove", "gemini"]), "y\n");
    shown.has("Disconnect gemini for you?");
    assert_eq!(code, 0);
    assert!(!file.exists());
}
