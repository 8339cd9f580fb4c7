//! The recent commits of a repository, without its files, and which of them changed a skill.

use std::path::PathBuf;

use crate::marketplace::fetch::cache;
use crate::marketplace::fetch::{Call, Class, FETCH, Failure, Fetcher, Git, NAME, PARTIAL, Remote};
use crate::marketplace::reference::{CommitId, RepoUrl};
use crate::sys::{EntryName, limits};

const HISTORY_DIR: EntryName = EntryName::from_static("history.git");
/// The directories in which git writes in a staging directory.
pub const WORKED_IN: [EntryName; 2] = [HISTORY_DIR, cache::NEW];

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
pub struct Past<'a> {
    git: &'a Git<'a>,
    settings: &'a [String],
    dir: PathBuf,
}

impl<'a> Past<'a> {
    /// An empty repository whose commits have ids like this one.
    pub fn new(git: &'a Git<'a>, remote: &'a Remote, like: &CommitId) -> Result<Self, Failure> {
        let past = Self {
            git,
            settings: &remote.settings,
            dir: git.0.scratch.path_of(&HISTORY_DIR),
        };
        git.init(&past.dir, like)?;
        Ok(past)
    }

    /// Fetches commits, named by id or refspec, and `depth` generations of their ancestors.
    pub fn fetch(&self, depth: usize, filter: &str, what: &[&str]) -> Result<(), Failure> {
        let depth = format!("--depth={depth}");
        let options = ["--quiet", &depth, filter, NAME];
        self.read(&[&PARTIAL[..], &FETCH, &options, what].concat())
            .map(drop)
    }

    /// Whether `old` is `new` or one of its ancestors, as far as fetched.
    pub fn leads(&self, new: &CommitId, old: &CommitId) -> Result<bool, Failure> {
        let ancestors = self.read(&["rev-list", new.as_str()])?;
        Ok(ancestors.lines().any(|line| line == old.as_str()))
    }

    /// The full name of a fetched branch or tag that contains `commit`; branches first.
    pub fn leading_to(&self, commit: &CommitId) -> Result<Option<String>, Failure> {
        let object = format!("{commit}^{{commit}}");
        if self.read(&["cat-file", "-e", &object]).is_err() {
            return Ok(None);
        }
        let contains = format!("--contains={commit}");
        let options = ["for-each-ref", "--count=1", "--format=%(refname)"];
        let places = [&contains, "refs/heads", "refs/tags"];
        let names = self.read(&[options, places].concat())?;
        Ok(names.lines().next().map(str::to_owned))
    }

    fn read(&self, args: &[&str]) -> Result<String, Failure> {
        let call = Call {
            repo: Some(&self.dir),
            ..Call::new(self.settings, args)
        };
        let output = self.git.read(&call, limits::GIT_LISTING)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Whether only a part of the history was fetched.
    pub fn is_cut(&self) -> bool {
        self.dir.join("shallow").exists()
    }
}

impl Drop for Past<'_> {
    fn drop(&mut self) {
        // If this fails, it is removed with its parent directory later.
        let _ = self.git.0.scratch.remove_ours(&HISTORY_DIR);
    }
}

impl Fetcher<'_> {
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
    ) -> Result<Vec<Commit>, Failure> {
        if self.offline {
            let text = "its log is not kept on this machine";
            return Err(Failure::new(Class::Offline, text));
        }
        let remote = self.remote(url)?;
        let past = Past::new(&self.git, &remote, new)?;
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
