//! What the lockfiles say about installed skills.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::roots::base_at;
use super::signing_files::market_at;
use super::{Entry, Layer};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::LockEntry;
use crate::skill::{Skill, tokens};

/// The entries of the lockfiles, each read once.
#[derive(Debug, Default)]
pub struct InstalledEntries {
    by_base: BTreeMap<PathBuf, Result<Vec<LockEntry>>>,
    /// Of each directory of skills, the one above it into which this program installs, if it is such.
    bases: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl InstalledEntries {
    /// The lockfile's entry for a skill, to be shown and compared with the files; `None` for one put
    /// there by hand. A project's lockfile came with it, so that its entry is only a claim.
    pub fn said(&mut self, facts: &Facts, entry: &Entry) -> Option<&LockEntry> {
        self.entry_of_dir(facts, &entry.dir).ok().flatten()
    }

    /// The lockfile's entry for the skill in this directory.
    ///
    /// # Errors
    /// When the lockfile cannot be read.
    pub fn entry_of_dir(
        &mut self,
        facts: &Facts,
        dir: &Path,
    ) -> Result<Option<&LockEntry>, &Error> {
        let (Some(name), Some(root)) = (dir.file_name().and_then(OsStr::to_str), dir.parent())
        else {
            return Ok(None);
        };
        let base = self.base_of(facts, root);
        let Some(base) = base.as_deref().or(root.parent()) else {
            return Ok(None);
        };
        let read = || market_at(facts, &base_at(facts, base)).entries();
        let entries = self.by_base.entry(base.to_owned()).or_insert_with(read);
        let entries = entries.as_ref()?;
        let first = entries.partition_point(|said| *said.name < *name);
        Ok(entries.get(first).filter(|said| said.name == *name))
    }

    /// As [`InstalledEntries::said`], unless it is only a claim: what others than this program have
    /// installed brings its lockfile with it, too.
    pub fn known(&mut self, facts: &Facts, entry: &Entry) -> Option<&LockEntry> {
        if self.is_claimed(facts, entry) {
            return None;
        }
        self.said(facts, entry)
    }

    /// Whether what a lockfile says of a skill is only a claim.
    pub fn is_claimed(&mut self, facts: &Facts, entry: &Entry) -> bool {
        let root = entry.dir.parent();
        entry.layer == Layer::Project || root.is_none_or(|root| self.base_of(facts, root).is_none())
    }

    /// The directory above the skills in `root`, under whatever name, if this program installs there.
    fn base_of(&mut self, facts: &Facts, root: &Path) -> Option<PathBuf> {
        let find = || {
            let real = root.canonicalize().ok()?;
            let layers = [Layer::Personal, Layer::Plugin].map(|layer| layer.dir(facts));
            let enterprise = facts.enterprise();
            let enterprise = enterprise.dirs().into_iter().map(Path::to_owned);
            let mut bases = enterprise.chain(layers);
            bases.find(|base| {
                let skills = base.join("skills");
                skills == root || skills.canonicalize().is_ok_and(|skills| skills == real)
            })
        };
        let known = self.bases.entry(root.to_owned()).or_insert_with(find);
        known.clone()
    }
}

/// Writes the events that were held back until the answer was sent; activations with where the
/// skill is from, who signed it, and about how many tokens its instructions have. What a project's
/// lockfile says of that is only a claim.
pub fn write_events(facts: &Facts) {
    let installed = RefCell::new(InstalledEntries::default());
    facts.write_events(|event| {
        if event.text("event") != "activate" {
            return event;
        }
        let dir = PathBuf::from(event.text("path"));
        let body = Skill::load(&dir).ok().and_then(|skill| skill.body().ok());
        let event = event.with("tokens", body.map(|body| tokens(&body)));
        let base = dir.parent().and_then(Path::parent);
        if base.is_none_or(|base| base_at(facts, base).is_shared()) {
            return event;
        }
        let mut installed = installed.borrow_mut();
        let Ok(Some(said)) = installed.entry_of_dir(facts, &dir) else {
            return event;
        };
        let signer = said.signer.as_ref().map(ToString::to_string);
        event
            .with("source", said.source.as_str())
            .with("signer", signer)
    });
}
