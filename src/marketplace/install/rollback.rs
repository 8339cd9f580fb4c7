//! Restores the state before an update or an approved proposal.

use crate::error::Result;
use crate::marketplace::Market;
use crate::marketplace::fetch::copy_tree;
use crate::marketplace::lock::{LockEntry, Previous, previous};

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
        let mut changes = self.changes()?;
        let Previous { dir, entry } = previous::read(self.plugin_dir, &name)?;
        let staged = staging.place_for(&name)?;
        copy_tree(&dir, &staged.make()?)?;
        changes.replace(&staging, &staged, &name, entry.as_ref())?;
        Ok((name.to_string(), entry))
    }
}
