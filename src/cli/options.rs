//! The options of single verbs, as clap sees them.

use crate::catalog::Layer;
use crate::marketplace::As;
use clap::{Args, Subcommand, ValueEnum};

/// Which events.
#[derive(Debug, Args)]
pub struct AuditFilter {
    /// Since when: 2h, 7d, 2026-11-21
    #[arg(long)]
    pub since: Option<String>,
    /// Of this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// Of this kind: activate, end, tool, script, install, update, rollback, remove, trust, untrust,
    /// approve, proposal
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

/// Which skills are meant.
#[derive(Debug, Clone, Copy, Args)]
pub struct Scope {
    /// Those of the project, as --layer project: .chibi/skills and .chibi/skills.lock.json
    #[arg(long, conflicts_with = "layer")]
    pub project: bool,
    /// Whose: enterprise, personal, project or plugin
    #[arg(long)]
    layer: Option<Layer>,
}

impl Scope {
    /// The selected layer.
    pub fn layer(self) -> Layer {
        match self.layer {
            Some(layer) => layer,
            None if self.project => Layer::Project,
            None => Layer::Plugin,
        }
    }

    /// Whether no option was given.
    pub fn is_default(self) -> bool {
        self.layer.is_none() && !self.project
    }
}

/// How consent is given where nobody is asked.
#[derive(Debug, Clone, Copy, Args)]
pub struct Consent {
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Go on although the scan found something of severity high or block
    #[arg(long)]
    pub accept_findings: bool,
}

/// A reference and how it is understood.
#[derive(Debug, Args)]
pub struct Wanted {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory
    pub reference: String,
    /// What the reference is to be taken for
    #[arg(long, value_enum)]
    pub reading: Option<Reading>,
    /// Use what was fetched before, without the network
    #[arg(long)]
    pub offline: bool,
}

/// Arguments of `install`.
#[derive(Debug, Args)]
pub struct Install {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory; without
    /// one, what the lockfile says is restored
    pub reference: Option<String>,
    #[command(flatten)]
    pub consent: Consent,
    /// Install every skill of the repository
    #[arg(long, conflicts_with = "skill", requires = "reference")]
    pub all: bool,
    /// Install these skills of the repository
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "reference"
    )]
    pub skill: Vec<String>,
    /// Call it so, where another skill has its name
    #[arg(long, requires = "reference")]
    pub name: Option<String>,
    /// What the reference is to be taken for
    #[arg(long, value_enum, requires = "reference")]
    pub reading: Option<Reading>,
    /// Use what was fetched before, without the network
    #[arg(long)]
    pub offline: bool,
    /// Restore exactly what the lockfile says, or nothing
    #[arg(long, conflicts_with = "reference")]
    pub frozen: bool,
    #[command(flatten)]
    pub scope: Scope,
}

/// Arguments of `update`.
#[derive(Debug, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct Update {
    /// The skills' names; all if none is given
    pub names: Vec<String>,
    #[command(flatten)]
    pub consent: Consent,
    /// Change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Show the difference line by line
    #[arg(long)]
    pub diff: bool,
    /// Replace skills that were changed by hand
    #[arg(long)]
    pub force: bool,
    /// The same, with a copy of the changed ones kept
    #[arg(long)]
    pub stash: bool,
    /// Update also to a commit that does not follow the installed one
    #[arg(long)]
    pub allow_downgrade: bool,
    /// Use what was fetched before, without the network
    #[arg(long)]
    pub offline: bool,
    #[command(flatten)]
    pub scope: Scope,
}

/// What can be done with sources.
#[derive(Debug, Subcommand)]
pub enum Sources {
    /// Add a repository, a directory, a site or the address of a marketplace.json
    Add {
        /// Where it is
        reference: String,
        /// What stands behind `@` in SKILL@SOURCE
        #[arg(long)]
        name: Option<String>,
    },
    /// Remove a source; what was installed from it stays
    Remove {
        /// Its name
        name: String,
    },
    /// List the sources
    List {
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask every source what it has now
    Update,
}

/// What a reference is taken for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Reading {
    /// A git repository
    Repo,
    /// A name in an owner's or the configured sources
    Registry,
    /// A path of this machine
    Path,
    /// An address on the web
    Url,
}

impl From<Reading> for As {
    fn from(reading: Reading) -> Self {
        match reading {
            Reading::Repo => Self::Repository,
            Reading::Registry => Self::Registry,
            Reading::Path => Self::Path,
            Reading::Url => Self::Url,
        }
    }
}

/// Options of the verbs that look at what can be installed.
#[derive(Debug, Args)]
pub struct Catalogue {
    /// Use what was fetched before, without the network
    #[arg(long)]
    pub offline: bool,
    /// In which order
    #[arg(long, value_enum)]
    pub sort: Option<SortAvailable>,
    /// Descriptions and sources in full
    #[arg(long, short)]
    pub long: bool,
    /// Answer JSON
    #[arg(long)]
    pub json: bool,
}

/// The order of what can be installed; the sources' own if none is chosen.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SortAvailable {
    /// By name
    Name,
    /// By source, then name
    Source,
}

/// Options of `list-installed`.
#[derive(Debug, Args)]
pub struct Listing {
    /// In which order
    #[arg(long, value_enum)]
    pub sort: Option<SortInstalled>,
    /// With descriptions, directories and problems in full
    #[arg(long, short)]
    pub long: bool,
    /// Answer JSON
    #[arg(long)]
    pub json: bool,
}

/// The order of what is installed; `layer` if none is chosen.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SortInstalled {
    /// By name
    Name,
    /// The layer that comes first, first
    Layer,
    /// By where they came from
    Source,
    /// The costliest first
    Tokens,
    /// The worst first
    Problems,
}

/// The shells that are known.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    /// Bash 4 or later
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

/// Options of `doctor`.
#[derive(Debug, Clone, Copy, Args)]
pub struct Doctor {
    /// Repair what can be repaired without a decision of yours
    #[arg(long)]
    pub fix: bool,
    /// Answer JSON
    #[arg(long)]
    pub json: bool,
}
