//! What is kept of a skill, with the lockfile entry that it had, if any: in `previous/<name>/` the
//! state before its last update or approved proposal, and in `stash/<name>-<number>/` what was
//! removed and no source can bring back. Both are for `rollback`. Each is one directory of ours, the
//! home in which a change prepared the skill, so it is complete or absent.

use std::io;

use crate::error::{Error, Result};
use crate::marketplace::lock::{InstalledName, LockEntry};
use crate::sys::{Base, Dir, Durable, EntryName, files, limits};

/// The directory of earlier states.
pub const PREVIOUS: EntryName = EntryName::from_static("previous");
/// The directory of what would be lost otherwise.
pub const STASH: EntryName = EntryName::from_static("stash");
/// The entry; no skill has this name.
pub const ENTRY: EntryName = EntryName::from_static(".entry.json");

/// What is kept of a skill.
#[derive(Debug)]
pub struct Previous {
    /// Its files.
    pub dir: Dir,
    /// Its lockfile entry, unless it came from no source.
    pub entry: Option<LockEntry>,
}

impl Previous {
    /// What is kept in this directory of the skill `name`; `None` if that is not ours.
    fn read(home: &Dir, name: &InstalledName) -> Option<Self> {
        let bytes = home.read(&ENTRY, limits::LOCKFILE).ok()?;
        let entry: Option<LockEntry> = serde_json::from_slice(&bytes).ok()?;
        let is_its = entry.as_ref().is_none_or(|entry| entry.name == *name);
        let dir = home.open_dir(name.entry()).ok()?;
        (home.is_ours() && is_its).then_some(Self { dir, entry })
    }

    /// The previous state of an installed skill.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(base: &Base, name: &InstalledName) -> Result<Self> {
        let homes = base.open()?.and_then(|dir| dir.open_dir(&PREVIOUS).ok());
        let home = homes.and_then(|homes| homes.open_dir(name.entry()).ok());
        let kept = home.and_then(|home| Self::read(&home, name));
        kept.ok_or_else(|| {
            Error::new(format!("no earlier version of `{name}` was kept"))
                .hint("the next update or approved proposal keeps one; `install REFERENCE#COMMIT` gets any other")
        })
    }

    /// The last removed skill `name` in the stash, and its place there.
    ///
    /// # Errors
    /// When the plugin directory cannot be opened.
    pub fn removed(base: &Base, name: &InstalledName) -> Result<Option<(InstalledName, Self)>> {
        let dir = base.open()?;
        let Some(stash) = dir.and_then(|dir| dir.open_dir(&STASH).ok()) else {
            return Ok(None);
        };
        let entries = stash.entries().unwrap_or_default().into_iter();
        let numbers = entries.filter_map(|(place, _)| {
            let number = place.as_str()?.strip_prefix(&**name)?.strip_prefix('-')?;
            number.parse::<u32>().ok()
        });
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        let last = numbers.into_iter().rev().find_map(|number| {
            let place = InstalledName::parse(&format!("{name}-{number}")).ok()?;
            let kept = Self::read(&stash.open_dir(place.entry()).ok()?, name)?;
            Some((place, kept))
        });
        Ok(last)
    }
}

/// An unused place in the stash for a skill: what somebody else put there stays.
///
/// # Errors
/// When there is none.
pub fn free_place(stash: &Dir, name: &InstalledName) -> Result<InstalledName> {
    let mut number = 1;
    loop {
        let place = InstalledName::parse(&format!("{name}-{number}"))?;
        if !stash.has(place.entry()) {
            return Ok(place);
        }
        number += 1;
    }
}

/// Removes the place in the stash from which a skill was brought back.
pub fn clear(base: &Base, place: &InstalledName) {
    if let Ok(Some(dir)) = base.open()
        && let Ok(stash) = dir.open_dir(&STASH)
    {
        // What stays is no harm.
        let _ = stash.remove_ours(place.entry());
        let _ = dir.remove_empty(&STASH);
    }
}

/// Checks that what is kept of a skill until now may make room.
///
/// # Errors
/// When it is not ours.
pub fn check_ours(dir: &Dir, name: &InstalledName) -> Result<()> {
    let home = dir.find_dir(&PREVIOUS).transpose();
    let home = home.map(|homes| homes?.find_dir(name.entry())).transpose();
    let home = home.map_err(|error| dir.error("keep", &PREVIOUS, &error))?;
    if home.flatten().is_none_or(|home| home.is_ours()) {
        return Ok(());
    }
    let path = dir.path_of(&PREVIOUS).join(name.entry().as_os_str());
    let text = format!("`{}` was not put there by agent-skills", path.display());
    Err(Error::new(text)
        .hint("look at it, then move it away: agent-skills keeps earlier states there"))
}

/// Writes the entry of a skill beside it.
///
/// # Errors
/// When it cannot be written.
pub fn write_entry(home: &Dir, entry: Option<&LockEntry>) -> Result<()> {
    let json = serde_json::to_vec(&entry)
        .map_err(|error| Error::caused("could not write the kept state", error))?;
    let written = home.replace(&ENTRY, &json, 0o644, Durable::Yes);
    written.map_err(|error| home.error("write", &ENTRY, &error))
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
