//! Activation through a skill's own tool, `skill` or `skill_marketplace`: hands over the skill's
//! instructions.

use crate::protocol::called_skill::skill_of_call;
use crate::protocol::prelude::*;

/// Activates the requested skill. `pre_tool` has done so already, unless the host has no hooks or
/// this is a direct call; repeating it is harmless.
///
/// # Errors
/// As [`hand_over`], and if there is no such skill, or the tool is no longer ours.
pub fn activate(facts: &Facts, wanted: &Activate) -> Result<String> {
    let called = resolve(facts, wanted.clone())?;
    let session = facts.session();
    // `pre_tool` did not recognize this call as ours, so it was not authorized as an activation.
    let is_ours = || skill_of_call(facts, &wanted.tool, Ok(wanted.clone())).is_some();
    if !JudgeContext::new(facts, &session).nothing_is_in_force() && !is_ours() {
        let call = json!({"action": "use", "skill_ref": called.reference});
        let text = format!("`{}` is no longer a tool here", ours::SKILL);
        return Err(Error::new(text).hint(format!("use {} {call}", ours::MARKETPLACE)));
    }
    hand_over(facts, &called)
}

/// Activates a skill and returns its instructions.
///
/// # Errors
/// When it cannot become active, or its instructions cannot be read.
pub fn hand_over(facts: &Facts, called: &CalledSkill) -> Result<String> {
    let skill = &called.skill;
    let arguments = called.arguments.as_deref();
    put_in_force(facts, skill, &called.tool)?;
    let began = Instant::now();
    let hooks = run_pre_hooks(facts, skill, began + limits::PRE_HOOKS)?;
    // The `post` hooks of replaced skills.
    run_post_hooks(facts, false, began);
    let text = Instructions {
        skill,
        reference: &called.reference,
        arguments,
        more: hooks.into_iter().collect(),
        wrapper: SKILL_CONTENT,
    }
    .once(facts)?;
    handed(facts, &[(skill, arguments)]);
    Ok(text)
}
