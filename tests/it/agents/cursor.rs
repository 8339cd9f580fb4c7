//! Cursor, by its documentation.

use agent_skills::host::Agent;
use serde_json::json;

use super::{Form, World};
use crate::host::Has;

pub static FORM: Form = Form {
    agent: Agent::Cursor,
    release: "cursor-docs",
    shell: ("pre-tool-use-shell", "Shell"),
    skills: ".cursor/skills",
    skill: "",
    write: ("Write", "file_path"),
    keys: ["conversation_id", "generation_id", "cwd"],
};

#[test]
fn a_read_of_the_skill_activates_and_the_answer_is_its_own() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let file = world.home().join(".cursor/skills/pdf/SKILL.md");
    assert!(world.call("Read", json!({ "file_path": file })).is_silent());
    let answer = world.run("touch x").json();
    assert_eq!(answer["permission"], "deny");
    let text = |key: &str| answer[key].as_str().unwrap().to_owned();
    text("agent_message").finishes("shows the missing entries.");
    let shown = "the skill `pdf` does not permit it. Allowed: Read. \
                 `agent-skills suggest pdf` shows the missing entries.";
    text("user_message").finishes(shown);
    text("user_message").lacks("tell the user");
}
