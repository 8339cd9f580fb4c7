//! `pre_cache_output`: keeps the newer host from replacing instructions and files of skills by stubs,
//! which are useless to a model (docs/spec/hosts.md#answers). The output of a script it may keep: the
//! model reads parts of it whatever restricts.

use serde_json::json;

use crate::catalog::Catalog;
use crate::facts::Facts;
use crate::host::ours;
use crate::protocol::Response;

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
