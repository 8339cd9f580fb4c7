//! Completes a change that a kill interrupted.

use std::path::PathBuf;
use std::time::Duration;

use super::journal::{ASIDE, Journal, remove_journal};
use super::{Changes, GONE, OLD};
use crate::error::{Error, Result};
use crate::marketplace::install::staging::JOURNAL;
use crate::marketplace::lock::Digest;
use crate::sys::{Base, Dir, limits};

/// Completes the unfinished change of a killed command, of which `staging` is the staging
/// directory.
///
/// # Errors
/// When that is not possible now. The journal is then kept.
pub fn recover(base: &Base, staging: &Dir) -> Result<()> {
    if !staging.has(&JOURNAL) {
        return Ok(());
    }
    let mut changes = Changes::begin(base, staging, Duration::ZERO)?;
    let bytes = staging.read(&JOURNAL, limits::LOCKFILE);
    let bytes = bytes.map_err(|error| staging.error("read", &JOURNAL, &error))?;
    let journals: Vec<Journal> = serde_json::from_slice(&bytes).map_err(|error| {
        let path = staging.path_of(&JOURNAL);
        Error::caused(format!("`{}` is broken", path.display()), error)
    })?;
    let mut completed = Vec::new();
    for journal in &journals {
        if follow(&changes, journal)? || changes.carry_on(journal)? {
            completed.push((&journal.name, journal.entry.as_ref()));
        }
    }
    changes.lockfile.set(&completed, staging)?;
    remove_journal(staging)
}

/// Whether the change of one skill is complete, apart from the lockfile. What a kill left half is put
/// back first.
fn follow(changes: &Changes, journal: &Journal) -> Result<bool> {
    let (name, staging) = (&journal.name, changes.scratch);
    let (skills, target) = (changes.skills()?, name.entry());
    let aside = staging.open_dir(&ASIDE);
    let aside = aside.and_then(|all| all.open_dir(target));
    // Without it, nothing was set aside yet.
    let aside = aside.as_ref().unwrap_or(staging);
    if !skills.has(target) && aside.has(&OLD) {
        let restored = aside.rename(&OLD, &skills, target);
        restored.map_err(|error| skills.error("restore", target, &error))?;
    }
    let holds = |dir: PathBuf| {
        let found = Digest::read(&dir).map(|found| found.sha256).ok();
        found.is_some() && found == journal.placed
    };
    let is_completed = match &journal.placed {
        Some(_) => holds(skills.path_of(target)),
        None => aside.has(&GONE) || !skills.has(target),
    };
    if is_completed {
        // Losing the kept state is better than a command that fails every time.
        let _ = changes.keep(journal);
    }
    Ok(is_completed)
}
