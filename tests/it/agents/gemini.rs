//! Gemini CLI.

use agent_skills::host::Agent;
use serde_json::json;

use super::{Form, World};

pub static FORM: Form = Form {
    agent: Agent::Gemini,
    release: "gemini-0.61.0",
    shell: ("before-tool-run-shell-command", "run_shell_command"),
    skills: ".gemini/skills",
    skill: "before-tool-activate-skill",
    write: ("write_file", "file_path"),
    keys: ["session_id", "", "cwd"],
};

#[test]
fn its_answer_is_its_own() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Read");
    let answer = world.run("touch x").json();
    assert_eq!(answer["decision"], "deny");
    assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
}

#[test]
fn a_command_begins_in_its_directory() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Bash(./run.sh:*)");
    let run = |directory: &str| {
        let arguments = json!({"command": "./run.sh", "dir_path": directory});
        world.call("run_shell_command", arguments)
    };
    assert!(run(".").is_silent());
    assert!(run("sub").is_denied(), "another program of that name");
}

#[test]
fn a_path_is_handed_back_as_it_was_judged() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Write(docs/**)");
    assert_eq!(
        world.call("write_file", json!({"file_path": "x"})).stdout,
        ""
    );
    world.activate("pdf");
    let given = json!({"file_path": "docs/x", "content": "y"});
    let answer = world.call("write_file", given).json();
    let judged = &answer["hookSpecificOutput"]["tool_input"];
    let path = world.project().join("docs/x");
    assert_eq!(judged, &json!({"file_path": path, "content": "y"}));
    assert_eq!(world.write(&path).stdout, "", "it was absolute");
}

#[test]
fn every_address_in_a_text_counts() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: WebFetch(domain:a.org)");
    let fetch = |prompt: &str| world.call("web_fetch", json!({ "prompt": prompt }));
    assert!(fetch("summarize https://a.org/x").is_silent());
    assert!(fetch("compare https://a.org/x with https://b.org").is_denied());
    assert!(fetch("whatever you like").is_denied());
    assert!(fetch("HTTP://b.org,https://a.org/").is_denied());
    let both = json!({"prompt": "https://a.org", "url": "https://b.org/"});
    assert!(world.call("web_fetch", both).is_denied());
}

#[test]
fn no_command_is_changed_that_a_policy_may_look_at() {
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\n";
    for (file, is_confined) in [
        ("home/.gemini/other.toml", true),
        ("home/.gemini/policies/a.toml", false),
        ("project/.gemini/policies/a.toml", false),
        ("home/.gemini/extensions/x/policies/a.toml", false),
        ("home/.gemini/extensions/x/skills/a.toml", true),
        ("home/.gemini/settings.json", false),
    ] {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Bash(git log:*)");
        let world = world.config("skills.pdf.sandbox = \"auto\"\n");
        world.file(file, rule);
        world.activate("pdf");
        let answer = world.run("git log").json();
        let command = &answer["hookSpecificOutput"]["tool_input"]["command"];
        assert_eq!(command.is_string(), is_confined, "{file}: {answer}");
    }
}
