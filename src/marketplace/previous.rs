//! What an update or an approved proposal replaced: the last state of each skill, kept for `rollback`
//! in `previous/<name>/`, with the lockfile's entry of that time, if it had one.

use std::fs;
use std::path::{Path, PathBuf};

use super::lockfile::LockEntry;
use super::market::Market;
use super::staging::Staging;
use super::swap::{self, Changes, Existing};
use super::tree_copy;
use crate::error::{Error, Result};
use crate::sys::{files, limits};

impl Market<'_> {
    /// Puts the state before the last update or proposal back. The present one is kept in its
    /// place, so that a second rollback undoes the first. Answers the skill's directory, and the
    /// entry that holds now.
    ///
    /// # Errors
    /// When there is no earlier state, or it cannot be put there; the present one then stays.
    pub fn rollback(&self, written: &str) -> Result<(String, Option<LockEntry>)> {
        self.clean_litter();
        let name = self.installed(written)?;
        let staging = Staging::new(self.plugin_dir, self.patience())?;
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        let present = changes.lockfile().get(&name).cloned();
        let Previous { dir, entry } = read(self.plugin_dir, &name)?;
        let staged = staging.dir().join("new").join(&name);
        tree_copy::copy(&dir, &staged)?;
        changes.replace(&staging, &staged, &name, entry.clone(), present.as_ref())?;
        Ok((name, entry))
    }
}

/// An earlier state of a skill.
#[derive(Debug)]
pub struct Previous {
    /// Its files.
    pub dir: PathBuf,
    /// The entry it had, unless it came from no source.
    pub entry: Option<LockEntry>,
}

impl Changes<'_> {
    /// Puts a staged skill in the place of the one that is there, whose entry is `present`, and
    /// keeps that.
    ///
    /// # Errors
    /// As [`Changes::place`].
    pub(super) fn replace(
        &mut self,
        staging: &Staging,
        staged: &Path,
        name: &str,
        entry: Option<LockEntry>,
        present: Option<&LockEntry>,
    ) -> Result<()> {
        let plugin_dir = self.plugin_dir().to_owned();
        // Killed between the two steps below, a skill has no earlier state rather than a wrong one.
        let kept = staging.dir().join("previous");
        fs::create_dir_all(&kept).map_err(|error| Error::io("make", &kept, &error))?;
        let json = serde_json::to_vec(&present).map_err(|error| Error::new(error.to_string()))?;
        files::replace_file(&kept.join("entry.json"), &json, 0o644)?;
        self.place(staging, staged, name, entry, Existing::Replace)?;
        forget(&plugin_dir, name);
        if let Some(old) = swap::replaced(staging, staged) {
            let home = place(&plugin_dir, name);
            let moved = fs::create_dir_all(home.parent().unwrap_or(&plugin_dir))
                .and_then(|()| fs::rename(&old, kept.join("skill")))
                .and_then(|()| fs::rename(&kept, &home));
            moved.map_err(|error| Error::io("keep the earlier state in", &home, &error))?;
        }
        Ok(())
    }
}

/// Removes what is kept of a skill.
pub fn forget(plugin_dir: &Path, name: &str) {
    let dir = place(plugin_dir, name);
    let _ = fs::remove_dir_all(&dir);
    if let Some(root) = dir.parent() {
        // Only when it is empty now.
        let _ = fs::remove_dir(root);
    }
}

/// What is kept of a skill.
///
/// # Errors
/// When nothing is.
pub fn read(plugin_dir: &Path, name: &str) -> Result<Previous> {
    let dir = place(plugin_dir, name);
    let bytes = files::read_capped(&dir.join("entry.json"), limits::LOCKFILE);
    let entry: Option<LockEntry> = bytes
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .ok_or_else(|| none(name))?;
    let of_another = entry.as_ref().is_some_and(|entry| entry.name != name);
    let dir = dir.join("skill");
    if of_another || !dir.is_dir() {
        return Err(none(name));
    }
    Ok(Previous { dir, entry })
}

fn place(plugin_dir: &Path, name: &str) -> PathBuf {
    plugin_dir.join("previous").join(name)
}

fn none(name: &str) -> Error {
    Error::new(format!("no earlier state of `{name}` is kept"))
        .hint("one is kept from the next update or approved proposal on; `install REFERENCE#COMMIT` gets any other")
}
