//! GitHub Copilot CLI.

use agent_skills::host::Agent;
use serde_json::json;

use super::{Form, World};

pub static FORM: Form = Form {
    agent: Agent::Copilot,
    release: "copilot-1.0.102",
    shell: ("pre-tool-use-bash", "Bash"),
    skills: ".copilot/skills",
    skill: "pre-tool-use-skill",
    write: ("Write", "path"),
    keys: ["session_id", "", "cwd"],
};

#[test]
fn a_subagent_belongs_to_the_session_that_started_it() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Read");
    let mut prompt = world.payload("user-prompt-submit-agent");
    let mut call = world.payload("pre-tool-use-bash-agent");
    for payload in [&mut prompt, &mut call] {
        payload["session_id"] = json!("sub");
        payload["parent_agent_id"] = json!(world.session);
    }
    assert!(world.hook(&prompt).is_silent());
    assert!(world.hook(&call).is_denied());
    call["session_id"] = json!("deeper");
    call["parent_agent_id"] = json!("sub");
    assert!(world.hook(&call).is_denied(), "a subagent's own subagent");
}

#[test]
fn a_typed_name_activates_however_the_prompt_shows_it() {
    for prompt in ["user-prompt-submit-typed", "user-prompt-submit-typed-known"] {
        let world = World::of(&FORM).skill("probe", "allowed-tools: Read");
        assert!(world.hook(&world.payload(prompt)).is_silent());
        assert!(world.run("touch x").is_denied(), "{prompt}");
    }
}

#[test]
fn a_patch_as_text_names_its_files() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Edit(docs/**)");
    world
        .hook(&world.payload("pre-tool-use-edit-known"))
        .stops("");
    let patch = world.payload("pre-tool-use-edit-known").to_string();
    let inside = patch.replace("patched.txt", "docs/patched.txt");
    assert!(world.hook_with(inside.as_bytes(), &|_| {}).is_silent());
}

#[test]
fn every_searched_path_counts() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Grep(./docs/**), Bash(git log:*)");
    let docs = world.project().join("docs/a");
    world
        .call("Grep", json!({"pattern": "x", "paths": docs}))
        .passes("");
    world
        .call("Grep", json!({"pattern": "x", "paths": [docs, "/etc"]}))
        .stops("");
    assert!(world.hook(&world.payload("pre-tool-use-grep")).is_denied());
}

#[test]
fn a_shell_that_is_shared_may_be_anywhere() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Bash(./run.sh:*)");
    assert!(world.run("./run.sh").is_silent());
    let shared = json!({"command": "./run.sh", "shellId": "a"});
    assert!(world.call("Bash", shared).is_denied());
}
