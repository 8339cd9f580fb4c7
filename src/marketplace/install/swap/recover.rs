//! Completes or undoes a change that a kill interrupted.

use std::time::Duration;

use super::{Changes, GONE, JOURNAL, Journal, LockEntry, OLD, remove_journal, replaced};
use crate::error::{Error, Result};
use crate::marketplace::install::staging::NEW;
use crate::marketplace::lock::{Digest, previous};
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
    let mut completed = Vec::new();
    for journal in &journals {
        if follow(&changes, staging, journal)? {
            completed.push((&journal.name, journal.entry.as_ref()));
        }
    }
    changes.lockfile.set(&completed, staging)?;
    remove_journal(staging)
}

/// Completes or undoes the change of one skill, apart from the lockfile. Returns whether it was
/// completed.
fn follow(changes: &Changes, staging: &Dir, journal: &Journal) -> Result<bool> {
    let Journal {
        name,
        entry,
        placed,
    } = journal;
    let (skills, target) = (changes.skills()?, name.entry());
    if !skills.has(target) && staging.has(&OLD) {
        let restored = staging.rename(&OLD, &skills, target);
        restored.map_err(|error| skills.error("restore", target, &error))?;
    }
    if entry.is_none() && placed.is_none() {
        let is_gone = staging.has(&GONE) || !skills.has(target);
        if !is_gone {
            previous::put_back(&changes.dir, staging, name);
        }
        return Ok(is_gone);
    }
    let is_placed = is_placed(&skills, target, entry.as_ref(), placed.as_deref());
    if is_placed {
        if let Ok(within) = staging.open_dir(&NEW) {
            let old = replaced(staging, (&within, target));
            // Losing the kept state is better than a command that fails every time.
            let _ = previous::keep(&changes.dir, staging, name, old);
        }
    } else if placed
        .as_ref()
        .is_some_and(|placed| is_staged(staging, target, placed))
    {
        previous::put_back(&changes.dir, staging, name);
    }
    Ok(is_placed)
}

/// Whether a skill is still where it was prepared. If it is neither there nor in its place, someone
/// has changed it in its place since.
fn is_staged(staging: &Dir, target: &EntryName, placed: &str) -> bool {
    let path = staging.path_of(&NEW).join(target.as_os_str());
    Digest::read(&path).is_ok_and(|is| is.sha256 == placed)
}

fn is_placed(
    skills: &Dir,
    target: &EntryName,
    entry: Option<&LockEntry>,
    placed: Option<&str>,
) -> bool {
    match (placed, entry) {
        (Some(placed), _) => {
            Digest::read(&skills.path_of(target)).is_ok_and(|is| is.sha256 == placed)
        }
        (None, Some(link)) => {
            let to = skills.read_link(target);
            to.is_ok_and(|to| to.as_os_str() == link.source.as_str())
        }
        (None, None) => false,
    }
}
