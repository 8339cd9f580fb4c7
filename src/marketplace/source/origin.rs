//! Where a skill came from, as the lockfile records it, and the reading that leads back there.

use crate::error::{Error, Result};
use crate::marketplace::reference::reading;
use serde::Serialize;

use crate::marketplace::lock::lock_fields::LockRef;
use crate::marketplace::lock::lockfile::{Kind, LockEntry};
use crate::marketplace::reference::address::{RepoUrl, SubPath};
use crate::marketplace::reference::pin::{CommitId, Pin, Reach};
use crate::marketplace::reference::reading::{Place, Reading, Want};
use crate::marketplace::reference::web::WebUrl;

/// The source of a skill to be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// The canonical address, or the absolute directory.
    pub source: String,
    /// The address that git really used, if different.
    pub address: Option<String>,
    /// The commit; `None` for a directory.
    pub commit: Option<String>,
    /// Whether that commit belongs to the source; `None` for sources without forks.
    pub reach: Option<Reach>,
}

impl Provenance {
    /// A warning for a commit that may not belong to the source.
    pub fn doubt(&self) -> Option<&'static str> {
        self.reach.as_ref()?.doubt()
    }
}

/// The source of skills.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The canonical address, or the absolute path.
    pub source: String,
    /// The address that git really used, if different.
    pub address: Option<String>,
    /// See [`Kind`].
    pub kind: Kind,
    /// The reference as typed.
    pub requested: String,
    /// The requested branch or tag by its full name, or the commit; for an archive, the requested
    /// digest.
    pub rev: Option<LockRef>,
    /// The installed commit; for an archive, its digest.
    pub commit: Option<String>,
    /// Whether a branch or tag of the repository contains that commit; `None` for other kinds.
    pub reach: Option<Reach>,
}

impl Origin {
    /// The source as people write it.
    pub fn shown(&self) -> String {
        RepoUrl::parse(&self.source).map_or_else(|_| self.source.clone(), |url| url.to_string())
    }
}

impl Origin {
    /// What a decision about the source depends on.
    pub fn provenance(&self) -> Provenance {
        Provenance {
            source: self.source.clone(),
            address: self.address.clone(),
            commit: self.commit.clone(),
            reach: self.reach.clone(),
        }
    }
}

impl LockEntry {
    /// The reading that leads to this skill again.
    ///
    /// # Errors
    /// When the lockfile contains an invalid address or path.
    pub fn reading(&self) -> Result<Reading> {
        reading(self.kind, &self.source, self.rev.as_deref(), &self.path)
    }

    /// As [`LockEntry::reading`], but for exactly the installed state.
    ///
    /// # Errors
    /// As [`LockEntry::reading`], and when a repository's entry has no full commit id.
    pub fn pinned(&self) -> Result<Reading> {
        if self.kind != Kind::Git {
            return self.reading();
        }
        let commit = self.commit_id().ok_or_else(|| {
            Error::new("the lockfile does not say which commit it was")
                .hint("remove the skill and install it again")
        })?;
        reading(self.kind, &self.source, Some(commit.as_str()), &self.path)
    }

    /// The commit installed from a repository; `None` if the lockfile has no valid one.
    pub fn commit_id(&self) -> Option<CommitId> {
        let commit = self.commit.as_deref().filter(|_| self.kind == Kind::Git);
        CommitId::parse(commit?)
    }

    /// What it is pinned to; `None` for the default branch and for a short name written by earlier
    /// releases.
    pub fn pin(&self) -> Option<Pin> {
        let rev = self.rev.as_deref().filter(|_| self.kind == Kind::Git);
        Pin::parse(rev?)
    }
}

/// The reading for a place as it is recorded.
pub fn reading(kind: Kind, source: &str, rev: Option<&str>, path: &str) -> Result<Reading> {
    let place = match kind {
        Kind::Git => {
            let (url, at) = (RepoUrl::parse(source)?, reading::at(rev)?);
            Place::Repository { url, at }
        }
        Kind::Local | Kind::Link => Place::Local(source.to_owned()),
        Kind::Archive if source.starts_with('/') => Place::Local(match rev {
            Some(digest) => format!("{source}#sha256={digest}"),
            None => source.to_owned(),
        }),
        Kind::Archive => Place::Archive {
            url: WebUrl::parse(source)?,
            sha256: rev.map(str::to_owned),
        },
        Kind::WellKnown => Place::WellKnown(WebUrl::parse(source)?),
        Kind::File => Place::File(WebUrl::parse(source)?),
    };
    let want = match path {
        "" => Want::Root,
        path => Want::Path(SubPath::parse(path)?),
    };
    Ok(Reading { place, want })
}
