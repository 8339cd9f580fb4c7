//! Removed skills that no source can bring back, in `stash/<name>-<number>/` with their lockfile
//! entries, until `rollback` moves them back. A skill is moved by one rename: a kill leaves it in
//! one place or the other.

use crate::error::Result;
use crate::marketplace::install::Prepared;
use crate::marketplace::lock::{InstalledName, LockEntry, Previous, previous};
use crate::sys::{Base, Dir, EntryKind, EntryName};

/// The directory of what would be lost otherwise.
pub const STASH: EntryName = EntryName::from_static("stash");

/// The last removed skill `name` in the stash, and the place from which it is moved back.
///
/// # Errors
/// When the plugin directory cannot be opened.
pub fn last(base: &Base, name: &InstalledName) -> Result<Option<(Prepared, Previous)>> {
    let home = base.open()?;
    let Some(stash) = home.and_then(|home| home.open_dir(&STASH).ok()) else {
        return Ok(None);
    };
    let mut numbers = numbers(&stash, name);
    numbers.sort_unstable();
    let found = numbers.into_iter().rev().find_map(|number| {
        let within = stash.open_dir(place(name, number).ok()?.entry()).ok()?;
        let kept = previous::kept(&within, name, name.entry())?;
        let name = name.clone();
        Some((Prepared { within, name }, kept))
    });
    Ok(found)
}

/// Makes a place in the stash for a skill that is about to be removed, with its entry.
///
/// # Errors
/// When it cannot be written.
pub fn make_place(dir: &Dir, name: &InstalledName, entry: Option<&LockEntry>) -> Result<Dir> {
    let failed = |error| dir.error("keep the skill in", &STASH, &error);
    let stash = dir.make_dir(&STASH).map_err(failed)?;
    let last = numbers(&stash, name).into_iter().max().unwrap_or_default();
    let made = stash.new_of_ours(place(name, last + 1)?.entry());
    let made = made.map_err(failed)?;
    previous::write_entry(&made, entry)?;
    Ok(made)
}

/// Removes the place in the stash from which a skill was moved back.
pub fn clear(dir: &Dir, place: &Dir) {
    let name = place.path().file_name().and_then(EntryName::parse);
    if let Some((stash, name)) = dir.open_dir(&STASH).ok().zip(name) {
        // An empty place is no harm.
        let _ = stash.remove_ours(&name);
        let _ = dir.remove_empty(&STASH);
    }
}

fn place(name: &InstalledName, number: u32) -> Result<InstalledName> {
    InstalledName::parse(&format!("{name}-{number}"))
}

/// The numbers of the places for this skill.
fn numbers(stash: &Dir, name: &InstalledName) -> Vec<u32> {
    let entries = stash.entries().unwrap_or_default().into_iter();
    let dirs = entries.filter(|(_, kind)| *kind == EntryKind::Dir);
    let number = |entry: &EntryName| {
        let rest = entry.as_str()?.strip_prefix(&**name)?;
        rest.strip_prefix('-')?.parse().ok()
    };
    dirs.filter_map(|(entry, _)| number(&entry)).collect()
}
