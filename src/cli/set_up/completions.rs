//! `completions`: the script that a shell loads. It asks the hidden verb `__complete`.

use std::collections::BTreeMap;

use clap::ValueEnum;

use crate::cli::json;
use crate::cli::options::Common;
use crate::error::Result;

/// Print the completion script for a shell
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// The supported shells.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    /// Bash 4 or later
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

impl Completions {
    /// The script.
    pub fn run(&self, common: Common) -> Result<String> {
        let script = match self.shell {
            Shell::Bash => include_str!("complete/agent-skills.bash"),
            Shell::Zsh => include_str!("complete/agent-skills.zsh"),
            Shell::Fish => include_str!("complete/agent-skills.fish"),
        };
        if common.json {
            return json::one(&BTreeMap::from([("script", script)]));
        }
        Ok(script.to_owned())
    }
}
