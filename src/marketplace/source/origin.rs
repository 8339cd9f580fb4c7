//! Where a skill came from, as the lockfile records it, and the reading that leads back there.

use serde::Serialize;
use serde_json::Map;

use crate::marketplace::lock::{Files, InstalledName, LockEntry};
use crate::marketplace::prelude::*;

/// The source of skills. Reports show of it what a decision about it depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The canonical address, or the absolute path.
    pub source: String,
    /// The address that git really used, if different.
    pub address: Option<String>,
    /// See [`SourceKind`].
    #[serde(skip)]
    pub kind: SourceKind,
    /// The reference as typed.
    #[serde(skip)]
    pub requested: String,
    /// The requested branch or tag by its full name, or the commit; for an archive, the requested
    /// digest.
    #[serde(skip)]
    pub rev: Option<String>,
    /// The id of the annotated tag that was requested.
    #[serde(skip)]
    pub tag: Option<CommitId>,
    /// The installed commit; for an archive, its digest.
    pub commit: Option<String>,
    /// Whether a branch or tag of the repository contains that commit; `None` for other kinds.
    pub reach: Option<Reachability>,
}

impl Origin {
    /// A warning for a commit that may not belong to the source.
    pub fn doubt(&self) -> Option<&'static str> {
        self.reach.as_ref()?.doubt()
    }

    /// The source as people write it.
    pub fn shown(&self) -> String {
        RepoUrl::parse(&self.source).map_or_else(|_| self.source.clone(), |url| url.to_string())
    }

    /// What identifies the skill at `path`.
    pub fn id(&self, path: &str) -> String {
        format!("{}#{path}", self.source)
    }

    /// The lockfile entry of the skill at `path`, without what its files determine.
    pub fn entry(&self, name: &InstalledName, path: &str) -> LockEntry {
        LockEntry {
            id: self.id(path),
            name: name.clone(),
            source: self.source.clone(),
            address: self.address.clone(),
            kind: self.kind,
            requested: self.requested.clone(),
            rev: self.rev.clone(),
            commit: self.commit.clone(),
            path: path.to_owned(),
            tree: None,
            sha256: LockEntry::UNKNOWN_FILES.to_owned(),
            files: Files::default(),
            license: None,
            signer: None,
            other: Map::new(),
        }
    }
}

impl LockEntry {
    /// The reading that leads to this skill again.
    ///
    /// # Errors
    /// When the lockfile contains an invalid address or path.
    pub fn reading(&self) -> Result<Reading> {
        Reading::recorded(self.kind, &self.source, self.rev.as_deref(), &self.path)
    }

    /// As [`LockEntry::reading`], but for exactly the installed state.
    ///
    /// # Errors
    /// As [`LockEntry::reading`], and when a repository's entry has no full commit id.
    pub fn pinned(&self) -> Result<Reading> {
        let commit = self.commit_id();
        let at = match self.kind {
            SourceKind::Git if commit.is_none() => {
                let error = Error::new("the lockfile does not say which commit it was");
                return Err(error.hint("remove the skill and install it again"));
            }
            SourceKind::Git => commit.as_ref().map(CommitId::as_str),
            SourceKind::Oci => self.commit.as_deref(),
            _ => self.rev.as_deref(),
        };
        Reading::recorded(self.kind, &self.source, at, &self.path)
    }

    /// The commit installed from a repository; `None` if the lockfile has no valid one.
    pub fn commit_id(&self) -> Option<CommitId> {
        let commit = self
            .commit
            .as_deref()
            .filter(|_| self.kind == SourceKind::Git);
        CommitId::parse(commit?)
    }

    /// What it is pinned to; `None` for the default branch.
    pub fn pin(&self) -> Option<Pin> {
        let rev = self.rev.as_deref().filter(|_| self.kind == SourceKind::Git);
        Pin::parse(rev?)
    }
}
