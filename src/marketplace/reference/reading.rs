//! One possible meaning of a reference: a place, its state, and what is wanted from it.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::marketplace::reference::{OciAt, OciRepo, Pin, RepoUrl, Rev, SubPath, WebUrl};

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
    /// A repository of an OCI registry.
    Registry {
        /// Its address.
        repo: OciRepo,
        /// Which manifest; `None` for the tag `latest`.
        at: Option<OciAt>,
    },
}

/// The kind of a source, as the lockfile records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A git repository.
    #[default]
    Git,
    /// A local directory, copied.
    Local,
    /// An archive, local or from the web.
    Archive,
    /// A site with a well-known index.
    WellKnown,
    /// One `SKILL.md` from the web.
    File,
    /// A repository of an OCI registry.
    Oci,
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

impl Reading {
    /// A place in a repository.
    pub fn repository(url: RepoUrl, at: At, want: Want) -> Self {
        let place = Place::Repository { url, at };
        Self { place, want }
    }

    /// The reading of a recorded place. `rev` is a branch, tag or commit, or an archive's digest;
    /// `path` is the skill's directory there.
    ///
    /// # Errors
    /// When one of them is invalid.
    pub fn recorded(kind: Kind, source: &str, rev: Option<&str>, path: &str) -> Result<Self> {
        let place = match kind {
            Kind::Git => {
                let (url, at) = (RepoUrl::parse(source)?, At::parse(rev)?);
                Place::Repository { url, at }
            }
            Kind::Local => Place::Local(source.to_owned()),
            Kind::Archive if source.starts_with('/') => Place::Local(match rev {
                Some(digest) => format!("{source}#sha256={digest}"),
                None => source.to_owned(),
            }),
            Kind::Archive => {
                let (url, sha256) = (WebUrl::parse(source)?, rev.map(str::to_owned));
                Place::Archive { url, sha256 }
            }
            Kind::WellKnown => Place::WellKnown(WebUrl::parse(source)?),
            Kind::File => Place::File(WebUrl::parse(source)?),
            Kind::Oci => Place::Registry {
                repo: OciRepo::parse(source)?,
                at: rev.map(OciAt::parse).transpose()?,
            },
        };
        let want = match path {
            "" => Want::Root,
            path => Want::Path(SubPath::parse(path)?),
        };
        Ok(Self { place, want })
    }
}

impl Kind {
    /// The owner of a source of this kind: an account, a group or a host; `None` for a local path.
    pub fn owner(self, source: &str) -> Option<String> {
        if self == Self::Git {
            return RepoUrl::parse(source).ok()?.owner().map(str::to_owned);
        }
        if self == Self::Oci {
            let repo = OciRepo::parse(source).ok()?;
            return Some(repo.owner().unwrap_or(repo.host()).to_owned());
        }
        Some(WebUrl::parse(source).ok()?.host().to_owned())
    }
}

impl Place {
    /// The place as it is recorded: kind, source, and branch, tag, commit or digest.
    pub fn record(&self) -> (Kind, String, Option<String>) {
        let on_web = |kind, url: &WebUrl| (kind, url.to_string(), None);
        match self {
            Self::Repository { url, at } => (Kind::Git, url.as_str().to_owned(), at.text()),
            Self::Local(path) => (Kind::Local, path.clone(), None),
            Self::Archive { url, sha256 } => (Kind::Archive, url.to_string(), sha256.clone()),
            Self::WellKnown(url) => on_web(Kind::WellKnown, url),
            Self::File(url) => on_web(Kind::File, url),
            Self::Registry { repo, at } => {
                let at = at.as_ref().map(|at| at.as_str().to_owned());
                (Kind::Oci, repo.to_string(), at)
            }
        }
    }
}

impl At {
    /// Parses the state of a repository, from after `#` or from a lockfile.
    ///
    /// # Errors
    /// When it cannot be a branch, tag or commit.
    pub fn parse(fragment: Option<&str>) -> Result<Self> {
        let Some(written) = fragment else {
            return Ok(Self::Default);
        };
        match Pin::parse(written) {
            Some(pin) => Ok(Self::Pin(pin)),
            None => Ok(Self::Rev(Rev::parse(written)?)),
        }
    }

    /// The state as text; `None` for the default branch.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Default => None,
            Self::Rev(rev) => Some(rev.as_str().to_owned()),
            Self::Pin(pin) => Some(pin.to_string()),
            Self::RefAndPath(place) => Some(place.as_str().to_owned()),
        }
    }
}
