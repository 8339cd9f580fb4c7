//! Where a skill came from, as the lockfile keeps it, and the way back there.

use super::address::{RepoUrl, SubPath};
use super::choose::Want;
use super::lock_fields::LockRef;
use super::lockfile::{Kind, LockEntry};
use super::pin::{CommitId, Pin, Reach};
use super::plan::Provenance;
use super::reference::{self, Place, Reading};
use super::web::WebUrl;
use crate::error::{Error, Result};

/// Where skills come from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The canonical address, or the absolute path.
    pub source: String,
    /// Where git really went, if elsewhere.
    pub address: Option<String>,
    /// See [`Kind`].
    pub kind: Kind,
    /// As typed.
    pub requested: String,
    /// The branch or tag, by its full name, or the commit asked for; of an archive, the digest asked
    /// for.
    pub rev: Option<LockRef>,
    /// The commit it was; of an archive, its digest.
    pub commit: Option<String>,
    /// Whether a repository has that commit in a branch or tag; none for other kinds.
    pub reach: Option<Reach>,
}

impl Origin {
    /// The source as people write it.
    pub fn shown(&self) -> String {
        RepoUrl::parse(&self.source).map_or_else(|_| self.source.clone(), |url| url.to_string())
    }
}

impl Origin {
    /// What of it somebody decides by.
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
    /// When the lockfile has something that cannot be an address or a path.
    pub fn reading(&self) -> Result<Reading> {
        reading(self.kind, &self.source, self.rev.as_deref(), &self.path)
    }

    /// As [`LockEntry::reading`], to the very state that was installed.
    ///
    /// # Errors
    /// As [`LockEntry::reading`], and when what it has of a repository is no whole commit.
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

    /// The commit installed from a repository; `None` where the lockfile has none, or something else.
    pub fn commit_id(&self) -> Option<CommitId> {
        let commit = self.commit.as_deref().filter(|_| self.kind == Kind::Git);
        CommitId::parse(commit?)
    }

    /// What it was installed to stay at; `None` for the default branch and for a short name, as earlier
    /// releases kept it.
    pub fn pin(&self) -> Option<Pin> {
        let rev = self.rev.as_deref().filter(|_| self.kind == Kind::Git);
        Pin::parse(rev?)
    }
}

/// The reading of what was kept of a place.
pub fn reading(kind: Kind, source: &str, rev: Option<&str>, path: &str) -> Result<Reading> {
    let place = match kind {
        Kind::Git => {
            let (url, at) = (RepoUrl::parse(source)?, reference::at(rev)?);
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
