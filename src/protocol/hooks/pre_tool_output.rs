//! `pre_tool_output`: adds the note of a call that was permitted with one to its result. No other
//! hook can tell the model something without blocking.

use serde_json::json;

use crate::host::ours;
use crate::protocol::authorize::{Answer, authorize};
use crate::protocol::{Response, ToolResult, called};
use crate::run_context::RunContext;

/// The output with its note, or no change without one.
pub fn pre_tool_output(ctx: &RunContext, result: Option<ToolResult>) -> Response {
    // Our own tools write their notes themselves.
    let Some(result) = result.filter(|result| !ours::FIXED.contains(&result.used.tool.as_str()))
    else {
        return Response::nothing();
    };
    let session = ctx.active();
    let called = called(ctx, &result.used.tool, &result.used.arguments);
    let called = called.transpose().unwrap_or_default();
    match authorize(ctx, &session, &result.used, called.as_ref()).answer {
        Answer::Noted(note) if session.is_ok() => Response::json(
            &json!({"output": format!("{}\n\n[agent-skills: {note}]", result.output)}),
        ),
        _ => Response::nothing(),
    }
}
