//! Activation through a skill's own tool, `skill` or `skill_marketplace`: hands over the skill's
//! instructions.

use std::time::Instant;

use crate::activation::fork;
use crate::activation::{Instructions, put_in_force, run_post_hooks, run_pre_hooks};
use crate::error::{Error, Result};
use crate::host::ours;
use crate::protocol::authorize::nothing_is_in_force;
use crate::protocol::tools::fork::{Place, place};
use crate::protocol::{Activate, Called, resolve};
use crate::run_context::RunContext;
use crate::session::{Session, Unreadable};
use crate::skill::Wrapper;
use crate::sys::limits;

/// Activates the requested skill. `pre_tool` has done so already, unless the host has no hooks or
/// this is a direct call; repeating it is harmless.
///
/// # Errors
/// As [`hand_over`], and if there is no such skill, or the tool is no longer ours.
pub fn activate(ctx: &RunContext, wanted: Activate) -> Result<String> {
    let called = resolve(ctx, wanted)?;
    let session = ctx.active();
    // `pre_tool` did not recognize this call as ours, so it was not authorized as an activation.
    if !called.is_listed && !nothing_is_in_force(ctx, &session) {
        let call = serde_json::json!({"action": "use", "skill_ref": called.reference});
        let text = format!("`{}` is no tool here any more", ours::SKILL);
        return Err(Error::new(text).hint(format!("use {} {call}", ours::MARKETPLACE)));
    }
    hand_over(ctx, &called, &session)
}

/// Activates a skill and returns its instructions, or those for handing it to a sub-agent.
///
/// # Errors
/// When it cannot become active, or its instructions cannot be read.
pub fn hand_over(
    ctx: &RunContext,
    called: &Called,
    session: &Result<Session, Unreadable>,
) -> Result<String> {
    let skill = &called.skill;
    let arguments = called.arguments.as_deref();
    let mut more = Vec::new();
    match place(ctx, skill, session) {
        Place::Here => {}
        Place::HereBecause(why) => more.push(fork::note(why)),
        Place::Apart => {
            ctx.record_activation(skill);
            return ctx.handed_over(skill, &called.reference, arguments);
        }
    }
    put_in_force(ctx, skill, &called.tool)?;
    let began = Instant::now();
    more.extend(run_pre_hooks(ctx, skill, began + limits::PRE_HOOKS)?);
    // The end hooks of the skills that this one replaced.
    run_post_hooks(ctx, false, began);
    let text = ctx.instructions_once(Instructions {
        skill,
        reference: &called.reference,
        arguments,
        more,
        wrapper: Wrapper::SkillContent,
    })?;
    ctx.handed(&[(skill, arguments)]);
    Ok(text)
}
