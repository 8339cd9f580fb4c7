//! Skills that ask to run in a sub-agent (`context: fork`). The host's sub-agent is one model call
//! without tools (docs/spec/hosts.md#hooks), so only a skill that needs no tools can run there.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::host::{ours, tools};
use crate::skill::{Activation, Skill, guarded};

/// Why an always-on skill does not run in a sub-agent.
pub const ALWAYS_ON: &str = "it is always on";

/// The note that tells the model why a skill does not run in a sub-agent.
pub fn note(because: &str) -> String {
    format!(
        "This skill asks to run apart (`context: fork`). It runs here, under its own restriction, \
         because {because}."
    )
}

/// The model's text in place of the instructions. Other tools find the skill by `reference`.
pub fn hand_over(activation: &Activation, reference: &str) -> String {
    let skill = activation.skill;
    let given = activation.arguments.filter(|text| !text.trim().is_empty());
    let input = match given {
        Some(_) => "",
        None => ", adding what the user wants as `input`",
    };
    let mut text = format!(
        "<skill_content name=\"{}\">\nThis skill runs in a sub-agent (`context: fork`): its \
         instructions are not for you. Call `{}` with exactly these arguments{input}, then continue \
         with its answer.\n\n",
        skill.name,
        tools::SUB_AGENT,
    );
    let call = call(skill, &activation.instructions(), given);
    text.push_str(&guarded(&call.to_string()));
    text.push('\n');
    if let Some(file) = activation.listing.resources.first() {
        let call = json!({"skill": reference, "path": file.path.display().to_string()});
        let _ = writeln!(
            text,
            "\nThe sub-agent has no tools. Put what it needs from the skill's files into `input`, \
             such as the result of {} {}.",
            ours::READ_FILE,
            guarded(&call.to_string()),
        );
    }
    if skill.fields.text("agent").is_some() {
        text.push_str("\nIts `agent` belongs to another client and is ignored here.\n");
    }
    text.push_str("</skill_content>");
    text
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
