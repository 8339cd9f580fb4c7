//! Other agents that ask us before each of their tool calls. One file per agent: its names of events
//! and tools, where it finds skills, and where its configuration is. CONTRIBUTING.md says what
//! else names it.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod prelude;
mod qwen_code;
pub mod table;

use serde::{Deserialize, Serialize};

use crate::error::named;
use table::{AgentProfile, EventKind};

pub use table::ConnectionScope;

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
    pub fn table(self) -> &'static AgentProfile {
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

    /// The events that get an entry, each with its pattern of tools.
    pub fn registered(self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
        let table = self.table();
        let events = table.events.iter();
        let events = events.filter(|(name, _)| !table.unregistered.contains(name));
        events.map(|(name, event_kind)| match event_kind {
            EventKind::BeforeTool | EventKind::Asking => (*name, table.before_tool_pattern),
            EventKind::AfterTool => (*name, table.after_tool_pattern),
            _ => (*name, None),
        })
    }

    /// What `mode` does there that is less than it says; `None` if it does all of it.
    pub fn lacks(self, mode: HookMode) -> Option<&'static str> {
        let table = self.table();
        match mode {
            HookMode::Ask if !table.asks => {
                Some("it cannot ask its user on behalf of a hook, so such a call is denied")
            }
            HookMode::Grant if !table.grants => {
                Some("it accepts no grant from a hook, so it still asks")
            }
            HookMode::Both if !table.grants => {
                Some("it takes no grant from a hook: this restricts only")
            }
            _ => None,
        }
    }
}

/// What the hook answers beside silence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum HookMode {
    /// It denies what the active skills do not grant.
    #[default]
    Restrict,
    /// It allows, without a question, what they provably grant, and denies nothing else than what a
    /// policy or `disallowed-tools` denies.
    Grant,
    /// It does both.
    Both,
    /// It has the agent ask its user about what they do not grant.
    Ask,
}

impl HookMode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Restrict, Self::Grant, Self::Both, Self::Ask];

    /// Its word on the command line and in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restrict => "restrict",
            Self::Grant => "grant",
            Self::Both => "both",
            Self::Ask => "ask",
        }
    }

    /// Whether what the active skills grant is allowed without a question.
    pub fn grants(self) -> bool {
        matches!(self, Self::Grant | Self::Both)
    }

    /// Whether what they do not grant is stopped.
    pub fn restricts(self) -> bool {
        self != Self::Grant
    }

    /// The same where a policy demands that skills be restricted.
    #[must_use]
    pub fn at_least_restricting(self) -> Self {
        match self {
            Self::Grant | Self::Both => Self::Both,
            Self::Restrict | Self::Ask => Self::Restrict,
        }
    }
}

named!(Agent, "an agent");
named!(HookMode, "a mode");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_is_asked_before_every_tool_call() {
        for agent in Agent::ALL {
            let gate = |name: &str| agent.table().event_kind(name) == Some(EventKind::BeforeTool);
            let (_, matcher) = agent.registered().find(|(name, _)| gate(name)).unwrap();
            assert!(matches!(matcher, None | Some("*" | ".*")), "{agent}");
            let known = |name: &&&str| agent.table().event_kind(name).is_some();
            let unregistered = agent.table().unregistered;
            assert_eq!(
                unregistered.iter().filter(known).count(),
                unregistered.len()
            );
        }
    }

    #[test]
    fn words_of_scopes_and_modes_are_read_back() {
        for scope in ConnectionScope::ALL {
            assert_eq!(scope.as_str().parse::<ConnectionScope>().unwrap(), scope);
        }
        for mode in HookMode::ALL {
            assert_eq!(mode.as_str().parse::<HookMode>().unwrap(), mode);
        }
        let error = "all".parse::<HookMode>().unwrap_err().to_string();
        assert!(error.contains("restrict, grant, both, ask"), "{error}");
    }

    #[test]
    fn what_an_agent_cannot_do_is_said() {
        assert!(Agent::ClaudeCode.lacks(HookMode::Ask).is_none());
        assert!(Agent::Gemini.lacks(HookMode::Restrict).is_none());
        for mode in [HookMode::Grant, HookMode::Both, HookMode::Ask] {
            assert!(Agent::Codex.lacks(mode).is_some(), "{mode}");
        }
    }
}
