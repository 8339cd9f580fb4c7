//! `hook`: for agents, which call it before each tool call. The real call never gets here: the door for
//! hosts answers it (`protocol/agents`). This is its help, and its refusal to anybody else.

use crate::error::{Error, Result};
use crate::host::Agent;
use crate::host::agent::Mode;

/// Answer a hook of an agent, which calls this itself
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The agent's data is read from standard input. `agent-skills hosts add AGENT` \
    has the agent call this."
)]
pub struct Hook {
    /// The agent: claude-code, codex, copilot, gemini, qwen-code, opencode, cursor or droid
    pub agent: Agent,
    /// What a skill's list means there (default: `hosts.AGENT.mode` in the configuration, or restrict)
    #[arg(long)]
    pub mode: Option<Mode>,
}

impl Hook {
    /// Refuses what is no call of an agent.
    ///
    /// # Errors
    /// Always.
    pub fn run(&self) -> Result<String> {
        Err(
            Error::new("a hook is called by its agent, not by a command").hint(format!(
                "`agent-skills hosts add {}` connects the agent",
                self.agent
            )),
        )
    }
}
