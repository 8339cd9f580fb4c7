//! `pre_tool_output`: adds the note of a call that was permitted with one to its result. No other
//! hook can tell the model something without blocking.
//!
//! `pre_cache_output`: keeps the newer host from replacing instructions and files of skills by stubs,
//! which are useless to a model (docs/hosts.md#answers). The output of a script it may keep: the
//! model reads parts of it whatever restricts.

use serde_json::json;

use crate::catalog::Catalog;
use crate::facts::Facts;
use crate::host::ours;
use crate::protocol::judge::{Grounds, Request, Verdict, judge};
use crate::protocol::{Response, ToolUse};

/// The output with its note, or no change without one.
pub fn pre_tool_output(facts: &Facts, result: Option<(ToolUse, String)>) -> Response {
    // Our own tools write their notes themselves.
    let result = result.filter(|(used, _)| !ours::FIXED.contains(&used.tool.as_str()));
    let Some((used, output)) = result else {
        return Response::nothing();
    };
    let session = facts.session();
    let request = Request::of_chibi(facts, used);
    match judge(&Grounds::new(facts, &session), &request).verdict {
        Verdict::Note(note) if session.is_ok() => {
            Response::json(&json!({"output": format!("{output}\n\n[agent-skills: {note}]")}))
        }
        _ => Response::nothing(),
    }
}

/// Keeps the whole output of our own tools, except that of scripts.
pub fn pre_cache_output(facts: &Facts, tool: &str) -> Response {
    if tool == ours::RUN_SCRIPT {
        return Response::nothing();
    }
    let is_ours = ours::FIXED.contains(&tool)
        || tool == ours::SKILL
        || Catalog::about_tool(facts, tool).is_some_and(|catalog| catalog.by_tool(tool).is_some());
    if is_ours {
        Response::json(&json!({"block": true}))
    } else {
        Response::nothing()
    }
}
