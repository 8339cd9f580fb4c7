//! The recent commits of a repository, without its files, and which of them changed a skill.

use std::path::PathBuf;

use crate::marketplace::fetch::{
    FETCH, FailureKind, FetchFailure, Fetcher, Git, NAME, NEW, PARTIAL, Remote, ResolvedRef,
};
use crate::marketplace::prelude::*;

const HISTORY_DIR: EntryName = EntryName::from_static("history.git");
/// The directories in which git writes in a staging directory.
pub const WORKED_IN: [EntryName; 2] = [HISTORY_DIR, NEW];

/// The number of generations of commits that a log covers.
const DEPTH: usize = 200;
/// The maximum number of commits in a log.
const LOGGED: &str = "--max-count=20";

/// A commit in a log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Commit {
    /// Its id.
    pub commit: String,
    /// Its date.
    pub date: String,
    /// The first line of its message, as its author wrote it.
    pub subject: String,
    /// Whether it is later than the commit in use.
    pub newer: bool,
}

/// A repository's recent commits, without files, in a separate directory.
struct CommitHistory<'a> {
    git: &'a Git<'a>,
    settings: &'a [String],
    dir: PathBuf,
}

impl<'a> CommitHistory<'a> {
    /// An empty repository whose commits have ids like this one.
    fn new(git: &'a Git<'a>, remote: &'a Remote, like: &CommitId) -> Result<Self, FetchFailure> {
        let past = Self {
            git,
            settings: &remote.settings,
            dir: git.tool.scratch.path_of(&HISTORY_DIR),
        };
        git.init(&past.dir, like)?;
        Ok(past)
    }

    /// Fetches commits, named by id or refspec, and `depth` generations of their ancestors.
    fn fetch(&self, depth: usize, filter: &str, what: &[&str]) -> Result<(), FetchFailure> {
        let depth = format!("--depth={depth}");
        let options = ["--quiet", &depth, filter, NAME];
        self.read(&[&PARTIAL[..], &FETCH, &options, what].concat())
            .map(drop)
    }

    /// Whether `old` is `new` or one of its ancestors, as far as fetched.
    fn leads(&self, new: &CommitId, old: &CommitId) -> Result<bool, FetchFailure> {
        let ancestors = self.read(&["rev-list", new.as_str()])?;
        Ok(ancestors.lines().any(|line| line == old.as_str()))
    }

    fn read(&self, args: &[&str]) -> Result<String, FetchFailure> {
        self.git.with(self.settings).at(&self.dir).text(args)
    }

    /// Whether only a part of the history was fetched.
    fn is_cut(&self) -> bool {
        self.dir.join("shallow").exists()
    }
}

impl Drop for CommitHistory<'_> {
    fn drop(&mut self) {
        // If this fails, it is removed with its parent directory later.
        let _ = self.git.tool.scratch.remove_ours(&HISTORY_DIR);
    }
}

impl Fetcher<'_> {
    /// Whether the resolved commit belongs to the repository itself: one requested by id may belong
    /// to a fork.
    pub fn reach(&mut self, url: &RepoUrl, resolved: &ResolvedRef) -> Reachability {
        let commit = match &resolved.pin {
            None => return Reachability::Branch("HEAD".to_owned()),
            Some(Pin::Commit(commit)) => commit,
            Some(named) => return Reachability::from_pin(named),
        };
        let key = (url.clone(), commit.clone());
        if let Some(known) = self.reaches.get(&key) {
            return known.clone();
        }
        let tip = self.refs.get(url).and_then(|refs| refs.tip(commit));
        let reach = match (tip, self.remote(url)) {
            (Some(tip), _) => tip,
            (None, Ok(remote)) if !self.offline => reach(&DEPTHS, &self.git, &remote, commit),
            _ => Reachability::Unknown,
        };
        self.reaches.insert(key, reach.clone());
        reach
    }

    /// How `new` relates to `old` in the repository's history.
    pub fn ancestry(&mut self, url: &RepoUrl, old: &CommitId, new: &CommitId) -> Ancestry {
        let key = (url.clone(), old.clone(), new.clone());
        if let Some(known) = self.ancestries.get(&key) {
            return *known;
        }
        let ancestry = match self.remote(url) {
            Ok(remote) if !self.offline => ancestry(&DEPTHS, &self.git, &remote, old, new),
            _ => Ancestry::Unknown,
        };
        self.ancestries.insert(key, ancestry);
        ancestry
    }

    /// The last commits up to `new` that changed `path`, newest first, each with whether it is
    /// later than `old`.
    ///
    /// # Errors
    /// When git fails.
    pub fn log(
        &mut self,
        url: &RepoUrl,
        new: &CommitId,
        old: Option<&CommitId>,
        path: &str,
    ) -> Result<Vec<Commit>, FetchFailure> {
        if self.offline {
            return Err(FetchFailure::not_kept("its log"));
        }
        let remote = self.remote(url)?;
        let past = CommitHistory::new(&self.git, &remote, new)?;
        past.fetch(DEPTH, "--filter=blob:none", &[new.as_str()])?;
        // Git must not read the path as a pattern.
        let path = format!(":(literal){path}");
        let listed = |range: &[&str]| {
            let format = ["--no-show-signature", "--format=%H%x09%cs%x09%s"];
            past.read(&[&["log", LOGGED], &format[..], range, &["--", &path]].concat())
        };
        let all = listed(&[new.as_str()])?;
        // Unless `old` was fetched as an ancestor, it is unknown what is later.
        let newer = old.and_then(|old| listed(&[new.as_str(), &format!("^{old}")]).ok());
        let newer = newer.unwrap_or_default();
        let commit = |line: &str| {
            let mut parts = line.splitn(3, '\t').map(str::to_owned);
            Some(Commit {
                commit: parts.next()?,
                date: parts.next()?,
                subject: parts.next()?,
                newer: newer.lines().any(|newer| newer == line),
            })
        };
        Ok(all.lines().filter_map(commit).collect())
    }
}

/// Depths to fetch, one after the other. The first is enough for most queries.
const DEPTHS: [usize; 2] = [200, 20_000];
/// Fetches commits without their trees and files.
const COMMITS: &str = "--filter=tree:0";

/// Whether a branch or tag of a repository leads to `commit`.
fn reach(depths: &[usize], git: &Git, remote: &Remote, commit: &CommitId) -> Reachability {
    let found = || {
        let past = CommitHistory::new(git, remote, commit)?;
        for depth in depths {
            // In a separate repository nothing else can lead to the commit.
            let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
            past.fetch(*depth, COMMITS, &all)?;
            // The names of those that contain it, branches first. None does if it did not come.
            let contains = format!("--contains={commit}");
            let options = [
                "for-each-ref",
                "--count=1",
                "--format=%(refname)",
                &contains,
            ];
            let names = past.read(&[&options[..], &["refs/heads", "refs/tags"]].concat());
            let names = match names {
                Err(failure) if failure.class == FailureKind::Other => String::new(),
                names => names?,
            };
            if let Some(pin) = names.lines().next().and_then(Pin::parse) {
                return Ok(Reachability::from_pin(&pin));
            }
            if !past.is_cut() {
                return Ok(Reachability::None);
            }
        }
        Ok::<_, FetchFailure>(Reachability::Unknown)
    };
    found().unwrap_or(Reachability::Unknown)
}

/// How `new` relates to the installed commit `old`.
fn ancestry(
    depths: &[usize],
    git: &Git,
    remote: &Remote,
    old: &CommitId,
    new: &CommitId,
) -> Ancestry {
    if old == new {
        return Ancestry::Same;
    }
    let found = || {
        let past = CommitHistory::new(git, remote, new)?;
        for depth in depths {
            let has_old = match past.fetch(*depth, COMMITS, &[new.as_str(), old.as_str()]) {
                // The source no longer has the installed commit, or gives none that is asked for by id.
                Err(failure) if failure.class == FailureKind::NoSuchRef => {
                    past.fetch(*depth, COMMITS, &[new.as_str()])?;
                    false
                }
                fetched => fetched.map(|()| true)?,
            };
            if past.leads(new, old)? {
                return Ok(Ancestry::Forward);
            }
            if has_old && past.leads(old, new)? {
                return Ok(Ancestry::Backward);
            }
            if !past.is_cut() {
                return Ok(Ancestry::Unrelated);
            }
        }
        Ok::<_, FetchFailure>(Ancestry::Unknown)
    };
    found().unwrap_or(Ancestry::Unknown)
}

#[cfg(test)]
mod tests;
