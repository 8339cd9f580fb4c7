//! The room's door: one value that knows where skills are installed and how long it may take.

use std::path::Path;
use std::time::{Duration, Instant};

use super::fetch::Fetcher;
use super::git::Git;
use super::lockfile::{LockEntry, Lockfile};
use super::staging::{self, Staging};
use super::tool::Tool;
use crate::error::Result;
use crate::sys::{Base, Env, limits};

/// Getting, updating and removing skills in one plugin directory.
#[derive(Debug, Clone)]
pub struct Market<'a> {
    /// Holds `skills/`, `skills.lock.json`, `staging/` and `previous/`: the plugin directory, or a
    /// project's `.chibi`.
    pub plugin_dir: &'a Base,
    /// What was fetched, and the configured sources: the same for every scope.
    pub home: &'a Path,
    /// What git inherits; also the home and working directory that local references start from.
    pub env: &'a Env,
    /// When the answer must be there. None for a person at a terminal, where only each git
    /// command is bounded ([`limits::GIT_SECONDS`]).
    pub deadline: Option<Instant>,
    /// Use what was fetched before, and no network.
    pub offline: bool,
    /// Stands in for `https://github.com/`, if given.
    pub mirror: Option<String>,
    /// Is told how far a long transfer is.
    pub progress: Option<fn(&str)>,
}

impl Market<'_> {
    /// Where an installed skill came from; `None` for one that was put there by hand.
    ///
    /// # Errors
    /// When the lockfile is there and cannot be read.
    pub fn origin(&self, name: &str) -> Result<Option<LockEntry>> {
        Ok(Lockfile::read(self.plugin_dir)?.get(name).cloned())
    }

    /// Everything that was installed and not put there by hand.
    ///
    /// # Errors
    /// As [`Market::origin`].
    pub fn entries(&self) -> Result<Vec<LockEntry>> {
        Ok(Lockfile::read(self.plugin_dir)?.entries().to_vec())
    }

    /// Finishes or undoes what killed commands left half done and removes their leftovers. What
    /// running commands use is not touched. Install, update and remove begin with this.
    pub fn clean_litter(&self) {
        staging::clean(self.plugin_dir);
    }

    /// How many directories killed commands left behind.
    pub fn litter(&self) -> usize {
        staging::litter(self.plugin_dir)
    }

    /// A place to prepare changes in. What is fetched for a project is fetched into the user's own
    /// directory: no program of theirs runs in one that the project brings.
    pub(super) fn staging(&self) -> Result<Staging> {
        let staging = Staging::new(self.plugin_dir, self.patience())?;
        if self.plugin_dir.path() == self.home {
            return Ok(staging);
        }
        Ok(staging.with_scratch(self.home_staging()?))
    }

    /// A place for what is fetched and looked at, and never moved into place.
    pub(super) fn home_staging(&self) -> Result<Staging> {
        Staging::new(&Base::own(self.home.to_owned()), self.patience())
    }

    pub(super) fn fetcher<'s>(&'s self, staging: &'s Staging) -> Fetcher<'s> {
        let git = Git(self.tool(staging));
        Fetcher::new(git, self.home.to_owned(), self.offline, self.mirror.clone())
    }

    pub(super) fn tool<'s>(&'s self, staging: &'s Staging) -> Tool<'s> {
        Tool {
            env: self.env,
            deadline: self.deadline,
            scratch: staging.scratch(),
            progress: self.progress,
        }
    }

    /// How long other changes to the skills are waited for.
    pub(super) fn patience(&self) -> Duration {
        let left = self
            .deadline
            .map(|d| d.saturating_duration_since(Instant::now()));
        left.unwrap_or(limits::INSTALL_LOCK)
            .min(limits::INSTALL_LOCK)
    }
}
