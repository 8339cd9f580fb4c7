//! The entry point of this room: where skills are installed, how long operations may take, what a
//! person gives besides a reference, and the callbacks that ask and inform them.

use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use serde::Serialize;

use crate::marketplace::fetch::{Fetcher, Git, Permit, Programs, patience};
use crate::marketplace::install::{Plan, Staging, Transaction, clean};
use crate::marketplace::lock::{LockEntry, Lockfile};
use crate::marketplace::prelude::*;
use crate::marketplace::verification::SignatureChecker;

/// Installs, updates and removes skills in one plugin directory.
#[derive(Clone)]
pub struct Market<'a> {
    /// Contains `skills/`, `skills.lock.json`, `staging/`, `previous/` and `stash/`: the plugin
    /// directory, or a project's `.chibi`.
    pub plugin_dir: &'a Base,
    /// Contains the cache and the configured sources, shared by all scopes.
    pub home: &'a Path,
    /// The environment for git, and the home and working directory for local references.
    pub env: &'a Env,
    /// When the result is needed. `None` for a person at a terminal; then only each git command has
    /// a limit ([`crate::sys::limits::GIT_SECONDS`]).
    pub deadline: Option<Instant>,
    /// Whether only cached data may be used.
    pub offline: bool,
    /// Replaces `https://github.com/`, if given.
    pub mirror: Option<String>,
    /// Receives the progress of a long transfer.
    pub progress: Option<fn(&str)>,
    /// Which sources may be contacted.
    pub permit: Rc<Permit<'a>>,
    /// What is required of signatures, and whose are known.
    pub signing: Rc<SignatureChecker<'a>>,
    /// Whether everything is done except the changes themselves (`--dry-run`).
    pub dry_run: bool,
}

impl Market<'_> {
    /// The same market; in a dry run, one in which nothing changes.
    #[must_use]
    pub fn dry(self, dry_run: bool) -> Self {
        Self { dry_run, ..self }
    }

    /// The source of an installed skill; `None` for one put there by hand.
    ///
    /// # Errors
    /// When the lockfile exists but cannot be read.
    pub fn origin(&self, name: &str) -> Result<Option<LockEntry>> {
        Ok(Lockfile::read(self.plugin_dir)?.get(name).cloned())
    }

    /// All installed skills, without those put there by hand.
    ///
    /// # Errors
    /// As [`Market::origin`].
    pub fn entries(&self) -> Result<Vec<LockEntry>> {
        Ok(Lockfile::read(self.plugin_dir)?.entries().to_vec())
    }

    /// Completes or undoes what killed commands left unfinished, and removes their leftovers. Files
    /// of running commands are not touched. Install, update and remove begin with this.
    pub fn clean_litter(&self) {
        if !self.dry_run {
            clean(self.plugin_dir, self.plugin_dir.path() == self.home);
        }
    }

    /// A directory in which changes are prepared. What is fetched for a project goes to the user's
    /// own directory as well, because no program may run in a directory that the project supplies.
    pub(super) fn staging(&self) -> Result<Staging> {
        if self.dry_run {
            return self.home_staging();
        }
        let mut staging = Staging::new(self.plugin_dir, patience(self.deadline))?;
        if self.plugin_dir.path() != self.home {
            staging.scratch = Some(Box::new(self.home_staging()?));
        }
        Ok(staging)
    }

    /// A directory for data that is fetched and inspected, but never installed.
    pub(super) fn home_staging(&self) -> Result<Staging> {
        Staging::new(&Base::own(self.home.to_owned()), patience(self.deadline))
    }

    /// Runs programs in a staging directory.
    pub(super) fn tool<'s>(&'s self, staging: &'s Staging) -> Programs<'s> {
        Programs {
            env: self.env,
            deadline: self.deadline,
            scratch: staging.scratch(),
            progress: None,
        }
    }

    pub(super) fn fetcher<'s>(&'s self, staging: &'s Staging) -> Fetcher<'s> {
        let git = Git::new(Programs {
            progress: self.progress,
            ..self.tool(staging)
        });
        let home = self.home.to_owned();
        let permit = Rc::clone(&self.permit);
        Fetcher::new(git, home, self.offline, self.mirror.clone(), permit)
    }

    /// Begins a command that changes skills: completes what killed ones left, and returns the
    /// lockfile, which this version may change.
    pub(super) fn begin(&self) -> Result<Lockfile> {
        self.clean_litter();
        Lockfile::read(self.plugin_dir)
    }

    /// Waits until other changes to the skills have ended.
    pub(super) fn changes<'s>(&self, staging: &'s Staging) -> Result<Transaction<'s>> {
        let wait = (!self.dry_run).then(|| patience(self.deadline));
        Transaction::begin(self.plugin_dir, staging.dir(), wait)
    }
}

/// What a person gives besides a reference.
#[derive(Clone, Default)]
pub struct InstallOptions<'p> {
    /// Every skill of the source (`--all`).
    pub all: bool,
    /// The source's skills of these names (`--skill a,b`).
    pub skills: Vec<String>,
    /// The name of its directory (`--name`).
    pub name: Option<String>,
    /// How to read the reference (`--reading`).
    pub reading: Option<ReferenceForm>,
    /// Whether the first signer of a source is taken where a known one is required: its user is asked.
    pub takes_first_signer: bool,
    /// Asks which of several skills are meant; without it they are an error.
    pub pick: Option<Pick<'p>>,
    /// Whether this skill is missing, which a chosen one requires: it comes from the same source then,
    /// unless this says why it may not.
    pub is_missing: Option<Missing<'p>>,
}

/// Receives a skill, and says whether it is missing.
pub type Missing<'p> = &'p dyn Fn(&Skill) -> Result<bool>;
/// Receives several skills, and returns the positions of those that are meant.
pub type Pick<'p> = &'p dyn Fn(&[Candidate]) -> Result<Vec<usize>>;
/// Receives what would be installed, and decides.
pub type Confirm<'c> = dyn FnMut(&Plan) -> Result<bool> + 'c;
/// Receives progress notes on how the reference was understood.
pub type Note<'n> = dyn FnMut(&str) + 'n;

/// One of several skills that a reference means.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its directory in the source.
    pub path: String,
    /// Its author's description, unescaped.
    pub description: Option<String>,
    /// The plugin to which the source's manifest assigns it.
    pub plugin: Option<String>,
    /// Whether it is installed from there.
    pub installed: bool,
    /// What `--skill` takes to mean exactly this one.
    #[serde(skip)]
    pub select: String,
}
