//! Completes or undoes a change that a kill interrupted.

use std::time::Duration;

use super::{Changes, GONE, JOURNAL, Journal, LockEntry, OLD, remove_journal, replaced};
use crate::error::{Error, Result};
use crate::marketplace::install::staging::NEW;
use crate::marketplace::lock::digest::Digest;
use crate::marketplace::lock::previous;
use crate::sys::{Base, Dir, EntryName, limits};

/// Completes or undoes the unfinished change of a killed command, of which `staging` is the staging
/// directory.
///
/// # Errors
/// When that is not possible now. The journal is then kept.
pub fn recover(base: &Base, staging: &Dir) -> Result<()> {
    if !staging.has(&JOURNAL) {
        return Ok(());
    }
    let mut changes = Changes::begin(base, Duration::ZERO)?;
    let bytes = staging.read(&JOURNAL, limits::LOCKFILE);
    let bytes = bytes.map_err(|error| staging.error("read", &JOURNAL, &error))?;
    let journals: Vec<Journal> = serde_json::from_slice(&bytes).map_err(|error| {
        let path = staging.path_of(&JOURNAL);
        Error::caused(format!("`{}` is broken", path.display()), error)
    })?;
    let mut placed = Vec::new();
    for journal in journals {
        placed.extend(follow(&mut changes, staging, journal)?);
    }
    changes.lockfile.put_all(placed, staging)?;
    remove_journal(staging)
}

/// Completes or undoes the change of one skill. Returns the entry that it still has to get.
fn follow(changes: &mut Changes, staging: &Dir, read: Journal) -> Result<Option<LockEntry>> {
    let Journal {
        name,
        entry,
        placed,
    } = read;
    let (skills, target) = (changes.skills()?, name.entry());
    if !skills.has(target) && staging.has(&OLD) {
        let restored = staging.rename(&OLD, &skills, target);
        restored.map_err(|error| skills.error("restore", target, &error))?;
    }
    let is_removal = entry.is_none() && placed.is_none();
    let is_gone = || staging.has(&GONE) || !skills.has(target);
    if is_removal && is_gone() {
        changes.lockfile.take(&name, staging)?;
    } else if is_removal {
        previous::put_back(&changes.dir, staging, &name);
    } else if is_placed(&skills, target, entry.as_ref(), placed.as_deref()) {
        if entry.is_none() {
            changes.lockfile.take(&name, staging)?;
        }
        if let Ok(within) = staging.open_dir(&NEW) {
            let old = replaced(staging, &within, target);
            // Losing the kept state is better than a command that fails every time.
            let _ = previous::keep(&changes.dir, staging, &name, old);
        }
        return Ok(entry);
    } else if placed.is_some_and(|placed| is_staged(staging, target, &placed)) {
        previous::put_back(&changes.dir, staging, &name);
    }
    Ok(None)
}

/// Whether a skill is still where it was prepared. If it is neither there nor in its place, someone
/// has changed it in its place since.
fn is_staged(staging: &Dir, target: &EntryName, placed: &str) -> bool {
    let path = staging.path_of(&NEW).join(target.as_os_str());
    Digest::of(&path).is_ok_and(|is| is.sha256 == placed)
}

fn is_placed(
    skills: &Dir,
    target: &EntryName,
    entry: Option<&LockEntry>,
    placed: Option<&str>,
) -> bool {
    match (placed, entry) {
        (Some(placed), _) => {
            Digest::of(&skills.path_of(target)).is_ok_and(|is| is.sha256 == placed)
        }
        (None, Some(link)) => skills
            .read_link(target)
            .is_ok_and(|to| to.as_os_str() == link.source.as_str()),
        (None, None) => false,
    }
}
