//! Opens places for reading: repositories, directories, archives, sites. Each is queried at most
//! once per command.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Content, Failure, Git, Index, LocalDir, Memory, Permit};
use crate::marketplace::fetch::{Refs, Remote, Repository, Slot, Tree};
use crate::marketplace::fetch::{archive, download, expand, tree};
use crate::marketplace::lock::LockRef;
use crate::marketplace::reference::{Ancestry, CommitId, Kind, Place, Reach, Reading, RepoUrl};
use crate::marketplace::reference::{SubPath, Want, WebUrl, forms};
use crate::marketplace::source::{Found, Manifest, Origin, discover};
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
}

impl<'a> Snapshot<'a> {
    fn new(mut tree: Tree, content: impl Content + 'a, name: &str) -> Result<Self> {
        let (found, manifest) = discover(&mut tree, &content, name)?;
        let content = Box::new(content);
        Ok(Self {
            tree,
            content,
            found,
            manifest,
        })
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

impl<'a> Opened<'a> {
    fn new(tree: Tree, content: impl Content + 'a, name: &str, of: Origin) -> Result<Self> {
        Ok(Self {
            snapshot: Rc::new(Snapshot::new(tree, content, name)?),
            origin: of,
            path: None,
        })
    }

    /// What is wanted from the place. The path after the ref precedes the reading's own.
    pub fn want(&self, reading: &Reading) -> Want {
        let path = self.path.clone();
        path.map_or_else(|| reading.want.clone(), Want::Path)
    }
}

/// Opens places with the user's git and curl.
pub struct Fetcher<'a> {
    pub git: Git<'a>,
    /// The plugin directory in which fetched data is kept.
    pub home: PathBuf,
    /// Whether only that data may be used.
    pub offline: bool,
    /// Replaces GitHub, if given.
    pub mirror: Option<String>,
    /// Whether a source may be contacted, if that is to be asked.
    pub permit: Option<Rc<Permit<'a>>>,
    pub remotes: HashMap<RepoUrl, Rc<Remote>>,
    pub refs: HashMap<RepoUrl, Refs>,
    snapshots: HashMap<(RepoUrl, CommitId), Rc<Snapshot<'a>>>,
    pub reaches: HashMap<(RepoUrl, CommitId), Reach>,
    pub ancestries: HashMap<(RepoUrl, CommitId, CommitId), Ancestry>,
}

impl<'a> Fetcher<'a> {
    /// `git` works in its scratch directory.
    pub fn new(git: Git<'a>, home: PathBuf, offline: bool, mirror: Option<String>) -> Self {
        Self {
            git,
            home,
            offline,
            mirror: mirror.filter(|base| !base.is_empty()),
            permit: None,
            remotes: HashMap::new(),
            refs: HashMap::new(),
            snapshots: HashMap::new(),
            reaches: HashMap::new(),
            ancestries: HashMap::new(),
        }
    }

    /// Opens the place of a reading. `skills` and `all` say which skills of a site are fetched.
    ///
    /// # Errors
    /// When the place cannot be used, or git or curl fails.
    pub fn open(
        &mut self,
        reading: &Reading,
        requested: &str,
        skills: &[String],
        all: bool,
    ) -> Result<Opened<'a>, Failure> {
        let origin = |source: &str, kind: Kind| Origin {
            source: source.to_owned(),
            kind,
            requested: requested.to_owned(),
            ..Origin::default()
        };
        let of_web = |url: &WebUrl, kind: Kind| Origin {
            reach: forms::may_be_a_forks(url).then_some(Reach::Unknown),
            ..origin(url.as_str(), kind)
        };
        if let Place::Archive { url, .. } | Place::WellKnown(url) | Place::File(url) =
            &reading.place
        {
            self.permits(url.as_str(), None)?;
        }
        Ok(match &reading.place {
            Place::Repository { url, at } => {
                let resolved = self.resolve(url, at)?;
                Opened {
                    snapshot: self.snapshot(url, &resolved.commit)?,
                    origin: Origin {
                        address: self.remote(url)?.elsewhere().map(str::to_owned),
                        rev: resolved.pin.as_ref().map(LockRef::from),
                        commit: Some(resolved.commit.to_string()),
                        reach: Some(self.reach(url, &resolved)),
                        ..origin(url.as_str(), Kind::Git)
                    },
                    path: resolved.path,
                }
            }
            Place::Local(written) => {
                let (path, digest) = match written.rsplit_once("#sha256=") {
                    Some((path, hex)) => (path, Some(forms::digest(&format!("sha256={hex}"))?)),
                    None => (written.as_str(), None),
                };
                let full = expand(path, self.git.0.env);
                if forms::is_archive(path) && !full.is_dir() {
                    let unreadable = |e| Error::io("read", &full, &e).hint("check the path");
                    let full = full.canonicalize().map_err(unreadable)?;
                    let bytes = files::read_capped(&full, limits::DOWNLOAD).map_err(unreadable)?;
                    let origin = origin(&full.to_string_lossy(), Kind::Archive);
                    open_archive(&bytes, digest.as_deref(), origin)?
                } else {
                    let dir = LocalDir::open(written, self.git.0.env)?;
                    let source = dir.path().to_string_lossy().into_owned();
                    let (name, origin) = (tree::base(&source), origin(&source, Kind::Local));
                    let tree = dir.tree();
                    tree.and_then(|tree| Opened::new(tree, dir, name, origin))
                        .map_err(|error| error.context(format!("`{source}`")))?
                }
            }
            Place::Archive { url, sha256 } => {
                let bytes = self.download(url, limits::DOWNLOAD)?;
                open_archive(&bytes, sha256.as_deref(), of_web(url, Kind::Archive))?
            }
            Place::WellKnown(url) => {
                let index = self.index(url)?;
                let of_site = |error: Error| error.context(format!("`{url}`"));
                let offers = index.choose(&reading.want, skills, all).map_err(of_site)?;
                let memory = index.fetch(&self.git.0, &offers).map_err(of_site)?;
                let origin = origin(url.as_str(), Kind::WellKnown);
                Opened::new(memory.tree.clone(), memory, url.host(), origin)?
            }
            Place::File(url) => {
                let mut memory = Memory::default();
                memory.add_file("SKILL.md", self.download(url, limits::SKILL_FILE)?, false)?;
                let origin = of_web(url, Kind::File);
                Opened::new(memory.tree.clone(), memory, url.host(), origin)?
            }
        })
    }

    /// Asks whether a source may be contacted.
    pub fn permits(&self, source: &str, address: Option<&str>) -> Result<()> {
        let permit = self.permit.as_ref();
        permit.map_or(Ok(()), |permit| permit(source, address))
    }

    /// A site's index.
    pub fn index(&self, url: &WebUrl) -> Result<Index, Failure> {
        self.online(url)?;
        Index::query(&self.git.0, url)
    }

    /// Downloads a file.
    pub fn download(&self, url: &WebUrl, max: u64) -> Result<Vec<u8>, Failure> {
        self.online(url)?;
        download::one(&self.git.0, url, max, true)?.file(url)
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
        let slot = Slot::new(&self.home, url, &remote.address);
        let repository = Repository::fetch(self.git, slot, &remote, commit, self.offline)
            .map_err(|failure| failure.context(format!("could not fetch `{url}`")))?;
        let snapshot = Snapshot::new(repository.tree(commit)?, repository, url.repo_name());
        let snapshot = Rc::new(snapshot.map_err(|error| error.context(format!("`{url}`")))?);
        self.snapshots.insert(key, Rc::clone(&snapshot));
        Ok(snapshot)
    }
}

/// Opens an archive of which the digest was asked for, or any digest if there is none.
fn open_archive<'a>(bytes: &[u8], sha256: Option<&str>, origin: Origin) -> Result<Opened<'a>> {
    let (source, found) = (&origin.source, format!("{:x}", Sha256::digest(bytes)));
    if sha256.is_some_and(|wanted| wanted != found) {
        let text = format!("the archive `{source}` has the digest {found}, not the one asked for");
        return Err(Error::new(text).hint("do not use it unless its author has published this one"));
    }
    let memory = archive::read(bytes).map_err(|error| error.context(format!("`{source}`")))?;
    let name = tree::base(source);
    let stem = name.split('.').next().unwrap_or(name).to_owned();
    let origin = Origin {
        rev: sha256.map(LockRef::parse).transpose()?,
        commit: Some(format!("sha256:{found}")),
        ..origin
    };
    Opened::new(memory.tree.clone(), memory, &stem, origin)
}
