//! Where a skill runs: in the conversation, or in a sub-agent if it asks for one, needs no tools, and
//! no active restriction refuses the call that starts one.

use crate::activation::fork::{ALWAYS_ON, call};
use crate::host::{Protocol, tools};
use crate::policy::has_scripts;
use crate::protocol::ToolUse;
use crate::protocol::authorize::{Answer, authorize};
use crate::run_context::RunContext;
use crate::session::{Session, Unreadable, snapshot};
use crate::skill::Skill;

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

/// Where `skill` runs, given what was active before it.
pub fn place(ctx: &RunContext, skill: &Skill, session: &Result<Session, Unreadable>) -> Place {
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
    let was_forbidden = told.is_some_and(|session| session.active_in(&dir).is_some());
    let because = if !has_sub_agents {
        "this host has no sub-agents"
    } else if grants_tools(skill) {
        "it uses tools, and a sub-agent has none"
    } else if has_scripts(&skill.dir) {
        "it has scripts, and a sub-agent can run none"
    } else if is_always_on {
        ALWAYS_ON
    } else if was_forbidden || is_forbidden(ctx, skill, session) {
        "what was in force does not allow `spawn_agent`"
    } else {
        return Place::Apart;
    };
    Place::HereBecause(because)
}

fn is_forbidden(ctx: &RunContext, skill: &Skill, session: &Result<Session, Unreadable>) -> bool {
    let used = ToolUse {
        tool: tools::SUB_AGENT.to_owned(),
        arguments: call(skill, "", Some("")),
    };
    matches!(
        authorize(ctx, session, &used, None).answer,
        Answer::Refused(_)
    )
}

/// Whether its tool list names any tool, which its author then expects to be available.
fn grants_tools(skill: &Skill) -> bool {
    let entries = snapshot(skill, "").allowed.unwrap_or_default();
    entries.iter().any(|entry| !entry.trim().is_empty())
}
