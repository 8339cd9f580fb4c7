//! Puts staged skills in their places, if what is there is still what was looked at.

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::install::{Changes, Step};
use crate::marketplace::lock::Digest;

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
        mut steps: Vec<Step>,
    ) -> Result<Vec<Option<String>>> {
        for Step { name, seen, .. } in &steps {
            if let Some((sha256, entry)) = seen {
                let is_same = Digest::read(&self.dir(name))?.sha256 == *sha256;
                if !is_same || changes.lockfile().get(name) != entry.as_ref() {
                    let text = format!("another command has changed `{name}`");
                    return Err(Error::new(text).hint("try again"));
                }
            }
        }
        let stashed = steps.iter_mut().map(|step| {
            let is_moved = step.stashes && !self.dry_run;
            is_moved.then(|| changes.stash(step)).transpose()
        });
        let stashed = stashed.collect::<Result<_>>()?;
        changes.make(&steps.iter().collect::<Vec<_>>())?;
        if !self.dry_run {
            self.remember_signers(steps.iter().filter_map(Step::recorded))?;
        }
        Ok(stashed)
    }
}
