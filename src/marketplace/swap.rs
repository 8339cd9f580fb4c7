//! The moment of change: a staged skill takes its place in `skills/`, or one is taken away, and
//! the lockfile says so. A journal in the staging directory lets the next command finish what a
//! kill interrupts: the skill's own move is the deciding step, and the lockfile follows it.
//!
//! 1. the journal says which entry the lockfile will have;
//! 2. the directory moves: by one rename, or one exchange of old and new; where the system has no
//!    exchange, by two renames, of which the first is undone if the second never came;
//! 3. the lockfile is replaced;
//! 4. the journal is removed.
//!
//! All of it happens under the install lock, and so does recovery.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::lockfile::{Kind, LockEntry, Lockfile};
use super::staging::Staging;
use crate::error::{Error, Result};
use crate::sys::{FileLock, files, limits};

#[derive(Serialize, Deserialize)]
struct Journal {
    /// The directory in `skills/`.
    name: String,
    /// The entry it will have; none for a removal, and for a skill that came from no source.
    entry: Option<LockEntry>,
    /// The digest of the directory that will be there, which a rollback may bring in a state that
    /// differs from its entry; none for a removal, and for a link.
    placed: Option<String>,
}

/// What to do when a skill of that name is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it.
    Keep,
    /// Put the new one in its place, if it is still the one with this digest.
    Replace,
}

/// The plugin directory while nobody else changes it.
pub struct Changes<'a> {
    plugin_dir: &'a Path,
    lockfile: Lockfile,
    _lock: FileLock,
}

impl<'a> Changes<'a> {
    /// Waits for other changes to end.
    ///
    /// # Errors
    /// When they take too long, or the lockfile must not be changed.
    pub fn begin(plugin_dir: &'a Path, wait: Duration) -> Result<Self> {
        let lock = FileLock::exclusive(&plugin_dir.join(".install.lock"), wait)?;
        let lockfile = Lockfile::read(plugin_dir)?;
        lockfile.check_writable()?;
        Ok(Self {
            plugin_dir,
            lockfile,
            _lock: lock,
        })
    }

    /// The directory that is changed.
    pub fn plugin_dir(&self) -> &Path {
        self.plugin_dir
    }

    /// The lockfile as it is now.
    pub fn lockfile(&self) -> &Lockfile {
        &self.lockfile
    }

    /// Moves the skill in `staged` to `name`, which has `entry` then: none when it came from no
    /// source. `false` when one is there already and is to be kept.
    ///
    /// # Errors
    /// When anything cannot be written; the old state is then kept or restored.
    pub fn place(
        &mut self,
        staging: &Staging,
        staged: &Path,
        name: &str,
        entry: Option<LockEntry>,
        existing: Existing,
    ) -> Result<bool> {
        let target = target(self.plugin_dir, name)?;
        let is_there = target.symlink_metadata().is_ok();
        if is_there && existing == Existing::Keep {
            return Ok(false);
        }
        let failed = |error: &io::Error| {
            Error::io("move the skill to", &target, error)
                .hint("check the permissions of the skills directory")
        };
        fs::create_dir_all(skills(self.plugin_dir)).map_err(|e| failed(&e))?;
        let placed = match &entry {
            Some(entry) if entry.kind == Kind::Link => None,
            _ => Some(Digest::of(staged)?.sha256),
        };
        write_journal(staging.dir(), name, entry.clone(), placed)?;
        let old = old(staging.dir());
        let moved = if is_there {
            replace(staged, &target, &old)
        } else {
            fs::rename(staged, &target)
        };
        if let Err(error) = moved {
            remove_journal(staging.dir())?;
            return Err(failed(&error));
        }
        let written = match entry {
            Some(entry) => self.lockfile.put(entry, staging.dir()),
            None => self.lockfile.take(name, staging.dir()),
        };
        if let Err(error) = written {
            let _ = if !is_there {
                fs::rename(&target, staged)
            } else if old.exists() {
                fs::rename(&target, staged).and_then(|()| fs::rename(&old, &target))
            } else {
                files::exchange(staged, &target).map(|_| ())
            };
            remove_journal(staging.dir())?;
            return Err(error);
        }
        remove_journal(staging.dir())?;
        Ok(true)
    }

    /// Changes the entry of a skill whose files stay as they are.
    ///
    /// # Errors
    /// When the lockfile cannot be written.
    pub fn note(&mut self, staging: &Staging, entry: LockEntry) -> Result<()> {
        self.lockfile.put(entry, staging.dir())
    }

    /// Takes the skill in the directory `name` away.
    ///
    /// # Errors
    /// When anything cannot be written; the old state is then kept or restored.
    pub fn take_away(&mut self, staging: &Staging, name: &str) -> Result<()> {
        let target = target(self.plugin_dir, name)?;
        let failed = |error: &io::Error| {
            Error::io("remove", &target, error)
                .hint("check the permissions of the skills directory")
        };
        write_journal(staging.dir(), name, None, None)?;
        let gone = staging.dir().join("gone");
        if target.symlink_metadata().is_ok()
            && let Err(error) = fs::rename(&target, &gone)
        {
            remove_journal(staging.dir())?;
            return Err(failed(&error));
        }
        if let Err(error) = self.lockfile.take(name, staging.dir()) {
            let _ = fs::rename(&gone, &target);
            remove_journal(staging.dir())?;
            return Err(error);
        }
        remove_journal(staging.dir())
    }
}

/// Brings what the command of a staging directory left half done to its old or its new state.
///
/// # Errors
/// When that is not possible now; the journal is then kept.
pub fn recover(plugin_dir: &Path, staging: &Path) -> Result<()> {
    if !has_journal(staging) {
        return Ok(());
    }
    let mut changes = Changes::begin(plugin_dir, Duration::ZERO)?;
    let path = journal(staging);
    let bytes =
        files::read_capped(&path, limits::LOCKFILE).map_err(|e| Error::io("read", &path, &e))?;
    let read: Journal = serde_json::from_slice(&bytes)
        .map_err(|error| Error::new(format!("`{}` is broken: {error}", path.display())))?;
    let target = target(plugin_dir, &read.name)?;
    let is_there = target.symlink_metadata().is_ok();
    if !is_there && old(staging).exists() {
        fs::rename(old(staging), &target).map_err(|e| Error::io("restore", &target, &e))?;
    } else {
        match (read.entry, read.placed) {
            (Some(entry), placed) if is_placed(&target, Some(&entry), placed.as_deref()) => {
                changes.lockfile.put(entry, staging)?;
            }
            (None, placed @ Some(_)) if is_placed(&target, None, placed.as_deref()) => {
                changes.lockfile.take(&read.name, staging)?;
            }
            (None, None) if !is_there => changes.lockfile.take(&read.name, staging)?,
            _ => {}
        }
    }
    remove_journal(staging)
}

/// Whether the move of a journal took place.
fn is_placed(target: &Path, entry: Option<&LockEntry>, placed: Option<&str>) -> bool {
    match (placed, entry) {
        (Some(placed), _) => Digest::of(target).is_ok_and(|is| is.sha256 == placed),
        (None, Some(link)) => {
            fs::read_link(target).is_ok_and(|to| to.as_os_str() == link.source.as_str())
        }
        (None, None) => false,
    }
}

/// The skill that [`Changes::place`] has replaced.
pub fn replaced(staging: &Staging, staged: &Path) -> Option<PathBuf> {
    let set_aside = old(staging.dir());
    [set_aside, staged.to_owned()]
        .into_iter()
        .find(|dir| dir.exists())
}

/// Whether a staging directory's command was killed, or failed, in the middle of a change.
pub fn has_journal(staging: &Path) -> bool {
    journal(staging).exists()
}

/// The directory of installed skills.
pub fn skills(plugin_dir: &Path) -> PathBuf {
    plugin_dir.join("skills")
}

/// The directory of one skill. The name comes from a `SkillName`, a directory's entry or a file of
/// ours, but whatever it is, it is one part of a path.
fn target(plugin_dir: &Path, name: &str) -> Result<PathBuf> {
    if matches!(name, "" | "." | "..") || name.contains(['/', '\0']) {
        return Err(Error::new(format!(
            "`{}` cannot be a skill's directory",
            name.escape_debug()
        ))
        .hint("repair the lockfile"));
    }
    Ok(skills(plugin_dir).join(name))
}

fn replace(staged: &Path, target: &Path, old: &Path) -> io::Result<()> {
    if files::exchange(staged, target)? {
        return Ok(());
    }
    fs::rename(target, old)?;
    fs::rename(staged, target).inspect_err(|_| {
        // The error to report is the first one.
        let _ = fs::rename(old, target);
    })
}

fn old(staging: &Path) -> PathBuf {
    staging.join("old")
}

fn journal(staging: &Path) -> PathBuf {
    staging.join("journal.json")
}

fn write_journal(
    staging: &Path,
    name: &str,
    entry: Option<LockEntry>,
    placed: Option<String>,
) -> Result<()> {
    let journal_file = Journal {
        name: name.to_owned(),
        entry,
        placed,
    };
    let bytes = serde_json::to_vec(&journal_file)
        .map_err(|error| Error::new(format!("could not write the journal: {error}")))?;
    files::replace_file(&journal(staging), &bytes, 0o600)
}

fn remove_journal(staging: &Path) -> Result<()> {
    let path = journal(staging);
    fs::remove_file(&path).map_err(|error| Error::io("remove", &path, &error))
}

#[cfg(test)]
mod tests;
