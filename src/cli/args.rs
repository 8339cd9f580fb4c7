//! The command line, as clap sees it.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::author_args::{New, Pack, Simulate, Try, Validate};
use super::check::Check;
use super::history::HistoryOf;
use super::options::{
    AuditFilter, Catalogue, ConfigVerb, Consent, Doctor, Install, Listing, Scope, Shell, Sources,
    Update, Wanted,
};
use super::proposals::ProposalVerb;
use super::trust::{Meant, TrustOf};
use crate::skill::Severity;

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
    /// Install skills from a git repository, an archive, a site or a local directory
    Install(Install),
    /// Remove an installed skill
    Remove {
        /// NAME, or OWNER/NAME
        name: String,
        #[command(flatten)]
        scope: Scope,
    },
    /// Update installed skills from their sources
    Update(Update),
    /// List installed skills that have a newer version
    Outdated {
        /// Names of skills; all if omitted
        names: Vec<String>,
        #[command(flatten)]
        scope: Scope,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Restore the state before the last update or approved proposal
    Rollback {
        /// The skill's name
        name: String,
        #[command(flatten)]
        scope: Scope,
    },
    /// Show the installed version of a skill, the available ones, and what changed
    History(HistoryOf),
    /// Review changes to skills that a model proposes
    #[command(subcommand)]
    Proposals(ProposalVerb),
    /// Compare installed skills with the lockfile
    Verify {
        /// Names of skills; all if omitted
        names: Vec<String>,
        #[command(flatten)]
        scope: Scope,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Link to a skill's working copy, for its author
    Link {
        /// The directory with SKILL.md
        dir: PathBuf,
        /// The name to install it under
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        scope: Scope,
    },
    /// Install the skills in another program's lock file
    ImportLock {
        /// skills-lock.json, .skill-lock.json, .openskills.json, or a directory with them
        #[arg(default_value = ".")]
        path: PathBuf,
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        scope: Scope,
    },
    /// Scan a skill for dangerous content
    Scan {
        /// A directory, a reference, or the name of an installed skill
        target: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Fail on findings of this severity or worse
        #[arg(long, value_name = "SEVERITY")]
        fail_on: Option<Severity>,
        /// Use cached data, without the network
        #[arg(long)]
        offline: bool,
    },
    /// Show a skill without installing it
    Show {
        #[command(flatten)]
        wanted: Wanted,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a file of a skill without installing it
    Cat {
        /// REFERENCE:PATH
        file: String,
        /// Use cached data, without the network
        #[arg(long)]
        offline: bool,
    },
    /// Configure where `list`, `search` and bare names look for skills
    #[command(subcommand)]
    Sources(Sources),
    /// List the skills that can be installed
    List(Catalogue),
    /// List the installed skills and their problems
    #[command(alias = "list_installed")]
    ListInstalled(Listing),
    /// Search the installed skills by name, tag and description
    #[command(alias = "search_installed")]
    SearchInstalled {
        /// Words to look for
        #[arg(required = true)]
        words: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Activate a skill (only works in a conversation)
    Use {
        /// The skill's name
        name: String,
        /// Input for the skill
        query: Vec<String>,
    },
    /// Search the skills that can be installed
    Search {
        /// Words to look for
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        catalogue: Catalogue,
    },
    /// Deactivate skills in running chibi processes and in stored conversations, restrictions
    /// included
    Deactivate {
        /// Only in this conversation
        #[arg(long, value_name = "NAME")]
        context: Option<String>,
    },
    /// List scripts and installs that outlasted their call, or follow one
    Jobs {
        /// Follow this job's output
        #[arg(long, value_name = "ID")]
        follow: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Explain whether a tool call would be allowed while a skill is active (exit 1 if not)
    Check(Check),
    /// Show everything about one installed skill
    Info {
        /// The skill's name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the files of one installed skill
    Tree {
        /// The skill's name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find problems and their remedies (exit 1 if something is broken)
    Doctor(Doctor),
    /// Print the completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
    /// Complete a command line; called by the shells
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The words so far; the last one is completed
        #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
        words: Vec<String>,
    },
    /// Trust a project's skills and configuration in their current state
    Trust(TrustOf),
    /// Stop trusting a project's skills and configuration
    Untrust(Meant),
    /// Approve a skill's current state, where the policy requires that
    Approve {
        /// The skill's name
        name: String,
    },
    /// Show a skill to the model
    Enable {
        /// The skill's name
        name: String,
        /// Show only its name
        #[arg(long)]
        name_only: bool,
    },
    /// Hide a skill from the model and from people
    Disable {
        /// The skill's name
        name: String,
        /// Hide it from the model only
        #[arg(long)]
        user: bool,
    },
    /// Write a new skill
    New(New),
    /// Check skills and suggest remedies (exit 1 if there is an error)
    Validate(Validate),
    /// Print a skill's properties as JSON, as the specification's reference tool does
    ReadProperties {
        /// A skill's directory or its SKILL.md
        path: PathBuf,
    },
    /// Print the catalog block of skills, as the specification's reference tool does
    ToPrompt {
        /// Skills' directories or their SKILL.md
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Print exactly what the model receives when it activates a skill
    Try(Try),
    /// Play conversations with skills and compare the answers with the expected ones
    Simulate(Simulate),
    /// Pack a skill into a .zip, byte-identical on every machine
    Package(Pack),
    /// Show recorded events
    Audit(AuditFilter),
    /// Show how often skills are used, and with what result
    Stats {
        /// Start of the period: 2h, 7d, 2026-11-21
        #[arg(long)]
        since: Option<String>,
        /// Print JSON
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
