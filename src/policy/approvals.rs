//! The record of approvals: what was approved, by whom and when. Does not know what needs one.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::policy::{Enterprise, Ledger};
use crate::sys::Moment;

/// The approvals of all skills of one name, by the directory in which each was approved. One counts
/// in any directory, because root approves what is in the users' directories.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Approvals(pub BTreeMap<String, Approval>);

/// One approval.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Approval {
    /// The digest of the approved skill.
    pub digest: String,
    /// The user's name.
    pub by: Option<String>,
    /// In UTC.
    pub time: String,
}

impl Approval {
    /// One that is given now.
    pub fn now(digest: String, by: Option<String>) -> Self {
        let time = Moment::now().to_string();
        Self { digest, by, time }
    }
}

impl Approvals {
    /// Whether a skill with this digest is approved.
    pub fn has(&self, digest: &str) -> bool {
        self.0.values().any(|approval| approval.digest == digest)
    }

    /// Whether the skill in `dir` was approved in some state.
    pub fn was_for(&self, dir: &Path) -> bool {
        self.0.contains_key(&key(dir))
    }
}

impl Ledger<Approvals> {
    /// The approvals that count on this machine: only root's, if root has set up the system
    /// directory; else those recorded in `state`.
    pub fn approvals(enterprise: &Enterprise, state: &Path) -> Self {
        let record = |dir: &Path| Self::for_user(dir.join("approvals.json"));
        if enterprise.is_roots() {
            return record(enterprise.dirs()[0]).for_root();
        }
        record(state)
    }

    /// Approves the skill in `dir`. What was approved of its namesakes stays.
    ///
    /// # Errors
    /// As [`Ledger::put`].
    pub fn approve(&self, name: &str, dir: &Path, approval: Approval) -> Result<()> {
        self.change(|entries| {
            let of_name = entries.entry(name.to_owned()).or_default();
            of_name.0.insert(key(dir), approval);
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
            let Some(of_name) = entries.get_mut(name) else {
                return;
            };
            was_there = dir.is_none_or(|dir| of_name.0.remove(&key(dir)).is_some());
            if dir.is_none() || of_name.0.is_empty() {
                entries.remove(name);
            }
        })?;
        Ok(was_there)
    }
}

fn key(dir: &Path) -> String {
    dir.display().to_string()
}
