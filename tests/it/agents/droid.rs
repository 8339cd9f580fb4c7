//! Factory droid, by its documentation.

use agent_skills::host::Agent;
use serde_json::json;

use super::{Form, World};

pub static FORM: Form = Form {
    agent: Agent::Droid,
    release: "droid-docs",
    shell: ("pre-tool-use-execute", "Execute"),
    skills: ".factory/skills",
    skill: "pre-tool-use-skill",
    write: ("Create", "file_path"),
    keys: ["session_id", "", "cwd"],
};

#[test]
fn its_own_names_are_known() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read, LS");
    world.activate("pdf");
    assert!(
        world
            .call("LS", json!({"directory_path": world.project()}))
            .is_silent()
    );
    assert!(world.call("Execute", json!({"command": "ls"})).is_denied());
    assert!(
        world
            .call("FetchUrl", json!({"url": "https://a.org"}))
            .is_denied()
    );
}

#[test]
fn a_typed_name_is_a_prompt() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let mut prompt = world.payload("pre-tool-use-execute");
    prompt["hook_event_name"] = json!("UserPromptSubmit");
    prompt["prompt"] = json!("/pdf now");
    assert!(world.hook(&prompt).is_silent());
    assert!(world.run("touch x").is_denied());
    prompt["prompt"] = json!("thanks");
    world.hook(&prompt);
    assert!(world.run("touch x").is_silent());
}
