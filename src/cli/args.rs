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
    /// Bring installed skills up to date with where they came from
    Update(Update),
    /// Tell which installed skills have something newer
    Outdated {
        /// The skills' names; all if none is given
        names: Vec<String>,
        #[command(flatten)]
        scope: Scope,
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Put the state before the last update or approved proposal back
    Rollback {
        /// The skill's name
        name: String,
        #[command(flatten)]
        scope: Scope,
    },
    /// Tell which version of a skill is in use, which there are, and what changed
    History(HistoryOf),
    /// Decide about what a model proposes to change in skills
    #[command(subcommand)]
    Proposals(ProposalVerb),
    /// Compare installed skills with the lockfile
    Verify {
        /// The skills' names; all if none is given
        names: Vec<String>,
        #[command(flatten)]
        scope: Scope,
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep a link to the skill in a directory, for its author
    Link {
        /// The directory with SKILL.md
        dir: PathBuf,
        /// What it is to be called
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        scope: Scope,
    },
    /// Install what another program's lock file names
    ImportLock {
        /// skills-lock.json, .skill-lock.json, .openskills.json, or a directory with them
        #[arg(default_value = ".")]
        path: PathBuf,
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        scope: Scope,
    },
    /// Look for what a skill should not have
    Scan {
        /// A directory, a reference, or the name of an installed skill
        target: String,
        /// Answer JSON
        #[arg(long)]
        json: bool,
        /// Fail if there is a finding of this severity or worse
        #[arg(long, value_name = "SEVERITY")]
        fail_on: Option<Severity>,
        /// Use what was fetched before, without the network
        #[arg(long)]
        offline: bool,
    },
    /// Show a skill without installing it
    Show {
        #[command(flatten)]
        wanted: Wanted,
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a file of a skill without installing it
    Cat {
        /// REFERENCE:PATH
        file: String,
        /// Use what was fetched before, without the network
        #[arg(long)]
        offline: bool,
    },
    /// Configure where `list`, `search` and bare names look
    #[command(subcommand)]
    Sources(Sources),
    /// List the skills that can be installed
    List(Catalogue),
    /// List the installed skills and what is odd about them
    #[command(alias = "list_installed")]
    ListInstalled(Listing),
    /// Search the installed skills by name, tag and description
    #[command(alias = "search_installed")]
    SearchInstalled {
        /// Words to look for
        #[arg(required = true)]
        words: Vec<String>,
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Activate a skill, which takes a conversation
    Use {
        /// The skill's name
        name: String,
        /// What it is applied to
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
    /// End what is active in chibi processes that run now and what is kept for conversations,
    /// restrictions included
    Deactivate {
        /// Only in this conversation
        #[arg(long, value_name = "NAME")]
        context: Option<String>,
    },
    /// List scripts and installs that outlasted their call, or follow one
    Jobs {
        /// Show this job's output as it comes
        #[arg(long, value_name = "ID")]
        follow: Option<String>,
        /// Answer JSON
        #[arg(long)]
        json: bool,
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
    /// Show the files of one installed skill
    Tree {
        /// The skill's name
        name: String,
        /// Answer JSON
        #[arg(long)]
        json: bool,
    },
    /// Find what is wrong, and what to do about it (exit 1 if something is broken)
    Doctor(Doctor),
    /// Print what makes a shell complete commands and skills' names
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
    /// What could come next on a command line; for the shells
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The words so far; the last one is completed
        #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
        words: Vec<String>,
    },
    /// Let a project's skills and configuration count, as they are now
    Trust(TrustOf),
    /// Let a project's skills and configuration no longer count
    Untrust(Meant),
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
    /// Write a new skill
    New(New),
    /// Check skills, and say what to do about each finding (exit 1 if there is an error)
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
    /// Print exactly what the model gets when it activates a skill
    Try(Try),
    /// Play conversations with skills, and compare the answers with what is expected
    Simulate(Simulate),
    /// Pack a skill into a .zip, the same bytes on every machine
    Package(Pack),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
