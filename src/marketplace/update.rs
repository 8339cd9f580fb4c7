//! Updating installed skills from where they came from. One that was changed by hand is left alone.

use std::collections::HashSet;

use serde::Serialize;

use super::address::{RepoUrl, Rev};
use super::choose::{self, Want};
use super::digest::Digest;
use super::discover::Found;
use super::fetch::{self, Fetcher, Snapshot};
use super::local::LocalDir;
use super::lockfile::{Kind, LockEntry, Lockfile};
use super::market::Market;
use super::plan::{self, Origin};
use super::reference::At;
use super::staging::Staging;
use super::swap::{self, Changes, Existing};
use crate::error::{Error, Result};
use crate::skill::SkillName;

/// What became of one installed skill.
#[derive(Debug, Clone, Serialize)]
pub struct Updated {
    /// Its directory's name.
    pub name: String,
    /// See [`Change`].
    pub change: Change,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Change {
    /// It is what its source has.
    UpToDate,
    /// It was replaced.
    Updated {
        /// The commit it was.
        from: Option<String>,
        /// The commit it is.
        to: Option<String>,
        /// What was left out of it and why, a sentence each.
        dropped: Vec<String>,
    },
    /// It was left as it is.
    Kept {
        /// Why, as an error's message.
        reason: String,
        /// The next step.
        hint: Option<String>,
    },
}

impl Market<'_> {
    /// Updates the skills named, or all that the lockfile knows. One that fails does not keep the
    /// others from being updated.
    ///
    /// # Errors
    /// When a name is not that of an installed skill, or the lockfile must not be changed.
    pub fn update(&self, names: &[String], note: &mut dyn FnMut(&str)) -> Result<Vec<Updated>> {
        self.clean_litter();
        let lockfile = Lockfile::read(self.plugin_dir)?;
        lockfile.check_writable()?;
        let directories = if names.is_empty() {
            let managed = |name: &String| lockfile.get(name).is_some();
            self.directories().into_iter().filter(managed).collect()
        } else {
            let mut seen = HashSet::new();
            let directories = names.iter().map(|name| self.installed(name));
            let mut directories = directories.collect::<Result<Vec<_>>>()?;
            directories.retain(|name| seen.insert(name.clone()));
            directories
        };
        let staging = Staging::new(self.plugin_dir, self.patience())?;
        let mut fetcher = self.fetcher(&staging);
        let mut results = Vec::new();
        for name in directories {
            note(&format!("checking `{name}`"));
            let change = match lockfile.get(&name) {
                Some(entry) => self.update_one(entry, &staging, &mut fetcher),
                None => Err(Error::new(format!("nobody knows where `{name}` came from"))
                    .hint("remove it and install it from its source")),
            };
            let change = change.unwrap_or_else(|error| Change::Kept {
                reason: error.to_string(),
                hint: error.next_step().map(str::to_owned),
            });
            results.push(Updated { name, change });
        }
        Ok(results)
    }

    fn update_one(
        &self,
        entry: &LockEntry,
        staging: &Staging,
        fetcher: &mut Fetcher,
    ) -> Result<Change> {
        match entry.kind {
            Kind::Git => {
                let url = RepoUrl::parse(&entry.source)?;
                let at = match &entry.rev {
                    Some(rev) => At::Rev(Rev::parse(rev)?),
                    None => At::Default,
                };
                let resolved = fetcher.resolve(&url, &at)??;
                if Some(&resolved.commit) == entry.commit.as_ref() {
                    return Ok(Change::UpToDate);
                }
                let snapshot = fetcher.snapshot(&url, &resolved.commit)?;
                self.bring(entry, &snapshot, Some(resolved.commit), staging)
            }
            Kind::Local => {
                let dir = LocalDir::open(&entry.source, self.env)?;
                self.bring(entry, &fetch::local(dir)?, None, staging)
            }
        }
    }

    /// Brings an installed skill to the state of `snapshot`.
    fn bring(
        &self,
        entry: &LockEntry,
        snapshot: &Snapshot,
        commit: Option<String>,
        staging: &Staging,
    ) -> Result<Change> {
        let found = find_again(entry, snapshot)?;
        let name = SkillName::from_written(&entry.name)
            .filter(|name| name.as_str() == entry.name)
            .ok_or_else(|| {
                Error::new(format!(
                    "the lockfile has the name `{}`",
                    entry.name.escape_debug()
                ))
                .hint("repair the lockfile")
            })?;
        let origin = Origin {
            source: entry.source.clone(),
            kind: entry.kind,
            requested: entry.requested.clone(),
            rev: entry.rev.clone(),
            commit: commit.clone(),
        };
        let dir = staging.dir().join("new").join(name.as_str());
        let mut staged = plan::stage(snapshot, found, &origin, &name, dir)?;
        staged.entry.other.clone_from(&entry.other);
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        if changes.lockfile().get(&entry.name) != Some(entry) {
            return Err(
                Error::new(format!("another command has changed `{name}`")).hint("try again")
            );
        }
        if staged.entry.sha256 == entry.sha256 {
            changes.note(staging, staged.entry)?;
            return Ok(Change::UpToDate);
        }
        let installed = swap::skills(self.plugin_dir).join(&entry.name);
        if Digest::of(&installed)?.sha256 != entry.sha256 {
            let text = format!(
                "`{name}` was changed after it was installed, and its source has changed, too"
            );
            let hint =
                format!("save your changes, `agent-skills remove {name}`, and install it again");
            return Err(Error::new(text).hint(hint));
        }
        changes.place(staging, &staged.dir, staged.entry, Existing::Replace)?;
        Ok(Change::Updated {
            from: entry.commit.clone(),
            to: commit,
            dropped: staged.planned.dropped,
        })
    }
}

/// The skill at the path it had, else the one of its name.
fn find_again<'s>(entry: &LockEntry, snapshot: &'s Snapshot) -> Result<&'s Found> {
    if let Some(found) = snapshot.found.iter().find(|found| found.path == entry.path) {
        return Ok(found);
    }
    let named = choose::choose(
        &snapshot.found,
        &Want::Named(entry.name.clone()),
        &[],
        false,
    );
    let moved = named
        .ok()
        .and_then(|found| found.first().map(|found| found.path.clone()));
    let text = format!("{} no longer has a skill at `{}`", entry.source, entry.path);
    Err(Error::new(text).hint(match moved {
        Some(path) => {
            format!("it seems to be at `{path}` now: remove it and install it from there")
        }
        None => "it stays as it is; `agent-skills remove` removes it".to_owned(),
    }))
}
