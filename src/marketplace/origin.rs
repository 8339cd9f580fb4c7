//! Where a skill came from, as the lockfile keeps it, and the way back there.

use super::address::{RepoUrl, SubPath};
use super::choose::Want;
use super::lockfile::{Kind, LockEntry};
use super::reference::{self, Place, Reading};
use super::web::WebUrl;
use crate::error::Result;

/// Where skills come from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The canonical address, or the absolute path.
    pub source: String,
    /// See [`Kind`].
    pub kind: Kind,
    /// As typed.
    pub requested: String,
    /// The branch, tag or commit asked for; of an archive, the digest asked for.
    pub rev: Option<String>,
    /// The commit it was; of an archive, its digest.
    pub commit: Option<String>,
}

impl Origin {
    /// The source as people write it.
    pub fn shown(&self) -> String {
        RepoUrl::parse(&self.source).map_or_else(|_| self.source.clone(), |url| url.to_string())
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
    /// As [`LockEntry::reading`].
    pub fn pinned(&self) -> Result<Reading> {
        let commit = self.commit.as_deref().filter(|_| self.kind == Kind::Git);
        let rev = commit.or(self.rev.as_deref());
        reading(self.kind, &self.source, rev, &self.path)
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
