//! `pre_cache_output`: keeps the newer host from replacing our results by stubs. A stub of
//! instructions is useless, and reading the original may be forbidden (docs/spec/hosts.md#answers).

use serde_json::json;

use crate::catalog::Catalog;
use crate::facts::Facts;
use crate::host::ours;
use crate::protocol::Response;

/// Keeps the whole output of our own tools.
pub fn pre_cache_output(facts: &Facts, tool: &str) -> Response {
    let is_ours = ours::FIXED.contains(&tool)
        || tool == ours::SKILL
        || Catalog::about_tool(facts, tool).is_some_and(|catalog| catalog.by_tool(tool).is_some());
    if is_ours {
        Response::json(&json!({"block": true}))
    } else {
        Response::nothing()
    }
}
