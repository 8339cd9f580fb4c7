//! What the lockfiles say about installed skills.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Entry, Layer};
use crate::marketplace::{LockEntry, Market};
use crate::run_context::RunContext;
use crate::sys::Base;

/// The entries of the lockfiles, each read once.
#[derive(Debug, Default)]
pub struct Installed(BTreeMap<PathBuf, Vec<LockEntry>>);

/// What a lockfile says about a skill.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The lockfile's entry, to be shown and compared with the files.
    pub said: &'a LockEntry,
    /// Whether the skill came with its lockfile, as a project's does.
    pub claimed: bool,
}

impl<'a> Origin<'a> {
    /// The entry, unless it is only a claim.
    pub fn known(self) -> Option<&'a LockEntry> {
        (!self.claimed).then_some(self.said)
    }
}

impl Installed {
    /// What is said about the entry's skill; `None` for one put there by hand. A project's own
    /// claims about its sources do not count.
    pub fn origin(&mut self, ctx: &RunContext, entry: &Entry) -> Option<Origin<'_>> {
        let name = entry.dir.file_name()?.to_str()?;
        let base = entry.dir.parent()?.parent()?;
        let entries = self
            .0
            .entry(base.to_owned())
            .or_insert_with(|| ctx.market_at(&ctx.base(base)).entries().unwrap_or_default());
        let said = entries.iter().find(|said| said.name == *name)?;
        let claimed = entry.layer == Layer::Project;
        Some(Origin { said, claimed })
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
            permit: None,
        }
    }
}
