//! Puts staged skills in their places, if what is there is still what was looked at.

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::install::{Changes, Staged, Step};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry};

/// One skill of a change.
pub struct Landing<'l> {
    /// What is intended.
    pub step: Step,
    /// What was staged for it.
    pub staged: Option<&'l Staged>,
    /// What was in its place, and its entry, if it has to be that still.
    pub seen: Option<(&'l Digest, Option<&'l LockEntry>)>,
    /// Whether that is moved to the stash, as no source can bring it back.
    pub stashes: bool,
}

impl From<Step> for Landing<'_> {
    fn from(step: Step) -> Self {
        Self {
            step,
            staged: None,
            seen: None,
            stashes: false,
        }
    }
}

impl<'l> Landing<'l> {
    /// A staged skill takes its place.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn of(staged: &'l Staged) -> Result<Self> {
        Ok(Self {
            staged: Some(staged),
            ..Step::new(&staged.place, Some(&staged.entry))?.into()
        })
    }
}

impl Market<'_> {
    /// Makes a change as a whole; signers are remembered after it. Returns where in the stash each is
    /// that was moved there.
    ///
    /// # Errors
    /// When somebody has changed a skill meanwhile, or anything cannot be written. Each skill is then
    /// as it was.
    pub(super) fn land(
        &self,
        changes: &mut Changes,
        mut all: Vec<Landing>,
    ) -> Result<Vec<Option<String>>> {
        for one in &all {
            if let Some((looked_at, entry)) = one.seen {
                self.check_same(changes, &one.step.name, looked_at, entry)?;
            }
        }
        let stashed = all.iter_mut().map(|one| {
            let is_moved = one.stashes && !self.dry_run;
            is_moved.then(|| changes.stash(&mut one.step)).transpose()
        });
        let stashed = stashed.collect::<Result<_>>()?;
        let steps: Vec<&Step> = all.iter().map(|one| &one.step).collect();
        let staged = || all.iter().filter_map(|one| one.staged);
        changes.make(&steps)?;
        if !self.dry_run {
            self.remember_signers(staged().map(|one| &one.entry))?;
        }
        Ok(stashed)
    }

    /// Checks that a skill is still the one that was compared.
    fn check_same(
        &self,
        changes: &Changes,
        name: &InstalledName,
        looked_at: &Digest,
        entry: Option<&LockEntry>,
    ) -> Result<()> {
        let same = Digest::read(&self.dir(name))?.sha256 == looked_at.sha256;
        if changes.lockfile().get(name) == entry && same {
            return Ok(());
        }
        let text = format!("another command has changed `{name}`");
        Err(Error::new(text).hint("try again"))
    }
}
