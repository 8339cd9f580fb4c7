//! Refusals, with a firmer message for a repeated call.

use serde_json::json;

use crate::protocol::{Response, ToolUse};
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
