//! Opens places for reading: repositories, directories, archives, sites. Each is queried at most
//! once per command.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::marketplace::fetch::cache::Slot;
use crate::marketplace::fetch::content::Content;
use crate::marketplace::fetch::failure::{Class, Failure};
use crate::marketplace::fetch::git::Git;
use crate::marketplace::fetch::local::{self, LocalDir};
use crate::marketplace::fetch::memory::Memory;
use crate::marketplace::fetch::{archive, download};
use crate::marketplace::lock::lock_fields::LockRef;
use crate::marketplace::lock::lockfile::Kind;
use crate::marketplace::reference::address::{RepoUrl, SubPath};
use crate::marketplace::reference::forms;
use crate::marketplace::reference::reading::Want;
use crate::marketplace::source::discover::{self, Found};
use crate::marketplace::source::manifest::Manifest;
use crate::marketplace::source::origin::Origin;

use crate::error::{Error, Result};
use crate::marketplace::fetch::refs::Refs;
use crate::marketplace::fetch::remote::Remote;
use crate::marketplace::fetch::repository::Repository;
use crate::marketplace::fetch::tree::{Node, Tree};
use crate::marketplace::fetch::well_known::Index;
use crate::marketplace::reference::pin::{Ancestry, CommitId, Reach};
use crate::marketplace::reference::reading::{Place, Reading};
use crate::marketplace::reference::web::WebUrl;
use crate::sys::{files, limits};

/// The content of a source at one time.
pub struct Snapshot<'a> {
    /// Its files.
    pub tree: Tree,
    /// Their bytes.
    pub content: Box<dyn Content + 'a>,
    /// Its skills, main copies first.
    pub found: Vec<Found>,
    /// Its manifest; empty when it has none.
    pub manifest: Manifest,
    /// The number of its paths that cannot be written on this system.
    pub unusable: usize,
    root: Option<String>,
}

impl<'a> Snapshot<'a> {
    fn new(
        (tree, unusable): (Tree, usize),
        content: impl Content + 'a,
        name: &str,
    ) -> Result<Self> {
        let discovered = discover::discover(&tree, &content, name)?;
        Ok(Self {
            tree,
            content: Box::new(content),
            found: discovered.skills,
            manifest: discovered.manifest,
            unusable,
            root: None,
        })
    }

    /// Git's id of a directory; `None` if the source is not a git repository.
    pub fn tree_id(&self, path: &str) -> Option<&str> {
        match self.tree.get(path) {
            None if path.is_empty() => self.root.as_deref(),
            Some(Node::Dir { id }) if !id.is_empty() => Some(id),
            _ => None,
        }
    }
}

/// An opened place.
pub struct Opened<'a> {
    /// Its content.
    pub snapshot: Rc<Snapshot<'a>>,
    /// What the lockfile will record about it.
    pub origin: Origin,
    /// The path that followed the ref, if the reference combined the two.
    pub path: Option<SubPath>,
}

/// Opens places with the user's git and curl.
pub struct Fetcher<'a> {
    pub git: Git<'a>,
    pub home: PathBuf,
    pub offline: bool,
    pub mirror: Option<String>,
    pub remotes: HashMap<RepoUrl, Rc<Remote>>,
    pub refs: HashMap<RepoUrl, Refs>,
    snapshots: HashMap<(RepoUrl, CommitId), Rc<Snapshot<'a>>>,
    pub reaches: HashMap<(RepoUrl, CommitId), Reach>,
    pub ancestries: HashMap<(RepoUrl, CommitId, CommitId), Ancestry>,
}

impl<'a> Fetcher<'a> {
    /// `git` works in its scratch directory. Fetched data is kept in `home`; with `offline` nothing
    /// else is used. `mirror` takes the place of GitHub.
    pub fn new(git: Git<'a>, home: PathBuf, offline: bool, mirror: Option<String>) -> Self {
        Self {
            git,
            home,
            offline,
            mirror: mirror.filter(|base| !base.is_empty()),
            remotes: HashMap::new(),
            refs: HashMap::new(),
            snapshots: HashMap::new(),
            reaches: HashMap::new(),
            ancestries: HashMap::new(),
        }
    }

    /// The git that is used.
    pub fn git(&self) -> Git<'a> {
        self.git
    }

    /// Opens the place of a reading. `skills` and `all` say which skills of a site are fetched.
    ///
    /// # Errors
    /// The outer error if the place cannot be used, the inner one if git or curl fails.
    pub fn open(
        &mut self,
        reading: &Reading,
        requested: &str,
        skills: &[String],
        all: bool,
    ) -> Result<Result<Opened<'a>, Failure>> {
        let origin = |source: &str, kind, rev, commit| Origin {
            source: source.to_owned(),
            address: None,
            kind,
            requested: requested.to_owned(),
            rev,
            commit,
            reach: None,
        };
        let (snapshot, origin, path) = match &reading.place {
            Place::Repository { url, at } => {
                let resolved = match self.resolve(url, at) {
                    Ok(resolved) => resolved,
                    Err(failure) => return Ok(Err(failure)),
                };
                let snapshot = self.snapshot(url, &resolved.commit)?;
                let rev = resolved.pin.as_ref().map(LockRef::from);
                let commit = Some(resolved.commit.to_string());
                let origin = Origin {
                    address: self.remote(url)?.elsewhere().map(str::to_owned),
                    reach: Some(self.reach(url, &resolved)),
                    ..origin(url.as_str(), Kind::Git, rev, commit)
                };
                (snapshot, origin, resolved.path)
            }
            Place::Local(written) => {
                let (path, digest) = match written.rsplit_once("#sha256=") {
                    Some((path, hex)) => (path, Some(forms::digest(&format!("sha256={hex}"))?)),
                    None => (written.as_str(), None),
                };
                let full = local::expand(path, self.git.0.env);
                if forms::is_archive(path) && !full.is_dir() {
                    let unreadable = |e| Error::io("read", &full, &e).hint("check the path");
                    let full = full.canonicalize().map_err(unreadable)?;
                    let bytes = files::read_capped(&full, limits::DOWNLOAD).map_err(unreadable)?;
                    let source = full.to_string_lossy().into_owned();
                    let (snapshot, asked, found) = archive_of(&bytes, digest.as_deref(), &source)?;
                    (
                        snapshot,
                        origin(&source, Kind::Archive, asked, Some(found)),
                        None,
                    )
                } else {
                    let dir = LocalDir::open(written, self.git.0.env)?;
                    let source = dir.path().to_string_lossy().into_owned();
                    let snapshot = local_dir(dir).map_err(|e| e.context(format!("`{source}`")))?;
                    (snapshot, origin(&source, Kind::Local, None, None), None)
                }
            }
            Place::Archive { url, sha256 } => {
                let bytes = match self.download(url, limits::DOWNLOAD) {
                    Ok(bytes) => bytes,
                    Err(failure) => return Ok(Err(failure)),
                };
                let (snapshot, asked, found) = archive_of(&bytes, sha256.as_deref(), url.as_str())?;
                let origin = Origin {
                    reach: forms::may_be_a_forks(url).then_some(Reach::Unknown),
                    ..origin(url.as_str(), Kind::Archive, asked, Some(found))
                };
                (snapshot, origin, None)
            }
            Place::WellKnown(url) => {
                let index = match self.index(url) {
                    Ok(index) => index,
                    Err(failure) => return Ok(Err(failure)),
                };
                let of_site = |error: Error| error.context(format!("`{url}`"));
                let offers = index.choose(&reading.want, skills, all);
                let offers = offers.map_err(|miss| of_site(miss.error))?;
                let memory = index.fetch(&self.git.0, &offers).map_err(of_site)?;
                let snapshot = Rc::new(Snapshot::new(memory.tree(), memory, url.host())?);
                (
                    snapshot,
                    origin(url.as_str(), Kind::WellKnown, None, None),
                    None,
                )
            }
            Place::File(url) => {
                let bytes = match self.download(url, limits::SKILL_FILE) {
                    Ok(bytes) => bytes,
                    Err(failure) => return Ok(Err(failure)),
                };
                let mut memory = Memory::default();
                memory.add_file("SKILL.md", bytes, false);
                let snapshot = Rc::new(Snapshot::new(memory.tree(), memory, url.host())?);
                let origin = Origin {
                    reach: forms::may_be_a_forks(url).then_some(Reach::Unknown),
                    ..origin(url.as_str(), Kind::File, None, None)
                };
                (snapshot, origin, None)
            }
        };
        Ok(Ok(Opened {
            snapshot,
            origin,
            path,
        }))
    }

    /// A site's index.
    pub fn index(&self, url: &WebUrl) -> Result<Index, Failure> {
        self.online(url)?;
        Index::of(&self.git.0, url)
    }

    /// Downloads a file.
    pub fn download(&self, url: &WebUrl, max: u64) -> Result<Vec<u8>, Failure> {
        self.online(url)?;
        download::file(&self.git.0, url, max)
    }

    fn online(&self, url: &WebUrl) -> Result<(), Failure> {
        if self.offline {
            let text = format!("`{url}` is not kept on this machine");
            return Err(Failure::new(Class::Offline, text));
        }
        Ok(())
    }

    /// The content of a repository at a commit that [`Fetcher::resolve`] returned.
    ///
    /// # Errors
    /// When it cannot be fetched or read.
    pub fn snapshot(&mut self, url: &RepoUrl, commit: &CommitId) -> Result<Rc<Snapshot<'a>>> {
        let key = (url.clone(), commit.clone());
        if let Some(snapshot) = self.snapshots.get(&key) {
            return Ok(Rc::clone(snapshot));
        }
        let remote = self.remote(url)?;
        let slot = Slot::of(&self.home, url, &remote.address);
        let repository = Repository::fetch(self.git, slot, &remote, commit, self.offline)?
            .map_err(|failure| failure.context(format!("could not fetch `{url}`")))?;
        let (tree, root) = (repository.tree(commit)?, repository.root_tree(commit)?);
        let snapshot = Snapshot::new(tree, repository, url.repo_name())
            .map_err(|error| error.context(format!("`{url}`")))?;
        let root = Some(root);
        let snapshot = Rc::new(Snapshot { root, ..snapshot });
        self.snapshots.insert(key, Rc::clone(&snapshot));
        Ok(snapshot)
    }
}

fn local_dir<'a>(dir: LocalDir) -> Result<Rc<Snapshot<'a>>> {
    let name = dir.path().file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    Ok(Rc::new(Snapshot::new(dir.tree()?, dir, &name)?))
}

/// The content of an archive, the requested digest and the actual one, which must be equal.
fn archive_of<'a>(
    bytes: &[u8],
    sha256: Option<&str>,
    source: &str,
) -> Result<(Rc<Snapshot<'a>>, Option<LockRef>, String)> {
    let found = format!("{:x}", Sha256::digest(bytes));
    if sha256.is_some_and(|wanted| wanted != found) {
        let text = format!("the archive `{source}` has the digest {found}, not the one asked for");
        return Err(Error::new(text).hint("do not use it unless its author has published this one"));
    }
    let memory = archive::read(bytes).map_err(|error| error.context(format!("`{source}`")))?;
    let stem = source.rsplit('/').next().unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or_default();
    let snapshot = Snapshot::new(memory.tree(), memory, stem)?;
    let asked = sha256.map(LockRef::parse).transpose()?;
    Ok((Rc::new(snapshot), asked, format!("sha256:{found}")))
}

/// What is wanted from the place. The path after the ref precedes the reading's own.
pub fn wanted(opened: &Opened, reading: &Reading) -> Want {
    let path = opened.path.clone();
    path.map_or_else(|| reading.want.clone(), Want::Path)
}
