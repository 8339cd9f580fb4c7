//! The requested state of a repository as an unambiguous name: a full ref name or a commit id.
//! Pure.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::{Error, Result};
use crate::marketplace::reference::RefName;
use crate::marketplace::reference::address::written;
use crate::skill::one_line;

const HEADS: &str = "refs/heads/";
const TAGS: &str = "refs/tags/";

/// A full commit id: 40 or 64 lowercase hexadecimal digits. Only this type reaches git as an id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommitId(String);

impl CommitId {
    /// Parses a commit id; `None` for anything else, including an abbreviated id.
    pub fn parse(text: &str) -> Option<Self> {
        let whole = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
        whole.then(|| Self(text.to_ascii_lowercase()))
    }

    /// The option of `git init` for repositories with ids of this length.
    pub fn object_format(&self) -> &'static str {
        match self.0.len() {
            64 => "--object-format=sha256",
            _ => "--object-format=sha1",
        }
    }
}

written!(CommitId CommitPrefix);

/// What an install is pinned to. The pin of a tag or commit never means a branch of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pin {
    /// A branch, which moves.
    Branch(RefName),
    /// A tag, which should not move.
    Tag(RefName),
    /// A commit, which cannot move.
    Commit(CommitId),
}

impl Pin {
    /// Parses a full ref name or a commit id; `None` for a short name, which could be a branch or a
    /// tag.
    pub fn parse(written: &str) -> Option<Self> {
        if let Some(id) = CommitId::parse(written) {
            return Some(Self::Commit(id));
        }
        let name = |rest: &str| RefName::parse(rest).ok();
        match written.strip_prefix(HEADS) {
            Some(branch) => name(branch).map(Self::Branch),
            None => name(written.strip_prefix(TAGS)?).map(Self::Tag),
        }
    }

    /// The name of a branch or tag without `refs/heads/` or `refs/tags/`; `None` for a commit.
    pub fn short(&self) -> Option<&str> {
        match self {
            Self::Branch(name) | Self::Tag(name) => Some(name.as_str()),
            Self::Commit(_) => None,
        }
    }
}

/// The form read by [`Pin::parse`] and kept in the lockfile.
impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "{HEADS}{}", name.as_str()),
            Self::Tag(name) => write!(f, "{TAGS}{}", name.as_str()),
            Self::Commit(id) => f.write_str(id.as_str()),
        }
    }
}

/// Whether a commit belongs to its source. Hosts serve the commits of every fork under the address
/// of the original repository, so being able to fetch a commit proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reachability {
    /// A branch contains it; `HEAD` is the default branch.
    Branch(String),
    /// A tag contains it.
    Tag(String),
    /// No branch or tag contains it.
    None,
    /// Not determined within the limits. Treated as [`Reachability::None`].
    Unknown,
}

impl Reachability {
    /// The reach of a commit at the tip of a branch or tag.
    pub fn from_pin(pin: &Pin) -> Self {
        match pin {
            Pin::Branch(name) => Self::Branch(name.as_str().to_owned()),
            Pin::Tag(name) => Self::Tag(name.as_str().to_owned()),
            Pin::Commit(_) => Self::Unknown,
        }
    }

    /// Whether the commit is known to belong to the source.
    pub fn is_reached(&self) -> bool {
        matches!(self, Self::Branch(_) | Self::Tag(_))
    }

    /// A warning for a commit that may not belong to its source.
    pub fn doubt(&self) -> Option<&'static str> {
        match self {
            Self::Branch(_) | Self::Tag(_) => None,
            Self::None => Some("not in any branch or tag of it: anyone may have put it there"),
            Self::Unknown => Some("not known to be in any branch or tag of it"),
        }
    }
}

impl Serialize for Reachability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Branch(name) => serializer.collect_str(&format_args!("branch {name}")),
            Self::Tag(name) => serializer.collect_str(&format_args!("tag {name}")),
            Self::None => serializer.serialize_str("none"),
            Self::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

/// How a commit relates to the installed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ancestry {
    /// The same commit.
    Same,
    /// Later: the installed commit is one of its ancestors.
    Forward,
    /// Earlier: it is an ancestor of the installed commit.
    Backward,
    /// Neither is an ancestor of the other: history was rewritten.
    Unrelated,
    /// Not determined within the limits. Treated as [`Ancestry::Unrelated`].
    Unknown,
}

impl Ancestry {
    /// Whether the new commit is later, as in a normal update.
    pub fn goes_forward(self) -> bool {
        matches!(self, Self::Same | Self::Forward)
    }

    /// A warning for an update that does not go forward.
    pub fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Same | Self::Forward => None,
            Self::Backward => Some("it would be a downgrade: the installed commit is newer"),
            Self::Unrelated => {
                Some("its history was rewritten; the new commit does not follow the old")
            }
            Self::Unknown => Some("it is unknown whether the new commit follows the old one"),
        }
    }
}

/// What stands before the digest of an archive, which is its commit.
const ARCHIVE: &str = "sha256:";

/// A commit, or the digest of an archive, or the beginning of one of them. It is written as it is
/// read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPrefix(String);

impl CommitPrefix {
    /// Parses a commit of a lockfile, or at least 12 of its digits.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn parse(written: &str) -> Result<Self> {
        let written = written.to_ascii_lowercase();
        let digits = written.strip_prefix(ARCHIVE).unwrap_or(&written);
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_long = (12..=64).contains(&digits.len());
        let refused = || Error::new("give at least 12 digits of a commit, or of `sha256:…`");
        (is_hex && is_long)
            .then_some(Self(written))
            .ok_or_else(refused)
    }

    /// Checks that a source is at what was looked at: it may have changed since.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, now: Option<&str>) -> Result<()> {
        let now = now.unwrap_or("no commit");
        if now.starts_with(&self.0) {
            return Ok(());
        }
        let text = format!("its source is now at {}, not at {self}", one_line(now));
        Err(Error::new(text).hint("look at it again with `update --dry-run --diff`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_means_one_thing_and_is_written_as_it_is_read() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let long = id.repeat(2)[..64].to_owned();
        for pin in [
            "refs/tags/v1",
            "refs/heads/v1",
            "refs/heads/feature/x",
            id,
            &long,
            // A branch may have the form of a commit id or of a full ref name as its name.
            &format!("refs/heads/{id}"),
            "refs/heads/refs/tags/v1",
        ] {
            assert_eq!(Pin::parse(pin).unwrap().to_string(), pin);
        }
        let upper = Pin::parse(&id.to_uppercase()).unwrap();
        assert_eq!(upper.to_string(), id);
        for none in [
            "v1",
            "main",
            &id[1..],
            "refs/pull/1/head",
            "refs/heads/",
            "refs/tags/a..b",
            "refs/heads/-x",
            "",
        ] {
            assert_eq!(Pin::parse(none), None, "{none}");
        }
    }

    #[test]
    fn what_nobody_knows_counts_as_no() {
        let reached = [
            Reachability::Branch("main".to_owned()),
            Reachability::Tag("v1".to_owned()),
        ];
        assert!(
            reached
                .iter()
                .all(|reach| reach.is_reached() && reach.doubt().is_none())
        );
        for reach in [Reachability::None, Reachability::Unknown] {
            assert!(!reach.is_reached() && reach.doubt().is_some());
        }
        for ancestry in [Ancestry::Same, Ancestry::Forward] {
            assert!(ancestry.goes_forward() && ancestry.doubt().is_none());
        }
        for ancestry in [Ancestry::Backward, Ancestry::Unrelated, Ancestry::Unknown] {
            assert!(!ancestry.goes_forward() && ancestry.doubt().is_some());
        }
    }

    #[test]
    fn a_target_is_written_as_it_is_read() {
        let id = "0123456789abcdef".repeat(4);
        let archive = format!("sha256:{id}");
        for (commit, others) in [
            (&id, &archive),
            (&archive, &id),
            (&id[..40].to_owned(), &archive),
        ] {
            let target = CommitPrefix::parse(commit).unwrap();
            assert_eq!(CommitPrefix::parse(&target.to_string()).unwrap(), target);
            assert!(target.check(Some(commit)).is_ok());
            assert!(target.check(Some(others)).is_err() && target.check(None).is_err());
            let start = CommitPrefix::parse(&commit[..commit.len() - 9].to_uppercase()).unwrap();
            assert!(start.check(Some(commit)).is_ok() && start.check(Some(others)).is_err());
        }
        for none in [
            "",
            "0123456789a",
            "sha256:0123456789a",
            "main",
            "sha1:0123456789ab",
            &(id + "0"),
        ] {
            assert!(CommitPrefix::parse(none).is_err(), "{none}");
        }
    }
}
