//! Skills that ask to run in a sub-agent (`context: fork`). The host's sub-agent is one model call
//! without tools (docs/spec/hosts.md#hooks), so only a skill that needs no tools can run there.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::host::{Protocol, ours, tools};
use crate::policy::has_scripts;
use crate::run_context::RunContext;
use crate::session::{Session, Unreadable, snapshot};
use crate::skill::{Activation, Skill, guarded};

/// Where a skill's instructions are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the conversation, the default.
    Here,
    /// In the conversation although the skill asks for a sub-agent, for this reason.
    HereBecause(&'static str),
    /// In a sub-agent. The skill then does not become active in the conversation.
    Apart,
}

/// Why an always-on skill does not run in a sub-agent.
pub const ALWAYS_ON: &str = "it is always on";

/// Where `skill` runs, given what was active before it. `is_forbidden` says whether that blocks the
/// sub-agent call.
pub fn place(
    ctx: &RunContext,
    skill: &Skill,
    session: &Result<Session, Unreadable>,
    is_forbidden: impl FnOnce() -> bool,
) -> Place {
    if !skill.fields.is_forked() {
        return Place::Here;
    }
    let told = session.as_ref().ok();
    let has_sub_agents = told
        .and_then(|session| session.sub_agents)
        .unwrap_or(ctx.protocol == Some(Protocol::Stdin));
    let dir = skill.dir.display().to_string();
    let is_always_on = told.is_some_and(|session| session.always.contains(&dir));
    // `pre_tool` makes it active only if it cannot run in a sub-agent.
    let was_forbidden =
        told.is_some_and(|session| session.active().any(|active| active.dir == dir));
    let because = if !has_sub_agents {
        "this host has no sub-agents"
    } else if grants_tools(skill) {
        "it uses tools, and a sub-agent has none"
    } else if has_scripts(&skill.dir) {
        "it has scripts, and a sub-agent can run none"
    } else if is_always_on {
        ALWAYS_ON
    } else if was_forbidden || is_forbidden() {
        "what was in force does not allow `spawn_agent`"
    } else {
        return Place::Apart;
    };
    Place::HereBecause(because)
}

/// The note that tells the model why a skill does not run in a sub-agent.
pub fn note(because: &str) -> String {
    format!(
        "This skill asks to run apart (`context: fork`). It runs here, under its own restriction, \
         because {because}."
    )
}

/// The model's text in place of the instructions. Other tools find the skill by `reference`.
pub fn hand_over(activation: &Activation, reference: &str) -> String {
    let Activation {
        skill, arguments, ..
    } = *activation;
    let given = arguments.filter(|text| !text.trim().is_empty());
    let input = match given {
        Some(_) => "",
        None => ", and with what the user wants as `input`",
    };
    let mut text = format!(
        "<skill_content name=\"{}\">\nThis skill runs apart (`context: fork`): its instructions are \
         for a sub-agent, not for you. Call `{}` with exactly these arguments{input}; then go on \
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
            "\nThe sub-agent has no tools. What it needs of the skill's files, such as {} {}, has to \
             be in `input`.",
            ours::READ_FILE,
            guarded(&call.to_string()),
        );
    }
    if skill.fields.names_an_agent() {
        text.push_str("\nIts `agent` is one of another client and has no counterpart here.\n");
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

/// Whether its tool list names any tool, which its author then expects to be available.
fn grants_tools(skill: &Skill) -> bool {
    let entries = snapshot(skill, "").allowed.unwrap_or_default();
    entries.iter().any(|entry| !entry.trim().is_empty())
}
