//! Qwen Code.

use agent_skills::host::Agent;

use serde_json::json;

use super::{Form, World};

pub static FORM: Form = Form {
    agent: Agent::QwenCode,
    release: "qwen-code-0.24.4",
    shell: ("pre-tool-use-run-shell-command", "run_shell_command"),
    skills: ".qwen/skills",
    skill: "pre-tool-use-skill",
    write: ("write_file", "file_path"),
    keys: ["session_id", "prompt_id", "cwd"],
};

#[test]
fn the_event_that_comes_after_each_step_ends_nothing() {
    let world = World::of(&FORM).using("probe", "allowed-tools: Read");
    world
        .hook(&world.payload("user-prompt-submit-2"))
        .passes("");
    assert!(world.run("touch x").is_denied());
}

#[test]
fn a_typed_name_activates() {
    let world = World::of(&FORM).skill("probe", "allowed-tools: Read");
    world
        .hook(&world.payload("user-prompt-expansion-typed"))
        .passes("");
    world
        .hook(&world.payload("user-prompt-submit-typed"))
        .passes("");
    assert!(world.run("touch x").is_denied());
}

#[test]
fn an_empty_prompt_resets_no_damaged_record() {
    let world = World::of(&FORM).using("probe", "allowed-tools: Read");
    world.file("home/.chibi/plugins/agent-skills/state.json", "garbage");
    world.hook(&world.payload("user-prompt-submit-2"));
    assert!(world.run("touch x").is_denied());
    // The user's own does.
    world.hook(&world.payload("user-prompt-submit"));
    assert!(world.run("touch x").is_silent());
}

#[test]
fn a_grant_answers_the_question_that_comes_before_the_hook() {
    let list = "allowed-tools: Read, Bash(touch:*)";
    let granted = json!({"hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow"},
    }});
    for (mode, command, spared) in [
        ("grant", "touch good", true),
        ("both", "touch good", true),
        ("grant", "rm good", false),
        ("both", "touch good; rm good", false),
        ("restrict", "touch good", false),
    ] {
        let world = World::of(&FORM).skill("probe", list).in_mode(mode);
        let asks = |command: &str| {
            let mut question = world.payload("permission-request-run-shell-command");
            question["tool_input"]["command"] = json!(command);
            world.hook(&question)
        };
        world.activate("probe");
        assert!(asks(command).is_silent(), "{mode}: not yet active");
        let mut used = world.payload("post-tool-use-skill");
        used["tool_input"]["skill"] = json!("probe");
        world.hook(&used);
        let answer = asks(command);
        assert_eq!(answer.status, 0, "{answer:?}");
        if spared {
            let said: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
            assert_eq!(said, granted, "{mode} {command}");
        } else {
            assert!(answer.is_silent(), "{mode} {command}: {answer:?}");
        }
        // The skill itself is the user's to allow.
        let mut skill = world.payload("pre-tool-use-skill");
        skill["hook_event_name"] = json!("PermissionRequest");
        assert!(world.hook(&skill).is_silent());
    }
}

#[test]
fn it_is_known_by_all_that_it_sends_to_claudes_hooks() {
    for activation in ["user-prompt-expansion-typed", "pre-tool-use-skill"] {
        let mut world = World::of(&FORM).skill("probe", "allowed-tools: Read");
        world.prompt = "s1########0".to_owned();
        let as_claude = |payload: &serde_json::Value| world.hook_as(Agent::ClaudeCode, payload);
        assert!(as_claude(&world.payload(activation)).is_silent());
        let call = world.calling(FORM.shell.1, json!({"command": "touch x"}));
        assert!(as_claude(&call).is_denied(), "{activation}");
        let mut end = world.payload("stop");
        end["hook_event_name"] = json!("SessionEnd");
        end.as_object_mut().unwrap().remove("prompt_id");
        as_claude(&end);
        assert!(as_claude(&call).is_silent(), "{activation}: it has ended");
    }
}
