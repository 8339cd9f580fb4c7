//! Other agents that ask us before each of their tool calls. One file per agent: its names of events
//! and tools, where it finds skills, and where its configuration is. Adding an agent is one file and
//! one line here.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod mode;
mod opencode;
mod qwen_code;
pub mod settings;
pub mod table;

use std::fmt;
use std::str::FromStr;

pub use mode::Mode;
pub use settings::Scope;

use serde::{Deserialize, Serialize};

use crate::error::{Error, named};
use table::Table;

/// An agent, other than chibi, whose hooks this program answers (`agent-skills hook AGENT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// GitHub Copilot CLI.
    Copilot,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    QwenCode,
    /// opencode, through a plugin that starts this program.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Cursor; untried: its format is known from its documentation only.
    Cursor,
}

impl Agent {
    /// Every agent.
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Copilot,
        Self::Gemini,
        Self::QwenCode,
        Self::OpenCode,
        Self::Cursor,
    ];

    /// Its name in commands, in the configuration and in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Gemini => "gemini",
            Self::QwenCode => "qwen-code",
            Self::OpenCode => "opencode",
            Self::Cursor => "cursor",
        }
    }

    /// What its events, tools and arguments are to us.
    pub fn table(self) -> &'static Table {
        match self {
            Self::ClaudeCode => &claude_code::TABLE,
            Self::Codex => &codex::TABLE,
            Self::Copilot => &copilot::TABLE,
            Self::Gemini => &gemini::TABLE,
            Self::QwenCode => &qwen_code::TABLE,
            Self::OpenCode => &opencode::TABLE,
            Self::Cursor => &cursor::TABLE,
        }
    }

    /// What its configuration is like.
    pub fn settings(self) -> &'static settings::Settings {
        match self {
            Self::ClaudeCode => &claude_code::SETTINGS,
            Self::Codex => &codex::SETTINGS,
            Self::Copilot => &copilot::SETTINGS,
            Self::Gemini => &gemini::SETTINGS,
            Self::QwenCode => &qwen_code::SETTINGS,
            Self::OpenCode => &opencode::SETTINGS,
            Self::Cursor => &cursor::SETTINGS,
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Agent {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        named(word, "an agent", &Self::ALL, Self::as_str)
    }
}
