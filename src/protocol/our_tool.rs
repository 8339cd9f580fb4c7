//! Which of our own tools a call is for.

use std::path::Path;

use serde_json::Value;

use super::{RunSkillScript, ToolCall, written_skill};
use crate::host::ours;
use crate::permission::{OurTool, looking};

/// Which of our own tools a call is for, unless it activates a skill. Arguments are parsed as the
/// tool will parse them; a different reading could bypass the decision. `script_of` is the
/// directory of the skill whose script is to run.
pub fn our_tool<'a>(
    tool: &str,
    arguments: &'a Value,
    script_of: Option<&'a Path>,
) -> Option<OurTool<'a>> {
    let parsed = || ToolCall::parse(tool, Ok(arguments.clone())).ok();
    match tool {
        ours::DIRECT => Some(OurTool::Direct),
        ours::MARKETPLACE => Some(OurTool::Marketplace {
            action: match parsed() {
                Some(ToolCall::Command(words)) => words.first().and_then(|verb| looking(verb)),
                _ => None,
            },
        }),
        ours::READ_FILE => Some(OurTool::ReadSkillFile {
            skill: written_skill(arguments),
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
