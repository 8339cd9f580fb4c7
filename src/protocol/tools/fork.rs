//! Whether a skill may run in a sub-agent: an active restriction can refuse the call that starts
//! one.

use crate::activation::fork::{self, Place};
use crate::host::tools;
use crate::protocol::ToolUse;
use crate::protocol::authorize::{Answer, authorize};
use crate::run_context::RunContext;
use crate::session::{Session, Unreadable};
use crate::skill::Skill;

/// Where `skill` runs, given the restrictions before its activation.
pub fn place(ctx: &RunContext, skill: &Skill, session: &Result<Session, Unreadable>) -> Place {
    fork::place(ctx, skill, session, || {
        let used = ToolUse {
            tool: tools::SUB_AGENT.to_owned(),
            arguments: fork::call(skill, "", Some("")),
        };
        matches!(
            authorize(ctx, session, &used, None).answer,
            Answer::Refused(_)
        )
    })
}
