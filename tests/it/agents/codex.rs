//! Codex CLI.

use std::os::unix::fs::PermissionsExt;

use agent_skills::host::Agent;
use serde_json::json;

use super::{Form, World};
use crate::host::Has;

pub static FORM: Form = Form {
    agent: Agent::Codex,
    release: "codex-0.169.0",
    shell: ("pre-tool-use-bash", "Bash"),
    skills: ".agents/skills",
    skill: "",
    write: ("apply_patch", "patch"),
    keys: ["session_id", "turn_id", "cwd"],
};

#[test]
fn a_dollar_name_in_the_prompt_activates() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let mut prompt = world.payload("user-prompt-submit");
    prompt["prompt"] = json!("use $pdf for $5");
    assert!(world.hook(&prompt).is_silent());
    assert!(world.run("touch x").is_denied());
}

#[test]
fn a_run_of_a_script_activates() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    world.file("home/.agents/skills/pdf/scripts/run.sh", "echo hi\n");
    let script = world.home().join(".agents/skills/pdf/scripts/run.sh");
    assert!(world.run(&format!("bash {}", script.display())).is_silent());
    assert!(world.run("touch x").is_denied());
    // The skill's own script goes on working, as it is.
    world
        .run(&format!("bash {} a b", script.display()))
        .passes("");
    world
        .run(&format!("bash {} > x", script.display()))
        .stops("");
    world
        .run(&format!("bash {}; touch x", script.display()))
        .stops("");
}

#[test]
fn a_read_elsewhere_or_behind_a_link_activates() {
    for command in [
        "cat ~/.agents/skills/pdf/SKILL.md",
        "head -50 \"$HOME/.agents/skills/pdf/SKILL.md\"",
        "cd ~/.agents/skills && cat pdf/SKILL.md",
        "cd ~/.agents; cd -P skills/pdf; sed -n 1,9p SKILL.md",
        "cat ~/.chibi/plugins/agent-skills/skills/csv/SKILL.md",
        "cd ~/.chibi/plugins && cat agent-skills/skills/csv/SKILL.md",
    ] {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
        // As `install` has an agent find a skill.
        let text = "---\nname: csv\ndescription: d\nallowed-tools: Read\n---\n";
        world.file("home/.chibi/plugins/agent-skills/skills/csv/SKILL.md", text);
        let link = world.home().join(".agents/skills/csv");
        std::os::unix::fs::symlink(world.data().join("skills/csv"), link).unwrap();
        assert!(world.run("touch x").is_silent());
        assert!(world.run(command).is_silent(), "{command}");
        assert!(world.run("touch x").is_denied(), "{command}");
    }
}

#[test]
fn paths_are_read_from_the_patch() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Write(docs/**), Bash(apply_patch:*)");
    assert!(world.write(&world.project().join("docs/x")).is_silent());
    assert!(world.write(&world.project().join("x")).is_denied());
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch\nEOF";
    assert!(world.run(patch).is_denied());
}

/// As Codex records a call before it calls the hook.
pub fn recorded(world: &World, command: &str, arguments: &str) -> super::Answer {
    let call = json!({"payload": {
        "type": "function_call", "call_id": "call_9", "name": "exec_command",
        "arguments": arguments,
    }});
    world.file("home/.codex/sessions/r.jsonl", &format!("{{}}\n{call}\n"));
    let mut payload = world.calling("Bash", json!({"command": command}));
    payload["transcript_path"] = json!(world.home().join(".codex/sessions/r.jsonl"));
    payload["tool_use_id"] = json!("call_9");
    world.hook(&payload)
}

#[test]
fn no_terminal_is_given_that_could_be_typed_into() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Bash");
    for command in ["git log", "python3 x.py", "cat"] {
        let given = recorded(&world, command, r#"{"cmd":"x","tty":true}"#);
        assert!(given.is_denied(), "{command}");
        given.decision().1.has("without `tty`");
        for arguments in [r#"{"cmd":"x"}"#, r#"{"cmd":"x","tty":false}"#] {
            let answer = recorded(&world, command, arguments);
            assert!(answer.is_silent(), "{command}: {answer:?}");
        }
    }
    // Without input, not even these take commands.
    assert!(recorded(&world, "python3", r#"{"cmd":"x"}"#).is_silent());
    // A record that does not say it.
    assert!(recorded(&world, "python3", "no JSON").is_silent());
}

#[test]
fn without_a_record_a_command_is_decided_like_any_other() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Bash(python3:*)");
    for command in ["python3", "python3 x.py", "echo x | python3"] {
        assert!(world.run(command).is_silent(), "{command}");
    }
    assert!(world.run("node").is_denied());
}

#[test]
fn a_subagents_prompt_ends_nothing() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Read");
    let mut prompt = world.payload("user-prompt-submit");
    prompt["agent_id"] = json!("a1");
    prompt["turn_id"] = json!("other");
    world.hook(&prompt);
    let mut call = world.calling("Bash", json!({"command": "touch x"}));
    call["agent_id"] = json!("a1");
    call["turn_id"] = json!("other");
    assert!(world.hook(&call).is_denied());
    assert!(world.run("touch x").is_denied());
}

#[test]
fn however_the_file_is_named_its_read_activates() {
    for words in [
        "cat D/SKILL.m*",
        "cat D/*",
        "cat D/SKI''LL.md",
        "ls D; cat D/SKILL.md",
        "find D -type f | xargs cat",
        "find D -name '*.md' -exec cat {} +",
        "echo D/SKILL.md | xargs cat",
        "wc -l < D/SKILL.md",
        "bash -c 'cat D/SKILL.md'",
        "cat D/references/a.md",
        "f=S; cat D/$f",
    ] {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
        let dir = world
            .home()
            .join(".agents/skills/pdf")
            .display()
            .to_string();
        assert!(world.run(&words.replace('D', &dir)).is_silent(), "{words}");
        assert!(world.run("touch x").is_denied(), "{words}");
    }
}

#[test]
fn to_list_and_to_test_activates_nothing() {
    for words in [
        "ls D",
        "ls -la D/scripts",
        "ls -d ~/.agents/skills/*",
        "test -f D/SKILL.md",
        "[ -f D/SKILL.md ] && echo there",
        "stat D/SKILL.md; ls D",
        "cd D && ls",
        "find D -type f",
        "find ~/.agents/skills -name SKILL.md",
        "find ~/.agents/skills -name SKILL.md | sort | head -5",
        "find ~/.agents/skills -name '*.png' -exec cat {} +",
        "find ~ -name '*.md' -exec cat {} +",
        "cat ~/.agents/skills/*/SKILL.md",
    ] {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
        world.file("home/.agents/skills/pdf/scripts/x.sh", "");
        let dir = world
            .home()
            .join(".agents/skills/pdf")
            .display()
            .to_string();
        assert!(world.run(&words.replace('D', &dir)).is_silent(), "{words}");
        assert!(world.run("touch x").is_silent(), "{words}");
    }
}

#[test]
fn the_skills_own_files_can_be_read_by_commands() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: WebSearch");
    world.file("home/.agents/skills/pdf/references/a.md", "x");
    world.file("home/.agents/skills/pdf/scripts/x.sh", "");
    // The executable bit makes a script, whatever is in the file.
    world.file("home/.agents/skills/pdf/scripts/plain", "echo hi\n");
    let plain = world.home().join(".agents/skills/pdf/scripts/plain");
    std::fs::set_permissions(plain, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.activate("pdf");
    let dir = world
        .home()
        .join(".agents/skills/pdf")
        .display()
        .to_string();
    for words in [
        "cat D/SKILL.md",
        "sed -n 1,120p D/references/a.md",
        "ls -la D",
        "head -n 20 D/SKILL.md",
        "cat ~/.agents/skills/pdf/references/a.md",
        "cat \"$HOME/.agents/skills/pdf/references/a.md\"",
        "bash ~/.agents/skills/pdf/scripts/x.sh a",
        "\"${HOME}/.agents/skills/pdf/scripts/x.sh\" a",
        "~/.agents/skills/pdf/scripts/plain",
    ] {
        assert!(world.run(&words.replace('D', &dir)).is_silent(), "{words}");
    }
    for words in [
        "cat D/SKILL.md /etc/hosts",
        "cat D/../../x",
        "sed -n -i p D/SKILL.md",
        "cat D/SKILL.md > x",
        "head -c 5 x D/SKILL.md",
        "cat \"~/.agents/skills/pdf/SKILL.md\"",
        "HOME=/etc; cat $HOME/passwd",
        "cat $PWD/x",
        "bash D/references/a.md",
    ] {
        assert!(world.run(&words.replace('D', &dir)).is_denied(), "{words}");
    }
}
