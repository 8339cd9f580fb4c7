//! One possible meaning of a reference: a place, its state, and what is wanted from it.

use crate::error::Result;
use crate::marketplace::reference::address::{RepoUrl, Rev, SubPath};
use crate::marketplace::reference::pin::Pin;
use crate::marketplace::reference::web::WebUrl;

/// One possible meaning of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Where to look.
    pub place: Place,
    /// Which of the skills there are wanted.
    pub want: Want,
}

/// Where skills can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A git repository in a certain state.
    Repository {
        /// Its address.
        url: RepoUrl,
        /// Which state.
        at: At,
    },
    /// A local directory or archive, as written: `./x`, `../x`, `/x`, `~/x`.
    Local(String),
    /// An archive on the web.
    Archive {
        /// Its address.
        url: WebUrl,
        /// The required SHA-256.
        sha256: Option<String>,
    },
    /// A site that lists its skills under `/.well-known/`.
    WellKnown(WebUrl),
    /// One `SKILL.md`.
    File(WebUrl),
}

/// What is wanted from a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// Its only skill.
    Any,
    /// The skill at its root.
    Root,
    /// The skill of this name as written, or the manifest's group of that name.
    Named(String),
    /// What is at this path, or else the skill of that name.
    PathOrName(SubPath),
    /// What is at this path.
    Path(SubPath),
}

/// A state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// The default branch.
    Default,
    /// The short name of a branch or tag, as people type it.
    Rev(Rev),
    /// An unambiguous name, as kept in the lockfile.
    Pin(Pin),
    /// A combined ref and path, as in `/tree/REF/PATH`: only the repository's refs show where the
    /// ref ends.
    RefAndPath(SubPath),
}

/// Parses the state of a repository, from after `#` or from a lockfile.
pub fn at(fragment: Option<&str>) -> Result<At> {
    let Some(written) = fragment else {
        return Ok(At::Default);
    };
    match Pin::parse(written) {
        Some(pin) => Ok(At::Pin(pin)),
        None => Ok(At::Rev(Rev::parse(written)?)),
    }
}
