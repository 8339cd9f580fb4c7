//! opencode, as our plugin in it calls.

use agent_skills::host::Agent;
use serde_json::json;

use super::{Form, World};

pub static FORM: Form = Form {
    agent: Agent::OpenCode,
    release: "opencode-plugin",
    shell: ("tool-execute-before-bash", "bash"),
    skills: ".config/opencode/skills",
    skill: "tool-execute-before-skill",
    write: ("write", "filePath"),
    keys: ["sessionID", "", "directory"],
};

#[test]
fn a_typed_command_survives_its_own_prompt() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let typed = world.payload("command-execute-before");
    assert!(world.hook(&typed).is_silent());
    let prompt = world.payload("chat-message");
    assert!(world.hook(&prompt).is_silent());
    assert!(world.run("touch x").is_denied());
    world.hook(&prompt);
    assert!(world.run("touch x").is_silent());
}

#[test]
fn a_subagent_belongs_to_its_parent() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    world.activate("pdf");
    let mut prompt = world.payload("chat-message");
    let mut call = world.calling("bash", json!({"command": "touch x"}));
    for payload in [&mut prompt, &mut call] {
        payload["sessionID"] = json!("sub");
        payload["parentID"] = json!(world.session);
    }
    world.hook(&prompt);
    assert!(world.hook(&call).is_denied());
    assert!(world.run("touch x").is_denied());
}
