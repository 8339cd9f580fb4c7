//! The record of approvals: what was approved, by whom and when. Does not know what needs one.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::policy::Ledger;
use crate::run_context::RunContext;
use crate::sys::Moment;

/// Version 1 had one digest by name, version 2 one by directory.
const VERSION: u32 = 3;

impl RunContext {
    /// The approvals that count on this machine: only root's, if root has or may have set up the
    /// system directory.
    pub fn approved(&self) -> Ledger<Approvals> {
        let enterprise = self.enterprise();
        let record = |dir: &Path| Ledger::for_user(dir.join("approvals.json"), VERSION);
        if enterprise.may_be_roots() {
            return record(enterprise.dirs()[0]).for_root();
        }
        record(self.store().dir())
    }
}

/// The approvals of all skills of one name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Approvals {
    /// One digest: version 1 recorded no directory.
    One(String),
    /// One by the directory in which it was approved. It counts in any, because root approves
    /// what is in the users' directories.
    Each(BTreeMap<String, Approval>),
}

/// One approval.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Approval {
    /// Of version 2.
    Unsigned(String),
    /// With who gave it, if that is known, and when.
    Signed {
        /// The digest of the approved skill.
        digest: String,
        /// The user's name.
        by: Option<String>,
        /// In UTC.
        time: String,
    },
}

impl Approval {
    /// One that is given now.
    pub fn now(digest: String, by: Option<String>) -> Self {
        let time = Moment::now().to_string();
        Self::Signed { digest, by, time }
    }

    /// The digest of the approved skill.
    pub fn digest(&self) -> &str {
        match self {
            Self::Unsigned(digest) | Self::Signed { digest, .. } => digest,
        }
    }
}

impl Approvals {
    /// Whether a skill with this digest is approved.
    pub fn has(&self, digest: &str) -> bool {
        match self {
            Self::One(approved) => approved == digest,
            Self::Each(approved) => approved.values().any(|one| one.digest() == digest),
        }
    }

    /// Whether the skill in `dir` was approved in some state.
    pub fn was_for(&self, dir: &Path) -> bool {
        match self {
            Self::One(_) => true,
            Self::Each(approved) => approved.contains_key(&key(dir)),
        }
    }
}

impl Ledger<Approvals> {
    /// Approves the skill in `dir`. What was approved of its namesakes stays, `alone` says that
    /// there are none.
    ///
    /// # Errors
    /// As [`Ledger::put`].
    pub fn approve(&self, name: &str, dir: &Path, approval: Approval, alone: bool) -> Result<()> {
        self.change(|entries| {
            let mut each = match entries.remove(name) {
                Some(Approvals::Each(each)) => each,
                Some(Approvals::One(old)) if !alone => {
                    [(String::new(), Approval::Unsigned(old))].into()
                }
                _ => BTreeMap::new(),
            };
            each.insert(key(dir), approval);
            entries.insert(name.to_owned(), Approvals::Each(each));
        })
    }

    /// Takes back the approval of the skill in `dir`, or of all of this name. Returns whether there
    /// was one.
    ///
    /// # Errors
    /// As [`Ledger::put`].
    pub fn revoke(&self, name: &str, dir: Option<&Path>) -> Result<bool> {
        let mut was_there = false;
        self.change(|entries| {
            was_there = match (entries.get_mut(name), dir) {
                (Some(Approvals::Each(each)), Some(dir)) => each.remove(&key(dir)).is_some(),
                (found, _) => found.is_some(),
            };
            let is_left = dir.is_some()
                && matches!(entries.get(name), Some(Approvals::Each(each)) if !each.is_empty());
            if !is_left {
                entries.remove(name);
            }
        })?;
        Ok(was_there)
    }
}

fn key(dir: &Path) -> String {
    dir.display().to_string()
}
