//! A call of an agent's tool as [`Request`]s of the tools that rules are written for.

use crate::host::agent::table::AgentProfile;
use crate::protocol::prelude::*;
use skill_permission::vocabulary::TranslatedCall;

/// The calls that `used` amounts to, begun in `cwd`.
///
/// # Errors
/// If an argument that decides is missing or of another kind, as in a release with other names.
pub fn translate(table: &AgentProfile, used: &ToolUse, cwd: &Path) -> Result<Vec<Request>, String> {
    let (name, arguments) = (&used.tool, &used.arguments);
    let calls = table.vocabulary.calls(name, arguments, cwd)?.into_iter();
    let is_known = table.vocabulary.knows_arguments(name, arguments);
    let request = |call: TranslatedCall| Request {
        shown: Some(name.clone()),
        start: Some(CommandStart {
            directory: call.directory,
            persists: table.shell.persists || call.persists,
        }),
        is_known,
        is_mcp: call.is_mcp,
        ..Request::of_tool(call.tool, call.arguments)
    };
    Ok(calls.map(request).collect())
}

#[cfg(test)]
mod tests;
