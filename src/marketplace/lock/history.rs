//! The versions of a skill: the one in use, the one before, and the available ones.
//! Taken from the lockfile, the state kept for `rollback`, and the source.

use serde::Serialize;

use crate::marketplace::Market;
use crate::marketplace::fetch::{Commit, FetchFailure, Fetcher};
use crate::marketplace::lock::{InstalledName, KeptVersion, LockEntry, Lockfile};
use crate::marketplace::prelude::*;

/// The history of one installed skill.
#[derive(Debug, Clone, Serialize)]
pub struct History {
    /// Its directory's name.
    pub name: String,
    /// The version that its author states.
    pub version: Option<String>,
    /// Its source; `None` for a skill that was put there by hand or created here.
    pub source: Option<String>,
    /// The requested branch, tag or commit.
    #[serde(rename = "ref")]
    pub rev: Option<String>,
    /// The commit in use.
    pub commit: Option<String>,
    /// What `rollback` would restore.
    pub previous: Option<EarlierVersion>,
    /// The tags of its repository, each with its commit.
    pub tags: Vec<Tag>,
    /// The last commits of its source that changed it, newest first.
    pub log: Vec<Commit>,
    /// Why the source could not be queried, if so.
    pub unasked: Option<String>,
}

/// An earlier state of a skill.
#[derive(Debug, Clone, Serialize)]
pub struct EarlierVersion {
    /// The version that its author stated.
    pub version: Option<String>,
    /// The commit.
    pub commit: Option<String>,
}

/// A tag of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// The commit it points to.
    pub commit: String,
    /// Whether that is the commit in use.
    pub in_use: bool,
}

impl Market<'_> {
    /// The history of the skill given as `NAME` or `OWNER/NAME`. It succeeds even if the source
    /// cannot be queried.
    ///
    /// # Errors
    /// When there is no such skill, or local files cannot be read.
    pub fn history(&self, written: &str) -> Result<History> {
        let name = self.installed(written)?;
        let lockfile = Lockfile::read(self.plugin_dir)?;
        let entry = lockfile.get(&name);
        let version = |dir| Skill::load(dir).ok()?.fields.version();
        let mut history = History {
            version: version(&self.dir(&name)),
            source: entry.map(|entry| entry.source.clone()),
            rev: entry.and_then(|entry| entry.rev.as_ref().map(ToString::to_string)),
            commit: entry.and_then(|entry| entry.commit.clone()),
            previous: self.earlier(&name),
            tags: Vec::new(),
            log: Vec::new(),
            unasked: None,
            name: name.to_string(),
        };
        if let Some(entry) = entry.filter(|entry| entry.kind == SourceKind::Git) {
            let staging = self.staging()?;
            let mut fetcher = self.fetcher(&staging);
            match asked(entry, &entry.reading()?, &mut fetcher) {
                Ok(asked) => (history.tags, history.log) = asked,
                Err(failure) => history.unasked = Some(Error::from(failure).to_string()),
            }
        }
        Ok(history)
    }

    fn earlier(&self, name: &InstalledName) -> Option<EarlierVersion> {
        let previous = KeptVersion::of(self.plugin_dir, name).ok()?;
        let skill = Skill::load(previous.dir.path()).ok();
        Some(EarlierVersion {
            version: skill.and_then(|skill| skill.fields.version()),
            commit: previous.entry.and_then(|entry| entry.commit),
        })
    }
}

/// The tags of an entry's repository, and the log of its skill on the entry's branch, or on the
/// default branch if it is pinned to a tag or commit.
fn asked(
    entry: &LockEntry,
    reading: &Reading,
    fetcher: &mut Fetcher,
) -> Result<(Vec<Tag>, Vec<Commit>), FetchFailure> {
    let SourceLocation::Repository { url, .. } = &reading.place else {
        return Ok((Vec::new(), Vec::new()));
    };
    let at = match entry.pin() {
        Some(branch @ Pin::Branch(_)) => Revision::Pin(branch),
        _ => Revision::Default,
    };
    let newest = fetcher.resolve(url, &at)?.commit;
    let in_use = entry.commit_id();
    let tag = |(name, commit): (&str, &CommitId)| Tag {
        name: name.to_owned(),
        commit: commit.to_string(),
        in_use: Some(commit) == in_use.as_ref(),
    };
    let tags = fetcher.tags(url).map(tag).collect();
    let log = fetcher.log(url, &newest, in_use.as_ref(), &entry.path)?;
    Ok((tags, log))
}
