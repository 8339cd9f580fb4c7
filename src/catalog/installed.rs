//! What the lockfiles say about installed skills.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use super::{Entry, Layer};
use crate::marketplace::{KnownSigners, LockEntry, Market, Permit, Signing};
use crate::run_context::RunContext;
use crate::sys::Base;

/// The entries of the lockfiles, each read once.
#[derive(Debug, Default)]
pub struct Installed(BTreeMap<PathBuf, Vec<LockEntry>>);

impl Installed {
    /// The lockfile's entry for a skill, to be shown and compared with the files; `None` for one put
    /// there by hand. A project's lockfile came with it, so that its entry is only a claim.
    pub fn said(&mut self, ctx: &RunContext, entry: &Entry) -> Option<&LockEntry> {
        let name = entry.dir.file_name()?.to_str()?;
        let base = entry.dir.parent()?.parent()?;
        let read = || ctx.market_at(&ctx.base(base)).entries().unwrap_or_default();
        let entries = self.0.entry(base.to_owned()).or_insert_with(read);
        let first = entries.partition_point(|said| *said.name < *name);
        entries.get(first).filter(|said| said.name == *name)
    }

    /// As [`Installed::said`], unless it is only a claim.
    pub fn known(&mut self, ctx: &RunContext, entry: &Entry) -> Option<&LockEntry> {
        let said = self.said(ctx, entry);
        said.filter(|_| entry.layer != Layer::Project)
    }
}

impl RunContext {
    /// What is required of signatures, and who is known: nobody, if that cannot be
    /// read.
    pub fn signing(&self) -> Signing<'_> {
        let known = KnownSigners::read(&Base::own(self.dirs.plugin.clone())).unwrap_or_default();
        let demands =
            |source: Option<&str>, address: Option<&str>| self.signing_demands(source, address);
        Signing::new(Box::new(demands), known)
    }

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
            permit: Rc::new(Permit::any()),
            signing: Rc::new(self.signing()),
            dry_run: false,
        }
    }
}
