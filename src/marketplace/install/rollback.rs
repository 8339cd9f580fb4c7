//! Restores the state before an update or an approved proposal.

use crate::error::Result;
use crate::marketplace::fetch::tree_copy;
use crate::marketplace::install::swap::{Changes, Existing};
use crate::marketplace::lock::lockfile::LockEntry;
use crate::marketplace::lock::previous::{self, Previous};
use crate::marketplace::market::Market;

impl Market<'_> {
    /// Restores the state before the last update or proposal. The present state is kept instead, so
    /// a second rollback undoes the first. Returns the name of the skill's directory and its entry.
    ///
    /// # Errors
    /// When there is no previous state or it cannot be restored. The present state then stays.
    pub fn rollback(&self, written: &str) -> Result<(String, Option<LockEntry>)> {
        self.clean_litter();
        let name = self.installed(written)?;
        let staging = self.staging()?;
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        let Previous { dir, entry } = previous::read(self.plugin_dir, &name)?;
        let staged = staging.place_for(&name)?;
        tree_copy::copy(&dir, &staged.make()?)?;
        changes.place(&staging, &staged, &name, entry.clone(), Existing::Replace)?;
        Ok((name.to_string(), entry))
    }
}
