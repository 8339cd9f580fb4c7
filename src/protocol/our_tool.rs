//! Which of our own tools a call is for.

use std::path::Path;

use super::{RunSkillScript, ToolCall, ToolUse, written_skill};
use crate::host::ours;
use crate::permission::OurTool;

/// Which of our own tools a call is for, unless it activates a skill. Arguments are parsed as the
/// tool will parse them; a different reading could bypass the decision. `script_of` is the
/// directory of the skill whose script is to run.
pub fn our_tool<'a>(used: &'a ToolUse, script_of: Option<&'a Path>) -> Option<OurTool<'a>> {
    let parsed = || ToolCall::parse(&used.tool, Ok(used.arguments.clone())).ok();
    match used.tool.as_str() {
        ours::DIRECT => Some(OurTool::Direct),
        ours::MARKETPLACE => Some(OurTool::Marketplace {
            action: match parsed() {
                Some(ToolCall::Command(words)) => words.first().and_then(|verb| looking(verb)),
                _ => None,
            },
        }),
        ours::READ_FILE => Some(OurTool::ReadSkillFile {
            skill: written_skill(&used.arguments),
        }),
        ours::SESSION => Some(OurTool::Session),
        ours::PROPOSE => Some(OurTool::Propose { new: false }),
        ours::CREATE => Some(OurTool::Propose { new: true }),
        ours::RUN_SCRIPT => Some(match parsed() {
            Some(ToolCall::RunSkillScript(RunSkillScript::Job(_))) => OurTool::Job,
            _ => OurTool::RunSkillScript { skill: script_of },
        }),
        _ => None,
    }
}

/// The canonical names of read-only verbs.
fn looking(verb: &str) -> Option<&'static str> {
    match verb.replace('-', "_").as_str() {
        "list" => Some("list"),
        "list_installed" => Some("list_installed"),
        "info" => Some("info"),
        "search" => Some("search"),
        "search_installed" => Some("search_installed"),
        _ => None,
    }
}
