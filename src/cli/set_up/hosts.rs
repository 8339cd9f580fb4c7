//! `hosts`: which hosts this machine has and how agent-skills is connected to each; connecting them
//! and the undo.

mod connect;
mod plugin;
mod rows;
mod skills;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::options::Common;
use crate::cli::{Answer, Caller, Screen};
use crate::facts::Facts;
use crate::host::agent::{Agent, Mode, Scope};

/// Show the hosts on this machine, and connect or disconnect them
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Hosts {
    /// What to do; without it, they are shown
    #[command(subcommand)]
    pub change: Option<Connecting>,
}

/// What `hosts` can change.
#[derive(Debug, Subcommand)]
pub enum Connecting {
    /// Connect agents: each asks agent-skills before every tool call
    Add {
        /// claude-code, codex, copilot, gemini, qwen-code, opencode or cursor
        #[arg(required = true, value_name = "HOST")]
        hosts: Vec<Agent>,
        /// For whom: user (in every project), project (this one) or managed (every user; root)
        #[arg(long, default_value_t = Scope::User)]
        scope: Scope,
        /// restrict, grant, both or ask; without it, the configuration decides
        #[arg(long)]
        mode: Option<Mode>,
    },
    /// Disconnect agents: what `add` wrote goes, and nothing else
    Remove {
        /// Their names
        #[arg(required = true, value_name = "HOST")]
        hosts: Vec<Agent>,
        /// Only for user, project or managed; without it, for the user and this project
        #[arg(long)]
        scope: Option<Scope>,
    },
    /// Write a plugin for Claude Code, for those who install by plugin
    Plugin {
        /// A directory that does not exist yet
        dir: PathBuf,
        /// restrict, grant, both or ask; without it, the configuration decides
        #[arg(long)]
        mode: Option<Mode>,
    },
}

impl Hosts {
    /// Whether the answer may contain lines of a file.
    pub fn shows_files(&self) -> bool {
        matches!(
            self.change,
            Some(Connecting::Add { .. } | Connecting::Remove { .. })
        )
    }

    /// Shows the hosts, or connects or disconnects some.
    pub fn run(&self, facts: &Facts, common: Common, caller: Caller, screen: Screen) -> Answer {
        match &self.change {
            None => Ok(rows::show(facts, common, screen)?),
            Some(Connecting::Add { hosts, scope, mode }) => {
                connect::add(facts, common, caller, (hosts, *scope, *mode))
            }
            Some(Connecting::Remove { hosts, scope }) => {
                connect::remove(facts, common, caller, hosts, *scope)
            }
            Some(Connecting::Plugin { dir, mode }) => {
                plugin::write(facts, common, caller, dir, *mode)
            }
        }
    }
}
