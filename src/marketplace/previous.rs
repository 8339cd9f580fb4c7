//! What an update or an approved proposal replaced: the last state of each skill, kept for `rollback`
//! in `previous/<name>/`, with the lockfile's entry of that time, if it had one.

use super::installed_name::InstalledName;
use super::lockfile::LockEntry;
use super::market::Market;
use super::staging::{Prepared, Staging};
use super::swap::{self, Changes, Existing};
use super::tree_copy;
use crate::error::{Error, Result};
use crate::sys::{Base, Dir, Durable, EntryName, limits};

const PREVIOUS: EntryName = EntryName::of("previous");
const ENTRY: EntryName = EntryName::of("entry.json");
const SKILL: EntryName = EntryName::of("skill");

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
        let staging = self.staging()?;
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        let present = changes.lockfile().get(&name).cloned();
        let Previous { dir, entry } = read(self.plugin_dir, &name)?;
        let staged = staging.place_for(&name)?;
        tree_copy::copy(&dir, &staged.make()?)?;
        changes.replace(&staging, &staged, &name, entry.clone(), present.as_ref())?;
        Ok((name.to_string(), entry))
    }
}

/// An earlier state of a skill.
#[derive(Debug)]
pub struct Previous {
    /// Its files.
    pub dir: Dir,
    /// The entry it had, unless it came from no source.
    pub entry: Option<LockEntry>,
}

impl Changes {
    /// Puts a staged skill in the place of the one that is there, whose entry is `present`, and
    /// keeps that.
    ///
    /// # Errors
    /// As [`Changes::place`], and when what is kept there was not kept by us.
    pub(super) fn replace(
        &mut self,
        staging: &Staging,
        staged: &Prepared,
        name: &InstalledName,
        entry: Option<LockEntry>,
        present: Option<&LockEntry>,
    ) -> Result<()> {
        let failed = |dir: &Dir, name: &EntryName, error| dir.error("keep", name, &error);
        let homes = self.dir().make_dir(&PREVIOUS);
        let homes = homes.map_err(|error| failed(self.dir(), &PREVIOUS, error))?;
        let there = homes.find_dir(name.entry());
        let there = there.map_err(|error| failed(&homes, name.entry(), error))?;
        if there.is_some_and(|dir| !dir.is_ours()) {
            let path = homes.path_of(name.entry());
            let text = format!("`{}` was not put there by agent-skills", path.display());
            return Err(Error::new(text)
                .hint("look at it, then move it away: that is the place of earlier states"));
        }
        // Killed between the two steps below, a skill has no earlier state rather than a wrong one.
        let scratch = staging.dir();
        let kept = scratch.remove_ours(&PREVIOUS);
        let kept = kept.and_then(|()| scratch.new_of_ours(&PREVIOUS));
        let kept = kept.map_err(|error| failed(scratch, &PREVIOUS, error))?;
        let json = serde_json::to_vec(&present).map_err(|error| Error::new(error.to_string()))?;
        let written = kept.replace(&ENTRY, &json, 0o644, Durable::Yes);
        written.map_err(|error| failed(&kept, &ENTRY, error))?;
        self.place(staging, staged, name, entry, Existing::Replace)?;
        if let Some(old) = swap::replaced(staging, staged) {
            let moved = homes.remove_ours(name.entry()).and_then(|()| {
                old.within.rename(&old.name, &kept, &SKILL)?;
                scratch.rename(&PREVIOUS, &homes, name.entry())
            });
            moved.map_err(|error| failed(&homes, name.entry(), error))?;
        }
        Ok(())
    }
}

/// Removes what is kept of a skill.
pub fn forget(dir: &Dir, name: &InstalledName) {
    if let Ok(homes) = dir.open_dir(&PREVIOUS) {
        // What is not ours stays.
        let _ = homes.remove_ours(name.entry());
        // Only when it is empty now.
        let _ = dir.remove_empty(&PREVIOUS);
    }
}

/// What is kept of a skill.
///
/// # Errors
/// When nothing is.
pub fn read(base: &Base, name: &InstalledName) -> Result<Previous> {
    let kept = base.open()?.and_then(|dir| {
        let homes = dir.open_dir(&PREVIOUS).ok()?;
        homes.open_dir(name.entry()).ok().filter(Dir::is_ours)
    });
    let none = || none(name);
    let kept = kept.ok_or_else(none)?;
    let bytes = kept.read(&ENTRY, limits::LOCKFILE);
    let entry: Option<LockEntry> = bytes
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .ok_or_else(none)?;
    if entry.as_ref().is_some_and(|entry| entry.name != *name) {
        return Err(none());
    }
    let dir = kept.open_dir(&SKILL).map_err(|_| none())?;
    Ok(Previous { dir, entry })
}

fn none(name: &str) -> Error {
    Error::new(format!("no earlier state of `{name}` is kept"))
        .hint("one is kept from the next update or approved proposal on; `install REFERENCE#COMMIT` gets any other")
}
