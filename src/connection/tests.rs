//! Connecting for every user of a machine, below a directory that stands for `/`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Connections, Invocation};
use crate::host::agent::{Agent, ConnectionScope, HookMode};
use crate::sys::Env;

fn ours() -> Invocation {
    Invocation {
        program: "/usr/bin/env".replace("env", "agent-skills"),
        mode: Some(HookMode::Restrict),
    }
}

fn connector(root: &Path) -> Connections {
    let env = Env::new([("HOME", root.join("home"))], root);
    Connections::below(env, root)
}

#[test]
fn managed_files_are_readable_and_leave_no_trace() {
    for agent in Agent::ALL {
        let root = tempfile::tempdir().unwrap();
        let connector = connector(root.path());
        let Some(file) = agent.table().managed else {
            assert!(
                connector
                    .add(agent, ConnectionScope::Managed, &ours())
                    .is_err()
            );
            continue;
        };
        let file = root.path().join(file.trim_start_matches('/'));
        let change = connector
            .add(agent, ConnectionScope::Managed, &ours())
            .unwrap();
        connector.apply(&change).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o644, "{agent}");
        assert_eq!(mode(file.parent().unwrap()), 0o755, "{agent}");
        let again = connector
            .add(agent, ConnectionScope::Managed, &ours())
            .unwrap();
        assert!(again.is_nothing(), "{agent}");
        let all = connector.found(agent);
        assert_eq!(all.len(), 1, "{agent}");
        assert_eq!(all[0].mode, Some(HookMode::Restrict));
        let undo = connector
            .remove(agent, ConnectionScope::Managed)
            .unwrap()
            .unwrap();
        assert!(undo.is_exact, "{agent}");
        connector.apply(&undo).unwrap();
        assert!(!root.path().join("etc").exists(), "{agent}");
        assert!(
            connector
                .remove(agent, ConnectionScope::Managed)
                .unwrap()
                .is_none()
        );
    }
}

#[test]
fn an_administrators_own_requirements_stay() {
    let root = tempfile::tempdir().unwrap();
    let connector = connector(root.path());
    let file = root.path().join("etc/codex/requirements.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = "# ours\nallowed_approval_policies = [\"on-request\"]\n";
    fs::write(&file, before).unwrap();
    let change = connector
        .add(Agent::Codex, ConnectionScope::Managed, &ours())
        .unwrap();
    connector.apply(&change).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(before), "{text}");
    assert!(text.contains("managed_dir = \"/usr/bin\""), "{text}");
    // With a later change of theirs, only our entries go.
    fs::write(&file, text + "\n[features]\nhooks = true\n").unwrap();
    let undo = connector
        .remove(Agent::Codex, ConnectionScope::Managed)
        .unwrap()
        .unwrap();
    assert!(!undo.is_exact);
    connector.apply(&undo).unwrap();
    let rest = fs::read_to_string(&file).unwrap();
    assert_eq!(rest, format!("{before}\n[features]\nhooks = true\n"));
}

#[test]
fn what_was_changed_meanwhile_is_not_overwritten() {
    let root = tempfile::tempdir().unwrap();
    let connector = connector(root.path());
    let file = root.path().join("home/.claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{}\n").unwrap();
    let change = connector
        .add(Agent::ClaudeCode, ConnectionScope::User, &ours())
        .unwrap();
    fs::write(&file, "{\"a\": 1}\n").unwrap();
    let error = connector.apply(&change).unwrap_err().to_string();
    assert!(error.contains("changed meanwhile"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"a\": 1}\n");
}

#[test]
fn a_connection_without_its_record_is_undone_by_its_entries() {
    let root = tempfile::tempdir().unwrap();
    let connector = connector(root.path());
    let file = root.path().join("home/.codex/hooks.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\"description\": \"mine\"}\n").unwrap();
    let change = connector
        .add(Agent::Codex, ConnectionScope::User, &ours())
        .unwrap();
    connector.apply(&change).unwrap();
    fs::remove_dir_all(root.path().join("data")).unwrap();
    let undo = connector
        .remove(Agent::Codex, ConnectionScope::User)
        .unwrap()
        .unwrap();
    connector.apply(&undo).unwrap();
    let rest = fs::read_to_string(&file).unwrap();
    assert!(
        rest.contains("\"description\": \"mine\"") && !rest.contains("hook"),
        "{rest}"
    );
}

#[test]
fn variables_move_an_agents_directory() {
    let root = tempfile::tempdir().unwrap();
    let named = root.path().join("named");
    for (agent, variable, file) in [
        (Agent::ClaudeCode, "CLAUDE_CONFIG_DIR", "settings.json"),
        (Agent::Codex, "CODEX_HOME", "hooks.json"),
        (Agent::Copilot, "COPILOT_HOME", "hooks/agent-skills.json"),
        (Agent::Gemini, "GEMINI_CLI_HOME", ".gemini/settings.json"),
        (Agent::QwenCode, "QWEN_HOME", "settings.json"),
        (
            Agent::OpenCode,
            "XDG_CONFIG_HOME",
            "opencode/plugins/agent-skills.js",
        ),
    ] {
        let env = Env::new(
            [("HOME", Path::new("/h")), (variable, &*named)],
            root.path(),
        );
        let connector = Connections::below(env, root.path());
        let change = connector
            .add(agent, ConnectionScope::User, &ours())
            .unwrap();
        assert_eq!(change.path(), named.join(file), "{agent}");
    }
}
