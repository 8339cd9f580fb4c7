//! `hosts`, `hosts add` and `hosts remove`: every agent, and what its user keeps in its files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Host;
use crate::host::{Has, write_at};

/// Every agent with its files for a user and a project, below their home and its root.
const AGENTS: [(&str, &str, &str); 7] = [
    (
        "claude-code",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ),
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    (
        "copilot",
        ".copilot/hooks/agent-skills.json",
        ".github/copilot/settings.local.json",
    ),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("qwen-code", ".qwen/settings.json", ".qwen/settings.json"),
    (
        "opencode",
        ".config/opencode/plugins/agent-skills.js",
        ".opencode/plugins/agent-skills.js",
    ),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json"),
];

/// A file of somebody who writes comments, with hooks of theirs.
const THEIRS: &str = "{\n    // mine\n    \"theme\": \"dark\", /* kept */\n    \"hooks\": {\n        \
                      \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}],\n    },\n}\n";

/// Each path below a directory, without what is ours, with the content of files.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".chibi") {
                continue;
            }
            let content = if path.is_dir() {
                left.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(path, content);
        }
    }
    found
}

fn row(host: &Host, name: &str) -> Value {
    let ran = host.person(&["hosts", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let mut rows = rows.into_iter();
    rows.find(|row| row["host"] == name).unwrap()
}

fn put(path: &Path, text: &str) {
    write_at(path, text);
}

#[test]
fn each_agent_is_connected_once_and_leaves_no_trace() {
    let host = Host::stdin().var("PATH", "/nowhere");
    for (agent, user, project) in AGENTS {
        for (scope, file) in [
            ("user", host.home().join(user)),
            ("project", host.project().join(project)),
        ] {
            let before = tree(host.home());
            let add = ["hosts", "add", agent, "--yes", "--scope", scope];
            host.succeeds(&add).has(file.to_str().unwrap());
            let text = fs::read_to_string(&file).unwrap();
            text.has("agent-skills");
            host.succeeds(&add).has("already");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            let shown = row(&host, agent);
            assert_eq!(shown["connected"], true, "{shown}");
            assert_eq!(shown["found"], false, "{shown}");
            assert_eq!(shown["scopes"][0]["scope"], scope, "{shown}");
            let said = host.succeeds(&["hosts", "remove", agent, "--yes"]);
            said.has("as it was before");
            assert_eq!(tree(host.home()), before, "{agent} {scope}");
            assert_eq!(row(&host, agent)["connected"], false);
        }
    }
    let records = fs::read_dir(host.plugin_dir().join("hosts")).unwrap();
    let names = records.map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["lock"]);
}

#[test]
fn a_file_of_its_user_is_the_same_after_the_undo() {
    let host = Host::stdin();
    for (agent, user, project) in AGENTS
        .into_iter()
        .filter(|(agent, ..)| *agent != "opencode")
    {
        for (scope, file) in [
            ("user", host.home().join(user)),
            ("project", host.project().join(project)),
        ] {
            put(&file, THEIRS);
            for mode in ["restrict", "ask"] {
                let add = [
                    "hosts", "add", agent, "--yes", "--scope", scope, "--mode", mode,
                ];
                host.succeeds(&add);
                let text = fs::read_to_string(&file).unwrap();
                assert!(text.contains(mode) && text.contains("/* kept */"), "{text}");
                let entries = text.matches("hook claude-code").count();
                assert!(entries == 0 || !text.contains("restrict") || mode != "ask");
            }
            host.succeeds(&["hosts", "remove", agent, "--yes", "--scope", scope]);
            assert_eq!(
                fs::read_to_string(&file).unwrap(),
                THEIRS,
                "{agent} {scope}"
            );
        }
    }
}

#[test]
fn after_other_changes_only_our_entries_go() {
    let host = Host::stdin();
    let file = host.home().join(".claude/settings.json");
    put(&file, THEIRS);
    host.succeeds(&["hosts", "add", "claude-code", "--yes"]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("dark", "light")).unwrap();
    let said = host.succeeds(&["hosts", "remove", "claude-code", "--yes"]);
    said.has("only what");
    let rest = fs::read_to_string(&file).unwrap();
    assert_eq!(rest, THEIRS.replace("dark", "light"));
    // A file that was only ours goes as a whole, and one that somebody added to stays.
    fs::remove_file(&file).unwrap();
    for (more, is_left) in [("\n", false), ("// note\n", true)] {
        host.succeeds(&["hosts", "add", "claude-code", "--yes"]);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text + more).unwrap();
        host.succeeds(&["hosts", "remove", "claude-code", "--yes"]);
        assert_eq!(file.exists(), is_left, "{more:?}");
    }
    fs::read_to_string(&file).unwrap().lacks("hook");
}

#[test]
fn a_linked_file_stays_a_link_with_its_mode() {
    let host = Host::stdin();
    let real = host.home().join("dotfiles/claude.json");
    put(&real, THEIRS);
    fs::set_permissions(&real, fs::Permissions::from_mode(0o660)).unwrap();
    fs::create_dir(host.home().join(".claude")).unwrap();
    let link = host.home().join(".claude/settings.json");
    symlink("../dotfiles/claude.json", &link).unwrap();
    host.succeeds(&["hosts", "add", "claude-code", "--yes"]);
    assert!(link.is_symlink());
    fs::read_to_string(&real).unwrap().has("agent-skills");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&real), 0o660);
    host.succeeds(&["hosts", "remove", "claude-code", "--yes"]);
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), THEIRS);
    assert_eq!(mode(&real), 0o660);
}

#[test]
fn no_link_of_a_repository_is_followed() {
    let host = Host::stdin();
    let outside = host.home().join("outside");
    fs::create_dir(&outside).unwrap();
    put(&outside.join("hooks.json"), "{}\n");
    let at = |path: &str| host.project().join(path);
    symlink(&outside, at(".codex")).unwrap();
    fs::create_dir(at(".cursor")).unwrap();
    symlink(outside.join("hooks.json"), at(".cursor/hooks.json")).unwrap();
    for agent in ["codex", "cursor"] {
        let error = host.fails(&["hosts", "add", agent, "--scope", "project", "--yes"]);
        error.has("symbolic link");
    }
    assert_eq!(
        fs::read_to_string(outside.join("hooks.json")).unwrap(),
        "{}\n"
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_read_stays_as_it_is() {
    let host = Host::stdin();
    let file = host.home().join(".gemini/settings.json");
    for (text, why) in [
        ("{\"hooks\": ", "not JSON"),
        ("[]", "not a JSON object"),
        ("{\"hooks\": {\"BeforeTool\": 1}}", "is not a list"),
        ("{\"hooks\": {}, \"hooks\": {}}", "twice"),
    ] {
        put(&file, text);
        host.fails(&["hosts", "add", "gemini", "--yes"])
            .has(why)
            .has("left as it is");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    let missing = row(&host, "gemini")["missing"].to_string();
    assert_eq!(missing, "[]");
    let plugin = host.home().join(".config/opencode/plugins/agent-skills.js");
    put(&plugin, "export const Mine = async () => ({});\n");
    let error = host.fails(&["hosts", "add", "opencode", "--yes"]);
    error.has("another plugin");
    let said = host.succeeds(&["hosts", "remove", "opencode", "--yes"]);
    assert!(said.contains("not connected") && plugin.exists(), "{said}");
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let host = Host::stdin();
    let file = host.home().join(".claude/settings.json");
    put(&file, THEIRS);
    let before = tree(host.home());
    host.succeeds(&["hosts", "add", "claude-code", "copilot", "--dry-run"])
        .has("+++ ")
        .has("--- /dev/null");
    assert_eq!(tree(host.home()), before);
    host.succeeds(&["hosts", "add", "claude-code", "--yes"]);
    let before = tree(host.home());
    host.succeeds(&["hosts", "remove", "claude-code", "--dry-run"])
        .has("would disconnect")
        .has("\n-");
    assert_eq!(tree(host.home()), before);
}

#[test]
fn a_script_may_restrict_and_only_a_person_loosens() {
    let host = Host::stdin();
    host.unattended(&["hosts", "add", "codex"])
        .ends(1)
        .stderr
        .has("accept");
    let ran = host.unattended(&["hosts", "add", "codex", "--yes"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let loosening = [
        &["hosts", "add", "codex", "--mode", "ask", "--yes"][..],
        &["hosts", "add", "codex", "--mode=grant", "--yes"],
    ];
    for words in loosening {
        let ran = host.unattended(words);
        assert_eq!(ran.status, 1, "{ran:?}");
        ran.stderr.has("only a person");
    }
    // A model does neither.
    let all = loosening.into_iter().chain([
        &["hosts", "add", "gemini", "--yes"][..],
        &["hosts", "remove", "codex", "--yes"],
    ]);
    for words in all {
        host.blocks("agent-skills", &serde_json::json!({"args": words}));
    }
    assert!(!host.home().join(".gemini").exists());
    host.config("unattended = true\n");
    let ran = host.unattended(loosening[0]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn what_an_agent_lacks_is_said() {
    let host = Host::stdin();
    let said = host.succeeds(&["hosts", "add", "codex", "--mode", "grant", "--yes"]);
    said.has("accepts no grant");
    said.has("/hooks").has("write_stdin");
    let missing = row(&host, "codex")["missing"].to_string();
    missing.has("not yet seen: trust it in codex with /hooks");
    fs::write(host.plugin_dir().join("hosts/codex.seen"), "").unwrap();
    let shown = row(&host, "codex");
    shown["missing"].to_string().lacks("not yet seen");
    assert!(shown["last_seen"].is_string(), "{shown}");
    for (agent, said_of_others) in [
        ("gemini", "blocks every call of theirs"),
        ("copilot", "only you use this file"),
    ] {
        let add = ["hosts", "add", agent, "--scope", "project", "--dry-run"];
        host.succeeds(&add).has(said_of_others);
    }
    let error = host.fails(&["hosts", "add", "opencode", "--scope", "managed", "--yes"]);
    error.has("--scope user");
}

#[test]
fn an_entry_whose_program_is_gone_is_no_connection() {
    let host = Host::stdin();
    let file = host.home().join(".claude/settings.json");
    host.succeeds(&["hosts", "add", "claude-code", "--yes"]);
    let program = env!("CARGO_BIN_EXE_agent-skills");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(program, "/gone/agent-skills")).unwrap();
    let shown = row(&host, "claude-code");
    assert_eq!(shown["connected"], false, "{shown}");
    shown["missing"].to_string().has("/gone/");
    let doctor = host.person(&["doctor"]).stdout;
    doctor.has("there is no `/gone/agent-skills`");
    // Once: that it does not answer follows from that.
    doctor.lacks("answer");
    // The entry is put right in its place, and the undo still knows that there was no file.
    host.succeeds(&["hosts", "add", "claude-code", "--yes"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    host.succeeds(&["hosts", "remove", "claude-code", "--yes"]);
    assert!(!file.exists());
}
