//! Removed skills that no source can bring back, in `stash/<name>-<number>/` with their lockfile
//! entries, until `rollback` moves them back. A skill is moved by one rename: a kill leaves it in
//! one place or the other.

use std::io::ErrorKind;

use crate::error::Result;
use crate::marketplace::lock::{InstalledName, LockEntry, Previous, previous};
use crate::sys::{Base, Dir, EntryName};

/// Its directory.
pub const STASH: EntryName = previous::STASH;

/// The last removed skill `name` in the stash, and its place there.
///
/// # Errors
/// When the plugin directory cannot be opened.
pub fn last(base: &Base, name: &InstalledName) -> Result<Option<(InstalledName, Previous)>> {
    let home = base.open()?;
    let Some(stash) = home.and_then(|home| home.open_dir(&STASH).ok()) else {
        return Ok(None);
    };
    let mut places = places(&stash, name).into_iter().rev();
    Ok(places.find_map(|(number, within)| {
        let kept = previous::kept(&within, name, name.entry())?;
        Some((
            InstalledName::parse(&format!("{name}-{number}")).ok()?,
            kept,
        ))
    }))
}

/// Makes a place in the stash for a skill that is about to be removed, with its entry.
///
/// # Errors
/// When it cannot be written.
pub fn make_place(
    dir: &Dir,
    name: &InstalledName,
    entry: Option<&LockEntry>,
) -> Result<InstalledName> {
    let failed = |error| dir.error("keep the skill in", &STASH, &error);
    let stash = dir.make_dir(&STASH).map_err(failed)?;
    let last = places(&stash, name).last().map_or(0, |(number, _)| *number);
    // What somebody else put there stays.
    let mut names = (last + 1..).map(|number| InstalledName::parse(&format!("{name}-{number}")));
    let free = names.find(|place| !place.as_ref().is_ok_and(|place| stash.has(place.entry())));
    let free = free
        .transpose()?
        .ok_or_else(|| failed(ErrorKind::AlreadyExists.into()))?;
    let made = stash.new_of_ours(free.entry()).map_err(failed)?;
    previous::write_entry(&made, entry)?;
    Ok(free)
}

/// Removes the place in the stash from which a skill was moved back.
pub fn clear(dir: &Dir, place: &InstalledName) {
    if let Ok(stash) = dir.open_dir(&STASH) {
        // An empty place is no harm.
        let _ = stash.remove_ours(place.entry());
        let _ = dir.remove_empty(&STASH);
    }
}

/// The places of ours for this skill, in the order of their numbers.
fn places(stash: &Dir, name: &InstalledName) -> Vec<(u32, Dir)> {
    let place = |entry: &EntryName| {
        let rest = entry.as_str()?.strip_prefix(&**name)?;
        let dir = stash.open_dir(entry).ok().filter(Dir::is_ours)?;
        Some((rest.strip_prefix('-')?.parse().ok()?, dir))
    };
    let entries = stash.entries().unwrap_or_default();
    let mut places: Vec<_> = entries
        .iter()
        .filter_map(|(entry, _)| place(entry))
        .collect();
    places.sort_unstable_by_key(|(number, _)| *number);
    places
}
