//! The record of approvals: what was approved, by whom and when. Does not know what needs one.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::policy::{Ledger, Statement};
use crate::run_context::RunContext;
use crate::sys::Moment;

/// Version 1 had one digest by name, version 2 one by directory, version 3 no signed ones.
const VERSION: u32 = 4;
/// Before the digest, in place of a directory.
const SIGNED: &str = "signed ";
const WITHDRAWN: &str = "withdrawn ";
/// The most files that are recorded for a later comparison.
const FILES: usize = 500;

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

    /// The approvals that were asked for on this machine, by the skill's name.
    pub fn approval_requests(&self) -> Ledger<Requested> {
        Ledger::for_user(self.store().dir().join("approval-requests.json"), 1)
    }
}

/// An approval that somebody asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Requested {
    /// The digest of the skill as it was.
    pub digest: String,
    /// The user's name.
    pub by: Option<String>,
    /// In UTC.
    pub time: String,
    /// Why.
    pub reason: Option<String>,
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
    /// That what had this digest is approved no longer, whoever else approves it.
    Withdrawn {
        /// The digest.
        withdrawn: String,
        /// The signer's name.
        by: String,
        /// In UTC.
        time: String,
    },
    /// With who gave it, if that is known, and when.
    Signed {
        /// The digest of the approved skill.
        digest: String,
        /// The user's name, or the signer's.
        by: Option<String>,
        /// In UTC.
        time: String,
        /// Its files, each with the beginning of its digest, to compare later ones with.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        files: BTreeMap<String, String>,
    },
}

impl Approval {
    /// One that is given now.
    pub fn now(digest: String, by: Option<String>, files: BTreeMap<String, String>) -> Self {
        let time = Moment::now().to_string();
        Self::Signed {
            digest,
            by,
            time,
            files: few(files),
        }
    }

    /// One that `by` has signed elsewhere.
    pub fn signed(said: &Statement, by: String) -> Self {
        Self::Signed {
            digest: said.digest.clone(),
            by: Some(by),
            time: said.time.clone(),
            files: few(said.files.clone()),
        }
    }

    /// A withdrawal that `by` has signed.
    pub fn withdrawn(said: &Statement, by: String) -> Self {
        Self::Withdrawn {
            withdrawn: said.digest.clone(),
            by,
            time: said.time.clone(),
        }
    }

    /// The digest of the approved skill; `None` for a withdrawal.
    pub fn digest(&self) -> Option<&str> {
        match self {
            Self::Unsigned(digest) | Self::Signed { digest, .. } => Some(digest),
            Self::Withdrawn { .. } => None,
        }
    }

    /// When it was given, and its files, if they are recorded.
    fn files(&self) -> Option<(&str, &BTreeMap<String, String>)> {
        match self {
            Self::Signed { files, time, .. } if !files.is_empty() => Some((time, files)),
            _ => None,
        }
    }

    /// What stands in place of a directory for one that was signed elsewhere.
    fn signed_key(&self) -> String {
        match self {
            Self::Withdrawn { withdrawn, .. } => format!("{WITHDRAWN}{withdrawn}"),
            Self::Unsigned(digest) | Self::Signed { digest, .. } => format!("{SIGNED}{digest}"),
        }
    }
}

impl Approvals {
    /// Whether a skill with this digest is approved.
    pub fn has(&self, digest: &str) -> bool {
        match self {
            Self::One(approved) => approved == digest,
            Self::Each(approved) => {
                let mut each = approved.values();
                !self.is_withdrawn(digest) && each.any(|one| one.digest() == Some(digest))
            }
        }
    }

    /// The one of a directory, or of what stands in its place; `None` if there is none.
    pub fn at(&self, place: Option<&str>) -> Option<Approval> {
        match self {
            Self::One(digest) => Some(Approval::Unsigned(digest.clone())),
            Self::Each(all) => all.get(place?).cloned(),
        }
    }

    /// Whether the approval of this digest was withdrawn for good.
    pub fn is_withdrawn(&self, digest: &str) -> bool {
        matches!(self, Self::Each(all) if all.contains_key(&format!("{WITHDRAWN}{digest}")))
    }

    /// Whether this signed approval or withdrawal is recorded.
    pub fn has_taken(&self, signed: &Approval) -> bool {
        matches!(self, Self::Each(all) if all.contains_key(&signed.signed_key()))
    }

    /// The files of the skill in `dir` as they were approved, or of the one of its name that was
    /// last approved by a signature.
    pub fn files(&self, dir: &Path) -> Option<&BTreeMap<String, String>> {
        let Self::Each(all) = self else { return None };
        let signed = all.iter().filter(|(key, _)| key.starts_with(SIGNED));
        let here = all.get(&key(dir)).and_then(Approval::files);
        let last = || {
            signed
                .filter_map(|(_, one)| one.files())
                .max_by_key(|(time, _)| *time)
        };
        here.or_else(last).map(|(_, files)| files)
    }

    /// Whether the skill in `dir` was approved in some state.
    pub fn was_for(&self, dir: &Path) -> bool {
        match self {
            Self::One(_) => true,
            Self::Each(approved) => {
                let mut keys = approved.keys();
                approved.contains_key(&key(dir)) || keys.any(|key| key.starts_with(SIGNED))
            }
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

    /// Records what was signed elsewhere.
    ///
    /// # Errors
    /// As [`Ledger::put`].
    pub fn take_signed(&self, name: &str, signed: Approval) -> Result<()> {
        self.change(|entries| {
            let mut each = match entries.remove(name) {
                Some(Approvals::Each(each)) => each,
                Some(Approvals::One(old)) => [(String::new(), Approval::Unsigned(old))].into(),
                None => BTreeMap::new(),
            };
            each.insert(signed.signed_key(), signed);
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
                (Some(Approvals::Each(each)), dir) => {
                    let (before, own) = (each.len(), dir.map(key));
                    // What was withdrawn stays so. What was signed counts in every directory.
                    let stays = |key: &str| match &own {
                        Some(own) => key != own && !key.starts_with(SIGNED),
                        None => key.starts_with(WITHDRAWN),
                    };
                    each.retain(|key, _| stays(key));
                    each.len() < before
                }
                (found, _) => found.is_some(),
            };
            if !matches!(entries.get(name), Some(Approvals::Each(each)) if !each.is_empty()) {
                entries.remove(name);
            }
        })?;
        Ok(was_there)
    }
}

fn few(files: BTreeMap<String, String>) -> BTreeMap<String, String> {
    if files.len() > FILES {
        BTreeMap::new()
    } else {
        files
    }
}

fn key(dir: &Path) -> String {
    dir.display().to_string()
}
