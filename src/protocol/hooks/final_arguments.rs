//! `pre_shell_exec`, `pre_file_write`, `pre_file_read`, `pre_fetch_url`: applies the same rules to
//! the tool's final arguments. Another plugin may have rewritten them since `pre_tool`
//! (docs/spec/hosts.md#hooks).

use super::always_on;
use crate::protocol::authorize::{Answer, authorize, nothing_is_in_force};
use crate::protocol::{Response, ToolUse, closed};
use crate::run_context::RunContext;

/// Refuses what is not allowed; these hooks never grant.
pub fn final_arguments(ctx: &RunContext, used: Option<&ToolUse>) -> Response {
    let session = always_on::session(ctx);
    let is_free = nothing_is_in_force(ctx, &session);
    if is_free {
        closed::nothing_is_in_force();
    }
    let Some(used) = used else {
        return if is_free {
            Response::nothing()
        } else {
            Response::denied(UNCLEAR)
        };
    };
    let authorized = authorize(ctx, &session, used, None);
    match authorized.answer {
        Answer::Refused(reason) => {
            // `pre_tool` recorded its decision; this one differs from it.
            if let Some(event) = authorized.event {
                ctx.record(event.with("final_arguments", true));
            }
            Response::denied(&reason)
        }
        Answer::Allowed | Answer::Noted(_) => Response::nothing(),
    }
}

const UNCLEAR: &str = "The call is not allowed: a skill is active or a policy in force, and the \
    host did not say what is called.";
