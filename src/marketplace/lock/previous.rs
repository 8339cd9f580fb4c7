//! The state of each skill before its last update or approved proposal, kept for `rollback` in
//! `previous/<name>/` with the lockfile entry of that time, if any. A kept state is complete or
//! absent: the older one moves to staging before the skill is replaced, and the replaced one is
//! kept afterwards. After a kill in between, recovery completes or undoes the change.

use std::io;

use crate::error::{Error, Result};
use crate::marketplace::lock::{InstalledName, LockEntry};
use crate::sys::{Base, Dir, Durable, EntryName, files, limits};

const PREVIOUS: EntryName = EntryName::from_static("previous");
/// The directory of what would be lost otherwise.
pub const STASH: EntryName = EntryName::from_static("stash");
const ENTRY: EntryName = EntryName::from_static("entry.json");
const SKILL: EntryName = EntryName::from_static("skill");
/// In a staging directory, the entry that will be kept, and the state kept until now.
pub const KEPT: EntryName = EntryName::from_static("kept");
pub const FORMER: EntryName = EntryName::from_static("former");

/// The previous state of a skill.
#[derive(Debug)]
pub struct Previous {
    /// Its files.
    pub dir: Dir,
    /// Its lockfile entry, unless it came from no source.
    pub entry: Option<LockEntry>,
}

/// Prepares `staging` to keep the skill `name` with its entry `present`, and moves the state kept
/// until now out of the plugin directory `dir`.
///
/// # Errors
/// When the state kept until now is not ours, or anything cannot be written.
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
            .hint("look at it, then move it away: agent-skills keeps earlier states there"));
    }
    let kept = staging.new_of_ours(&KEPT);
    let kept = kept.map_err(|error| staging.error("write", &KEPT, &error))?;
    write_entry(&kept, present)?;
    set_aside(dir, staging, name).map_err(failed)
}

/// Writes the entry of a skill beside it.
///
/// # Errors
/// When it cannot be written.
pub fn write_entry(kept: &Dir, entry: Option<&LockEntry>) -> Result<()> {
    let json = serde_json::to_vec(&entry)
        .map_err(|error| Error::caused("could not write the kept state", error))?;
    let written = kept.replace(&ENTRY, &json, 0o644, Durable::Yes);
    written.map_err(|error| kept.error("write", &ENTRY, &error))
}

/// Moves the kept state of a skill to `staging`. Files that are not ours stay.
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
    // This succeeds only if the directory is empty now.
    let _ = dir.remove_empty(&PREVIOUS);
    Ok(())
}

/// Undoes [`set_aside`] when the change was not made.
pub fn put_back(dir: &Dir, staging: &Dir, name: &InstalledName) {
    if staging.has(&FORMER) {
        // Losing the kept state is better than a command that fails every time.
        let homes = dir.make_dir(&PREVIOUS);
        let _ = homes.and_then(|homes| staging.rename(&FORMER, &homes, name.entry()));
    }
}

/// Keeps the replaced skill, now `old` in `within`, unless that was done already or nothing was
/// prepared for it.
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

/// The lockfile entries of all states that are kept in the plugin directory `dir`.
///
/// # Errors
/// When one cannot be read, so that it is not known what they need.
pub fn entries(dir: &Dir) -> io::Result<Vec<LockEntry>> {
    let mut entries = Vec::new();
    for place in [PREVIOUS, STASH] {
        let Some(homes) = dir.find_dir(&place)? else {
            continue;
        };
        for (name, _) in homes.entries()? {
            let Some(home) = homes.find_dir(&name)? else {
                continue;
            };
            // What was put aside with changes has no entry.
            if let Some(bytes) = files::if_there(home.read(&ENTRY, limits::LOCKFILE))? {
                let entry: Option<LockEntry> = serde_json::from_slice(&bytes)?;
                entries.extend(entry);
            }
        }
    }
    Ok(entries)
}

/// Reads the previous state of a skill.
///
/// # Errors
/// When there is none.
pub fn read(base: &Base, name: &InstalledName) -> Result<Previous> {
    let homes = base.open()?.and_then(|dir| dir.open_dir(&PREVIOUS).ok());
    let kept = homes.and_then(|homes| kept(&homes.open_dir(name.entry()).ok()?, name, &SKILL));
    kept.ok_or_else(|| {
        Error::new(format!("no earlier version of `{name}` was kept"))
            .hint("the next update or approved proposal keeps one; `install REFERENCE#COMMIT` gets any other")
    })
}

/// What is kept of the skill `name` in a directory of ours, as its entry `skill`; `None` for
/// anything else.
pub fn kept(place: &Dir, name: &InstalledName, skill: &EntryName) -> Option<Previous> {
    let bytes = place.read(&ENTRY, limits::LOCKFILE).ok()?;
    let entry: Option<LockEntry> = serde_json::from_slice(&bytes).ok()?;
    if !place.is_ours() || entry.as_ref().is_some_and(|entry| entry.name != *name) {
        return None;
    }
    let dir = place.open_dir(skill).ok()?;
    Some(Previous { dir, entry })
}
