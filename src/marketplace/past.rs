//! The last commits of a repository without its files: whether one follows another, and what changed a
//! skill.

use std::path::PathBuf;

use super::address::RepoUrl;
use super::failure::Failure;
use super::git::{Call, Git};
use super::repository::FETCH;
use crate::sys::{EntryName, limits};

const HISTORY_DIR: EntryName = EntryName::of("history.git");

/// How far back a commit is looked for among the ancestors of another.
const HISTORY: &str = "--depth=200";
/// How many commits a log has at most.
const LOGGED: &str = "--max-count=20";

/// A commit, as a log tells it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Commit {
    /// Its id.
    pub commit: String,
    /// Its day.
    pub date: String,
    /// The first line of its message, in its author's words.
    pub subject: String,
    /// Whether it came after the commit in use.
    pub newer: bool,
}

/// A repository's last commits, without any file, in a directory of their own.
struct Past<'a> {
    git: &'a Git<'a>,
    dir: PathBuf,
}

impl<'a> Past<'a> {
    fn fetch(git: &'a Git<'a>, url: &RepoUrl, commit: &str, filter: &str) -> Result<Self, Failure> {
        let dir = git.0.scratch.path_of(&HISTORY_DIR);
        let past = Self { git, dir };
        past.read(&["init", "--quiet", "--bare", "--template="])?;
        let commits = ["--quiet", HISTORY, filter, "--", url.as_str(), commit];
        past.read(&[&FETCH[..], &commits].concat())?;
        Ok(past)
    }

    fn read(&self, args: &[&str]) -> Result<Vec<u8>, Failure> {
        let call = Call {
            repo: Some(&self.dir),
            args,
            no_lazy_fetch: true,
            ..Call::default()
        };
        self.git.read(&call, limits::GIT_LISTING)
    }

    /// Whether there is more of it than was fetched.
    fn is_cut(&self) -> bool {
        self.dir.join("shallow").exists()
    }
}

impl Drop for Past<'_> {
    fn drop(&mut self) {
        // What cannot be removed goes with the directory that it is in.
        let _ = self.git.0.scratch.remove_ours(&HISTORY_DIR);
    }
}

/// Whether `old` is among the last ancestors of `new`: `None` when history goes further back than
/// is looked.
pub fn follows(git: &Git, url: &RepoUrl, old: &str, new: &str) -> Result<Option<bool>, Failure> {
    let past = Past::fetch(git, url, new, "--filter=tree:0")?;
    let ancestors = past.read(&["rev-list", new])?;
    let is_there = ancestors
        .split(|b| *b == b'\n')
        .any(|line| line == old.as_bytes());
    Ok(if is_there {
        Some(true)
    } else {
        (!past.is_cut()).then_some(false)
    })
}

/// The last commits up to `new` that changed what is at `path`, newest first, with whether they
/// came after `old`.
pub fn log(
    git: &Git,
    url: &RepoUrl,
    new: &str,
    old: Option<&str>,
    path: &str,
) -> Result<Vec<Commit>, Failure> {
    let past = Past::fetch(git, url, new, "--filter=blob:none")?;
    // A path is taken as it is, not as a pattern.
    let path = format!(":(literal){path}");
    let listed = |range: &[&str]| {
        let options = [
            "log",
            LOGGED,
            "--no-show-signature",
            "--format=%H%x09%cs%x09%s",
        ];
        past.read(&[&options[..], range, &["--", &path]].concat())
    };
    let all = String::from_utf8_lossy(&listed(&[new])?).into_owned();
    let exclude = old.map(|old| format!("^{old}")).unwrap_or_default();
    // Where `old` is no ancestor that was fetched, nobody knows what came after it.
    let newer = if old.is_some() {
        listed(&[new, &exclude]).ok()
    } else {
        None
    };
    let newer = newer.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let commit = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        Some(Commit {
            commit: parts.next()?.to_owned(),
            date: parts.next()?.to_owned(),
            subject: parts.next()?.to_owned(),
            newer: newer
                .as_deref()
                .is_some_and(|newer| newer.lines().any(|n| n == line)),
        })
    };
    Ok(all.lines().filter_map(commit).collect())
}
