//! The command line, as clap sees it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::check::Check;
use crate::catalog::Layer;

/// Agent Skills for chibi: find, install and check skills.
#[derive(Debug, Parser)]
#[command(name = "agent-skills", version, disable_help_subcommand = true)]
#[command(after_help = "From chibi: chibi -p agent-skills \"install owner/skill\"")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Install skills from a git repository or a local directory
    Install(Install),
    /// Remove an installed skill
    Remove {
        /// NAME, or OWNER/NAME
        name: String,
        /// Whose skill: enterprise, personal, project or plugin
        #[arg(long, default_value = "plugin")]
        layer: Layer,
    },
    /// Bring installed skills up to date with where they came from
    Update {
        /// The skills' names; all if none is given
        names: Vec<String>,
        /// Whose skills: enterprise, personal, project or plugin
        #[arg(long, default_value = "plugin")]
        layer: Layer,
    },
    /// List the skills that can be installed
    List(Catalogue),
    /// List the installed skills and what is odd about them
    #[command(alias = "list_installed")]
    ListInstalled {
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Search the skills that can be installed
    Search {
        /// Words to look for
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        catalogue: Catalogue,
    },
    /// Explain whether a tool call would be allowed while a skill is active (exit 1 if not)
    Check(Check),
    /// Tell everything about one installed skill
    Info {
        /// The skill's name
        name: String,
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a project's skills and configuration count, as they are now
    Trust {
        /// A directory of the project; the working directory if none is given
        dir: Option<PathBuf>,
        /// Also when they change
        #[arg(long)]
        always: bool,
        /// Only list what is trusted
        #[arg(long, conflicts_with_all = ["dir", "always"])]
        list: bool,
    },
    /// Let a project's skills and configuration no longer count
    Untrust {
        /// A directory of the project; the working directory if none is given
        dir: Option<PathBuf>,
    },
    /// Approve a skill as it is now, where the policy requires that
    Approve {
        /// The skill's name
        name: String,
    },
    /// Let the model see a skill
    Enable {
        /// The skill's name
        name: String,
        /// Show it the name only
        #[arg(long)]
        name_only: bool,
    },
    /// Keep a skill from the model and from people
    Disable {
        /// The skill's name
        name: String,
        /// Keep it from the model only
        #[arg(long)]
        user: bool,
    },
    /// Show what happened
    Audit(AuditFilter),
    /// Show how often skills are used, and how that went
    Stats {
        /// Since when: 2h, 7d, 2026-11-21
        #[arg(long)]
        since: Option<String>,
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Show or change the configuration
    Config {
        /// What to do
        #[command(subcommand)]
        verb: ConfigVerb,
    },
}

/// Which events.
#[derive(Debug, Args)]
pub struct AuditFilter {
    /// Since when: 2h, 7d, 2026-11-21
    #[arg(long)]
    pub since: Option<String>,
    /// Of this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// Of this kind: activate, end, tool, script, install, update, remove, trust, untrust, approve
    #[arg(long)]
    pub event: Option<String>,
    /// Answer JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be done with the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigVerb {
    /// Show one value and where it comes from
    Get {
        /// KEY or TABLE.KEY
        key: String,
    },
    /// Change a value in config.toml
    Set {
        /// KEY or TABLE.KEY
        key: String,
        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Show every value and where it comes from
    List {
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Show where the files are
    Path,
}

/// Arguments of `install`.
#[derive(Debug, Args)]
pub struct Install {
    /// owner/skill, owner/repo@skill, owner/repo/path, a git URL, or a local directory
    pub reference: String,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Install every skill of the repository
    #[arg(long, conflicts_with = "skill")]
    pub all: bool,
    /// Install these skills of the repository
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub skill: Vec<String>,
    /// For whom: enterprise, personal, project or plugin
    #[arg(long, default_value = "plugin")]
    pub layer: Layer,
}

/// Options of the verbs that look at what can be installed.
#[derive(Debug, Args)]
pub struct Catalogue {
    /// Use what was fetched before, without the network
    #[arg(long)]
    pub offline: bool,
    /// Answer JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
