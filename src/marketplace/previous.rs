//! What an update or an approved proposal replaced: the last state of each skill, kept for `rollback`
//! in `previous/<name>/`, with the lockfile's entry of that time, if it had one.
//!
//! What is kept there is right or it is not there. So the state that was kept until now goes to
//! the staging directory before the skill moves, and the one that is replaced comes after it; what
//! a kill leaves between the two, the recovery of the change itself finishes or undoes.

use std::io;

use super::installed_name::InstalledName;
use super::lockfile::LockEntry;
use crate::error::{Error, Result};
use crate::sys::{Base, Dir, Durable, EntryName, limits};

const PREVIOUS: EntryName = EntryName::of("previous");
const ENTRY: EntryName = EntryName::of("entry.json");
const SKILL: EntryName = EntryName::of("skill");
/// In a staging directory: what is to be kept, and what was kept until now.
pub const KEPT: EntryName = EntryName::of("kept");
pub const FORMER: EntryName = EntryName::of("former");

/// An earlier state of a skill.
#[derive(Debug)]
pub struct Previous {
    /// Its files.
    pub dir: Dir,
    /// The entry it had, unless it came from no source.
    pub entry: Option<LockEntry>,
}

/// Prepares `staging` to keep the skill `name`, which has the entry `present`, and takes what was
/// kept of it until now away from the plugin directory `dir`.
///
/// # Errors
/// When what is kept there was not kept by us, or anything cannot be written.
pub fn make_room(
    dir: &Dir,
    staging: &Dir,
    name: &InstalledName,
    present: Option<&LockEntry>,
) -> Result<()> {
    let homes = dir.make_dir(&PREVIOUS);
    let homes = homes.map_err(|error| dir.error("keep", &PREVIOUS, &error))?;
    let failed = |error| homes.error("keep", name.entry(), &error);
    let there = homes.find_dir(name.entry()).map_err(failed)?;
    if there.is_some_and(|dir| !dir.is_ours()) {
        let path = homes.path_of(name.entry());
        let text = format!("`{}` was not put there by agent-skills", path.display());
        return Err(Error::new(text)
            .hint("look at it, then move it away: that is the place of earlier states"));
    }
    let json = serde_json::to_vec(&present).map_err(|error| Error::new(error.to_string()))?;
    let kept = staging.new_of_ours(&KEPT);
    let written = kept.and_then(|kept| kept.replace(&ENTRY, &json, 0o644, Durable::Yes));
    written.map_err(|error| staging.error("write", &KEPT, &error))?;
    set_aside(dir, staging, name).map_err(failed)
}

/// Takes what is kept of a skill away, to `staging`. What is not ours stays.
///
/// # Errors
/// When it cannot be moved.
pub fn set_aside(dir: &Dir, staging: &Dir, name: &InstalledName) -> io::Result<()> {
    let Ok(homes) = dir.open_dir(&PREVIOUS) else {
        return Ok(());
    };
    let former = homes.open_dir(name.entry());
    if former.is_ok_and(|former| former.is_ours()) {
        homes.rename(name.entry(), staging, &FORMER)?;
    }
    // Only when it is empty now.
    let _ = dir.remove_empty(&PREVIOUS);
    Ok(())
}

/// Undoes [`set_aside`], of a change that did not take place.
pub fn put_back(dir: &Dir, staging: &Dir, name: &InstalledName) {
    if staging.has(&FORMER) {
        // A skill has no earlier state rather than no command that works.
        let homes = dir.make_dir(&PREVIOUS);
        let _ = homes.and_then(|homes| staging.rename(&FORMER, &homes, name.entry()));
    }
}

/// Keeps the skill that was replaced, and is `old` in `within` now, unless that is done or nothing
/// was prepared for it.
///
/// # Errors
/// When it cannot be moved; nothing is kept then.
pub fn keep(
    dir: &Dir,
    staging: &Dir,
    name: &InstalledName,
    (within, old): (&Dir, &EntryName),
) -> io::Result<()> {
    let Some(kept) = staging.find_dir(&KEPT)? else {
        return Ok(());
    };
    if !kept.has(&SKILL) {
        within.rename(old, &kept, &SKILL)?;
    }
    let homes = dir.make_dir(&PREVIOUS)?;
    staging.rename(&KEPT, &homes, name.entry())
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
