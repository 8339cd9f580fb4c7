//! Repositories and directories opened for reading, each asked at most once in one command.

use std::collections::HashMap;
use std::rc::Rc;

use super::address::RepoUrl;
use super::content::Content;
use super::discover::{self, Found};
use super::git::Git;
use super::git_failure::Failure;
use super::local::LocalDir;
use super::reference::At;
use super::refs::{Refs, Resolved};
use super::repository::{self, Repository};
use super::tree::{Node, Tree};
use crate::error::Result;

/// What a source held at one time.
pub struct Snapshot<'a> {
    /// Its files.
    pub tree: Tree,
    /// Their bytes.
    pub content: Box<dyn Content + 'a>,
    /// Its skills, main copies first.
    pub found: Vec<Found>,
    /// How many of its paths cannot be written on this system.
    pub unusable: usize,
}

impl Snapshot<'_> {
    /// Git's id of a directory; none for the root and for local directories.
    pub fn tree_id(&self, path: &str) -> Option<&str> {
        match self.tree.get(path) {
            Some(Node::Dir { id }) if !id.is_empty() => Some(id),
            _ => None,
        }
    }
}

/// Opens repositories with the user's git.
pub struct Fetcher<'a> {
    git: Git<'a>,
    mirror: Option<String>,
    refs: HashMap<RepoUrl, Refs>,
    snapshots: HashMap<(RepoUrl, String), Rc<Snapshot<'a>>>,
}

impl<'a> Fetcher<'a> {
    /// `git` works, and repositories are kept, in its scratch directory.
    pub fn new(git: Git<'a>) -> Self {
        let mirror = git
            .env
            .text("AGENT_SKILLS_GITHUB_BASE")
            .filter(|base| !base.is_empty());
        Self {
            git,
            mirror,
            refs: HashMap::new(),
            snapshots: HashMap::new(),
        }
    }

    /// Which commit `at` means now.
    ///
    /// # Errors
    /// The outer one when the address cannot be used, the inner one when git says no.
    pub fn resolve(&mut self, url: &RepoUrl, at: &At) -> Result<Result<Resolved, Failure>> {
        if !self.refs.contains_key(url) {
            let address = url.fetch_from(self.mirror.as_deref())?;
            match repository::list_refs(&self.git, &address) {
                Ok(refs) => self.refs.insert(url.clone(), refs),
                Err(failure) => return Ok(Err(failure.context(format!("could not read `{url}`")))),
            };
        }
        Ok(self.refs[url]
            .resolve(at)
            .map_err(|failure| failure.context(format!("`{url}`"))))
    }

    /// What the repository holds at a commit that [`Fetcher::resolve`] answered.
    ///
    /// # Errors
    /// When it cannot be fetched or read.
    pub fn snapshot(&mut self, url: &RepoUrl, commit: &str) -> Result<Rc<Snapshot<'a>>> {
        let key = (url.clone(), commit.to_owned());
        if let Some(snapshot) = self.snapshots.get(&key) {
            return Ok(Rc::clone(snapshot));
        }
        let address = url.fetch_from(self.mirror.as_deref())?;
        let dir = self
            .git
            .scratch
            .join(format!("{}.git", self.snapshots.len()));
        let repository = Repository::fetch(self.git, dir, &address, commit)
            .map_err(|failure| failure.context(format!("could not fetch `{url}`")))?;
        let (tree, unusable) = repository.tree(commit)?;
        let found = discover::discover(&tree, &repository, url.repo_name())
            .map_err(|error| error.context(format!("`{url}`")))?;
        let snapshot = Rc::new(Snapshot {
            tree,
            content: Box::new(repository),
            found,
            unusable,
        });
        self.snapshots.insert(key, Rc::clone(&snapshot));
        Ok(snapshot)
    }
}

/// What a local directory holds.
///
/// # Errors
/// When it cannot be read.
pub fn local<'a>(dir: LocalDir) -> Result<Snapshot<'a>> {
    let (tree, unusable) = dir.tree()?;
    let name = dir
        .path()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let found = discover::discover(&tree, &dir, &name)?;
    Ok(Snapshot {
        tree,
        content: Box::new(dir),
        found,
        unusable,
    })
}
