//! Skills that ask to run in a sub-agent (`context: fork`). The host's sub-agent is one model call
//! without tools (docs/hosts.md#hooks), so only a skill that needs no tools can run there.

use serde_json::{Value, json};

use crate::skill::Skill;

/// Why an always-on skill does not run in a sub-agent.
pub const ALWAYS_ON: &str = "it is always on";

/// The note that tells the model why a skill does not run in a sub-agent.
pub fn note(because: &str) -> String {
    format!(
        "This skill asks to run apart (`context: fork`). It runs here, under its own restriction, \
         because {because}."
    )
}

/// The arguments of the sub-agent call.
pub fn call(skill: &Skill, instructions: &str, input: Option<&str>) -> Value {
    let mut call = json!({"system_prompt": instructions});
    if let Some(input) = input {
        call["input"] = input.into();
    }
    if let Some(model) = skill.fields.model_id() {
        call["model"] = model.into();
    }
    call
}
