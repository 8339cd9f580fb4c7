//! Activation through a skill's own tool, `skill` or `skill_marketplace`: hands over the skill's
//! instructions, in the conversation or in a sub-agent.

use std::time::Instant;

use crate::activation::{
    ALWAYS_ON, Instructions, handed, handed_over, put_in_force, run_post_hooks, run_pre_hooks,
    runs_here, sub_agent_call,
};
use crate::host::tools;
use crate::policy::{activation_event, has_scripts};
use crate::protocol::judge::{JudgeContext, Request, judge};
use crate::protocol::prelude::*;
use crate::protocol::{Activate, CalledSkill, resolve};
use crate::skill::SKILL_CONTENT;

/// Activates the requested skill. `pre_tool` has done so already, unless the host has no hooks or
/// this is a direct call; repeating it is harmless.
///
/// # Errors
/// As [`hand_over`], and if there is no such skill, or the tool is no longer ours.
pub fn activate(facts: &Facts, wanted: Activate) -> Result<String> {
    let called = resolve(facts, wanted)?;
    let session = facts.session();
    // `pre_tool` did not recognize this call as ours, so it was not authorized as an activation.
    if !called.is_listed && !JudgeContext::new(facts, &session).nothing_is_in_force() {
        let call = serde_json::json!({"action": "use", "skill_ref": called.reference});
        let text = format!("`{}` is no longer a tool here", ours::SKILL);
        return Err(Error::new(text).hint(format!("use {} {call}", ours::MARKETPLACE)));
    }
    hand_over(facts, &called, &session)
}

/// Activates a skill and returns its instructions, or those for handing it to a sub-agent.
///
/// # Errors
/// When it cannot become active, or its instructions cannot be read.
pub fn hand_over(
    facts: &Facts,
    called: &CalledSkill,
    session: &Result<Session, Unreadable>,
) -> Result<String> {
    let skill = &called.skill;
    let arguments = called.arguments.as_deref();
    let mut more = Vec::new();
    match place(facts, skill, session) {
        Place::Here => {}
        Place::HereBecause(why) => more.push(runs_here(why)),
        Place::Apart => {
            facts.record(activation_event(skill));
            return handed_over(skill, &called.reference, arguments);
        }
    }
    put_in_force(facts, skill, &called.tool)?;
    let began = Instant::now();
    more.extend(run_pre_hooks(facts, skill, began + limits::PRE_HOOKS)?);
    // The end hooks of the skills that this one replaced.
    run_post_hooks(facts, false, began);
    let text = Instructions {
        skill,
        reference: &called.reference,
        arguments,
        more,
        wrapper: SKILL_CONTENT,
    }
    .once(facts)?;
    handed(facts, &[(skill, arguments)]);
    Ok(text)
}

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

/// Where `skill` runs, given what was active before it: in a sub-agent if it asks for one, needs no
/// tools, and no active restriction refuses the call that starts one.
pub fn place(facts: &Facts, skill: &Skill, session: &Result<Session, Unreadable>) -> Place {
    if !skill.fields.is_forked() {
        return Place::Here;
    }
    let told = session.as_ref().ok();
    let has_sub_agents = told
        .and_then(|session| session.sub_agents)
        .unwrap_or(facts.run.protocol == Some(Protocol::Stdin));
    let dir = skill.dir.display().to_string();
    let is_always_on = told.is_some_and(|session| session.always.contains(&dir));
    // `pre_tool` makes it active only if it cannot run in a sub-agent.
    let was_forbidden = told.is_some_and(|session| session.active_in(&dir).is_some());
    // An author who names tools expects them to be available.
    let named = snapshot(skill, "").allowed.unwrap_or_default();
    let names_tools = named.iter().any(|entry| !entry.trim().is_empty());
    let because = if !has_sub_agents {
        "this host has no sub-agents"
    } else if names_tools {
        "it uses tools, and a sub-agent has none"
    } else if has_scripts(&skill.dir) {
        "it has scripts, and a sub-agent can run none"
    } else if is_always_on {
        ALWAYS_ON
    } else if was_forbidden || is_forbidden(facts, skill, session) {
        "what was in force does not allow `spawn_agent`"
    } else {
        return Place::Apart;
    };
    Place::HereBecause(because)
}

fn is_forbidden(facts: &Facts, skill: &Skill, session: &Result<Session, Unreadable>) -> bool {
    let request = Request::of_tool(tools::SUB_AGENT, sub_agent_call(skill, "", Some("")));
    let judged = judge(&JudgeContext::new(facts, session), &request);
    judged.stopped().is_some()
}
