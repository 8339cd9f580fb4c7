//! Refusals, with a firmer message for a repeated call.

use serde_json::json;

use crate::policy::{Event, call_event};
use crate::protocol::{Called, Response, ToolUse, call_of};
use crate::run_context::RunContext;
use crate::session::SessionKey;
use crate::sys::EntryName;

const REFUSALS: EntryName = EntryName::from_static("refusals");

/// Blocks the call, more firmly the second time: a model that repeats a call word for word did not
/// understand the refusal.
pub fn refuse(ctx: &RunContext, key: &SessionKey, used: &ToolUse, message: &str) -> Response {
    let call = json!([used.tool, used.arguments]);
    if ctx
        .seen(REFUSALS)
        .before(&format!("{}\0{call}", key.as_str()))
    {
        return Response::block(&format!(
            "{message} This was already refused: do not retry."
        ));
    }
    Response::block(message)
}

/// Blocks a permitted call that fails, which may be retried; `event` then says so.
pub fn stopped(
    event: &mut Option<Event>,
    used: &ToolUse,
    called: Option<&Called>,
    (by, message): (&str, &str),
) -> Response {
    *event = Some(call_event(&call_of(used, called, None), "blocked", by));
    Response::block(message)
}
