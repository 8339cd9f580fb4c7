//! What the lockfiles say about installed skills.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::marketplace::{LockEntry, Market};
use crate::run_context::RunContext;
use crate::sys::Base;

/// The entries of the lockfiles, each read once.
#[derive(Debug, Default)]
pub struct Installed(BTreeMap<PathBuf, Vec<LockEntry>>);

impl Installed {
    /// The lockfile entry of the skill in `dir`; `None` for one put there by hand.
    pub fn entry(&mut self, ctx: &RunContext, dir: &Path) -> Option<&LockEntry> {
        let name = dir.file_name()?.to_str()?;
        let base = dir.parent()?.parent()?;
        let entries = self
            .0
            .entry(base.to_owned())
            .or_insert_with(|| ctx.market_at(&ctx.base(base)).entries().unwrap_or_default());
        entries.iter().find(|entry| entry.name == *name)
    }
}

impl RunContext {
    /// The marketplace for what is installed below `base`.
    pub fn market_at<'a>(&'a self, base: &'a Base) -> Market<'a> {
        Market {
            plugin_dir: base,
            home: &self.dirs.plugin,
            env: &self.env,
            deadline: None,
            offline: true,
            mirror: None,
            progress: None,
        }
    }
}
