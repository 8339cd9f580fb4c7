//! The command line, as clap sees it.

use clap::{Args, Parser, Subcommand};

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
    },
    /// Bring installed skills up to date with where they came from
    Update {
        /// The skills' names; all if none is given
        names: Vec<String>,
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
    /// Tell everything about one installed skill
    Info {
        /// The skill's name
        name: String,
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
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
