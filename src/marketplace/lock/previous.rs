//! What was replaced or removed, with the lockfile entry that it had, if any: in `previous/<name>/`
//! the state of a skill before its last update or approved proposal, and in `stash/<name>-<number>/`
//! what no source can bring back. Both are for `rollback`. Each is one directory of ours, the home in
//! which a change prepared the skill, so it is complete or absent.

use std::io;

use crate::marketplace::lock::{InstalledName, LockEntry};
use crate::marketplace::prelude::*;

/// The directory of earlier states.
pub const PREVIOUS: EntryName = EntryName::from_static("previous");
/// The directory of what would be lost otherwise.
pub const STASH: EntryName = EntryName::from_static("stash");
/// The entry; no skill has this name.
pub const ENTRY: EntryName = EntryName::from_static(".entry.json");

/// What is kept of a skill.
#[derive(Debug)]
pub struct KeptVersion {
    /// Its files.
    pub dir: Dir,
    /// Its lockfile entry, unless it came from no source.
    pub entry: Option<LockEntry>,
    /// Its place in the stash, if it is there.
    place: Option<EntryName>,
}

impl KeptVersion {
    /// The state of an installed skill before its last change.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(base: &Base, name: &InstalledName) -> Result<Self> {
        let homes = base.open()?.and_then(|dir| dir.open_dir(&PREVIOUS).ok());
        let previous = homes.and_then(|homes| Self::read(&homes, name.entry(), name));
        let kept = match previous {
            None => Self::in_stash(base, name)?,
            previous => previous,
        };
        kept.ok_or_else(|| {
            Error::new(format!("no earlier version of `{name}` was kept"))
                .hint("the next update or approved proposal keeps one; `install REFERENCE#COMMIT` installs any other")
        })
    }

    /// The last state of a skill that was moved to the stash.
    ///
    /// # Errors
    /// When the plugin directory cannot be opened.
    pub fn in_stash(base: &Base, name: &InstalledName) -> Result<Option<Self>> {
        let Some(stash) = base.open()?.and_then(|dir| dir.open_dir(&STASH).ok()) else {
            return Ok(None);
        };
        let last = places(&stash, name)
            .into_iter()
            .rev()
            .find_map(|(_, place)| {
                let kept = Self::read(&stash, &place, name)?;
                let place = Some(place);
                Some(Self { place, ..kept })
            });
        Ok(last)
    }

    /// What is kept of the skill `name` in the directory `home`; `None` if that is not ours.
    fn read(homes: &Dir, home: &EntryName, name: &InstalledName) -> Option<Self> {
        let home = homes.open_dir(home).ok().filter(Dir::is_ours)?;
        let bytes = home.read(&ENTRY, limits::LOCKFILE).ok()?;
        let entry: Option<LockEntry> = serde_json::from_slice(&bytes).ok()?;
        let is_fit = |entry: &LockEntry| entry.name == *name && entry.unreadable().is_none();
        let is_its = entry.as_ref().is_none_or(is_fit);
        Some(Self {
            dir: home.open_dir(name.entry()).ok().filter(|_| is_its)?,
            entry,
            place: None,
        })
    }

    /// Moves its place in the stash, if it is there, to the staging directory, which is removed as a
    /// whole.
    pub fn clear(&self, base: &Base, staging: &Dir) {
        if let Some(place) = &self.place
            && let Ok(Some(dir)) = base.open()
            && let Ok(stash) = dir.open_dir(&STASH)
        {
            // What stays is no harm.
            let _ = stash.rename(place, staging, place);
            let _ = dir.remove_empty(&STASH);
        }
    }
}

/// The places of ours in the stash for a skill, in the order of their numbers.
pub fn places(stash: &Dir, name: &InstalledName) -> Vec<(u64, EntryName)> {
    let entries = stash.entries().unwrap_or_default().into_iter();
    let numbered = entries.filter_map(|(place, _)| {
        let number = place.as_str()?.strip_prefix(&**name)?.strip_prefix('-')?;
        let number: u32 = number.parse().ok()?;
        let is_ours = stash.open_dir(&place).is_ok_and(|dir| dir.is_ours());
        is_ours.then(|| (number.into(), place))
    });
    let mut places: Vec<_> = numbered.collect();
    places.sort_unstable();
    places
}

/// The next place in the stash for a skill. What somebody else put there stays.
///
/// # Errors
/// When its name would be too long.
pub fn free_place(stash: &Dir, name: &InstalledName) -> Result<InstalledName> {
    let mut number = places(stash, name).last().map_or(0, |(number, _)| *number);
    loop {
        number += 1;
        let place = InstalledName::parse(&format!("{name}-{number}"))?;
        if !stash.has(place.entry()) {
            return Ok(place);
        }
    }
}

/// The directory, if this process may write into it.
///
/// # Errors
/// When it may not.
pub fn writable(dir: Dir) -> io::Result<Dir> {
    let dir = Some(dir).filter(|dir| files::is_writable(dir.path()));
    dir.ok_or_else(|| io::ErrorKind::PermissionDenied.into())
}

/// Checks that what is replaced of a skill can be kept in place of what is kept until now.
///
/// # Errors
/// When the directory for it cannot be written, or that is not ours.
pub fn check_room(dir: &Dir, name: &InstalledName) -> Result<()> {
    let home = dir.find_dir(&PREVIOUS).transpose();
    let home = home.map(|homes| writable(homes?)?.find_dir(name.entry()));
    let home = home.transpose().map_err(|error| {
        let error = dir.error("keep an earlier state in", &PREVIOUS, &error);
        error.or_hint("check what it is, then move it away")
    })?;
    if home.flatten().is_none_or(|home| home.is_ours()) {
        return Ok(());
    }
    let path = dir.path_of(&PREVIOUS).join(name.entry().as_os_str());
    let text = format!("`{}` was not put there by agent-skills", path.display());
    Err(Error::new(text)
        .hint("look at it, then move it away: agent-skills keeps earlier states there"))
}
