//! The options of single verbs, as clap sees them.

use crate::catalog::Layer;
use crate::marketplace::As;
use clap::{Args, Subcommand, ValueEnum};

/// Which events to show.
#[derive(Debug, Args)]
pub struct AuditFilter {
    /// Start of the period: 2h, 7d, 2026-11-21
    #[arg(long)]
    pub since: Option<String>,
    /// Only of this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// Only of this kind: activate, end, tool, script, install, update, rollback, remove, trust,
    /// untrust, approve, proposal
    #[arg(long)]
    pub event: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The `config` commands.
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
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show where the files are
    Path,
}

/// Which installation a command works on.
#[derive(Debug, Clone, Copy, Args)]
pub struct Scope {
    /// That of the project, like --layer project: .chibi/skills and .chibi/skills.lock.json
    #[arg(long, conflicts_with = "layer")]
    pub project: bool,
    /// The layer: enterprise, personal, project or plugin
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

/// Consent without asking.
#[derive(Debug, Clone, Copy, Args)]
pub struct Consent {
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Continue despite scan findings of severity high or block
    #[arg(long)]
    pub accept_findings: bool,
}

/// A reference and how it is understood.
#[derive(Debug, Args)]
pub struct Wanted {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory
    pub reference: String,
    /// How to interpret the reference
    #[arg(long, value_enum)]
    pub reading: Option<Reading>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
}

/// Arguments of `install`.
#[derive(Debug, Args)]
pub struct Install {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory;
    /// restores from the lockfile if omitted
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
    /// Install it under this name if another skill has its own
    #[arg(long, requires = "reference")]
    pub name: Option<String>,
    /// How to interpret the reference
    #[arg(long, value_enum, requires = "reference")]
    pub reading: Option<Reading>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    /// Restore exactly what the lockfile says, or fail
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
    /// Names of skills; all if omitted
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
    /// Like --force, but keep a copy of the changed skills
    #[arg(long)]
    pub stash: bool,
    /// Also update to a commit that does not follow the installed one
    #[arg(long)]
    pub allow_downgrade: bool,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    #[command(flatten)]
    pub scope: Scope,
}

/// The `sources` commands.
#[derive(Debug, Subcommand)]
pub enum Sources {
    /// Add a repository, a directory, a site or the address of a marketplace.json
    Add {
        /// Its address or path
        reference: String,
        /// The name after `@` in SKILL@SOURCE
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
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch the current list of every source
    Update,
}

/// How to interpret a reference.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Reading {
    /// A git repository
    Repo,
    /// A name in an owner's repositories or the configured sources
    Registry,
    /// A local path
    Path,
    /// A web address
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

/// Options of the verbs that show installable skills.
#[derive(Debug, Args)]
pub struct Catalogue {
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    /// The order
    #[arg(long, value_enum)]
    pub sort: Option<SortAvailable>,
    /// Show whole descriptions and sources
    #[arg(long, short)]
    pub long: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The order of installable skills; by default that of the sources.
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
    /// The order
    #[arg(long, value_enum)]
    pub sort: Option<SortInstalled>,
    /// Show descriptions, directories and problems in full
    #[arg(long, short)]
    pub long: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The order of installed skills; `layer` by default.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SortInstalled {
    /// By name
    Name,
    /// By precedence of their layers
    Layer,
    /// By source
    Source,
    /// Most tokens first
    Tokens,
    /// Most severe problems first
    Problems,
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

/// Options of `doctor`.
#[derive(Debug, Clone, Copy, Args)]
pub struct Doctor {
    /// Repair what needs no decision of yours
    #[arg(long)]
    pub fix: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
