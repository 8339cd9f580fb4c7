//! The call that is decided about.

use std::path::Path;

use serde_json::{Value, json};

use super::argument_value::ArgumentValue;
use crate::vocabulary::{self, HostTool};

/// A tool call as the host is about to make it.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    /// The tool's name in the host's spelling.
    pub tool: &'a str,
    /// Its arguments; they should be an object.
    pub arguments: &'a Value,
    /// Which of our own tools it is, by exact name in our schema: any plugin's tool may begin with
    /// `skill_`.
    pub ours: Option<OurTool<'a>>,
    /// What its arguments mean to our tool.
    pub meant: &'a [ArgumentValue],
}

/// One of our own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OurTool<'a> {
    /// Activates a skill.
    Skill {
        /// Its name, which entries mention.
        name: &'a str,
        /// Its directory, which tells it from its namesakes.
        dir: &'a Path,
    },
    /// Reads a file of a skill.
    ReadSkillFile {
        /// The skill, if the call names it.
        skill: Option<&'a str>,
    },
    /// Runs a script of a skill.
    RunSkillScript {
        /// The directory of the script's skill, resolved as the tool resolves it.
        skill: Option<&'a Path>,
    },
    /// Waits for a script started earlier, or stops it; always one of the caller's own.
    Job,
    /// Loads and unloads skills. Each skill loaded also counts as a call of its own tool.
    Session,
    /// Records a change to a skill that the model proposes; the user decides about it.
    Propose {
        /// Whether it proposes a new skill.
        new: bool,
    },
    /// Finds, installs or removes skills.
    Marketplace {
        /// The action, if the call names it.
        action: Option<&'a str>,
    },
    /// The command line as a tool: meant for people, who call it without a hook.
    Direct,
}

impl<'a> ToolCall<'a> {
    /// A call of a tool of the host.
    pub fn new(tool: &'a str, arguments: &'a Value) -> Self {
        Self {
            tool,
            arguments,
            ours: None,
            meant: &[],
        }
    }

    /// The host's tool that is called, unless it is one of ours.
    pub fn host_tool(&self) -> Option<&'static HostTool> {
        vocabulary::find_tool(self.tool).filter(|_| self.ours.is_none())
    }

    /// The reading of the file that is the input of a script.
    pub fn with_script_input<T>(&self, then: impl FnOnce(&ToolCall) -> T) -> Option<T> {
        let is_script = matches!(self.ours, Some(OurTool::RunSkillScript { .. }));
        let path = is_script.then(|| self.text("stdin_file")).flatten();
        let path = path.filter(|path| !path.trim().is_empty())?;
        Some(then(&ToolCall::new("file_head", &json!({ "path": path }))))
    }

    /// A string argument.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.arguments.get(key)?.as_str()
    }
}
