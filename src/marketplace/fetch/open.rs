//! Opens places for reading: repositories, directories, archives, sites. Each is queried at most
//! once per command.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::marketplace::fetch::{CachedRepository, Remote, Repository, ResolvedRef, Tree};
use crate::marketplace::fetch::{Contents, FailureKind, archive, expand, http, tree};
use crate::marketplace::fetch::{
    FetchFailure, Git, InMemoryTree, LocalDir, Permit, PermittedUrl, Refs, WebIndex,
};
use crate::marketplace::prelude::*;
use crate::marketplace::reference::parse;
use crate::marketplace::registry::Client;
use crate::marketplace::source::{MarketplaceManifest, Origin, SkillInTree, discover};
use crate::marketplace::verification::{ManifestProof, ManifestProofs};

/// An opened place.
pub struct OpenedPlace<'a> {
    /// Its content.
    pub snapshot: Rc<Snapshot<'a>>,
    /// What the lockfile will record about it.
    pub origin: Origin,
    /// The path that followed the ref, if the reference combined the two.
    pub path: Option<SubPath>,
}

impl<'a> OpenedPlace<'a> {
    /// What was fetched, with signed manifests that are not in the skills.
    ///
    /// # Errors
    /// As [`Snapshot::new`].
    pub fn new(
        tree: Tree,
        content: impl Contents + 'a,
        name: &str,
        origin: Origin,
        beside: ManifestProofs,
    ) -> Result<Self> {
        let snapshot = Snapshot::new(tree, content, name)?;
        Ok(Self {
            snapshot: Rc::new(Snapshot { beside, ..snapshot }),
            origin,
            path: None,
        })
    }

    /// What is wanted from the place. The path after the ref precedes the reading's own.
    pub fn want(&self, reading: &Reading) -> RepositoryPart {
        let path = self.path.clone();
        path.map_or_else(|| reading.want.clone(), RepositoryPart::Path)
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
    /// Which sources may be contacted.
    pub permit: Rc<Permit<'a>>,
    /// Asks registries.
    pub registry: Client<'a>,
    pub remotes: HashMap<RepoUrl, Rc<Remote>>,
    pub refs: HashMap<RepoUrl, Refs>,
    snapshots: HashMap<(RepoUrl, CommitId), Rc<Snapshot<'a>>>,
    pub reaches: HashMap<(RepoUrl, CommitId), Reachability>,
    pub ancestries: HashMap<(RepoUrl, CommitId, CommitId), Ancestry>,
}

impl<'a> Fetcher<'a> {
    /// `git` works in its scratch directory.
    pub fn new(
        git: Git<'a>,
        home: PathBuf,
        offline: bool,
        mirror: Option<String>,
        permit: Rc<Permit<'a>>,
    ) -> Self {
        Self {
            registry: Client::new(git.tool, &home, offline, Rc::clone(&permit)),
            git,
            home,
            offline,
            mirror: mirror.filter(|base| !base.is_empty()),
            permit,
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
    ) -> Result<OpenedPlace<'a>, FetchFailure> {
        let origin = |source: &str, kind: SourceKind| Origin {
            source: source.to_owned(),
            kind,
            requested: requested.to_owned(),
            ..Origin::default()
        };
        let of_web = |url: &WebUrl, address: Option<String>, kind: SourceKind| Origin {
            address,
            reach: parse::may_be_a_forks(url).then_some(Reachability::Unknown),
            ..origin(url.as_str(), kind)
        };
        let none = ManifestProofs::default();
        Ok(match &reading.place {
            SourceLocation::Repository { url, at } => {
                let resolved = self.resolve(url, at)?;
                OpenedPlace {
                    snapshot: self.snapshot(url, &resolved.commit)?,
                    origin: Origin {
                        address: self.remote(url)?.elsewhere().map(str::to_owned),
                        rev: resolved.pin.as_ref().map(ToString::to_string),
                        commit: Some(resolved.commit.to_string()),
                        reach: Some(self.reach(url, &resolved)),
                        tag: resolved.tag,
                        ..origin(url.as_str(), SourceKind::Git)
                    },
                    path: resolved.path,
                }
            }
            SourceLocation::Local(written) => {
                let (path, digest) = match written.rsplit_once("#sha256=") {
                    Some((path, hex)) => (path, Some(parse::digest(&format!("sha256={hex}"))?)),
                    None => (written.as_str(), None),
                };
                let full = expand(path, self.git.tool.env);
                if parse::is_archive(path) && !full.is_dir() {
                    let unreadable = |e| Error::io("read", &full, &e).hint("check the path");
                    let full = full.canonicalize().map_err(unreadable)?;
                    let bytes = files::read_capped(&full, limits::DOWNLOAD).map_err(unreadable)?;
                    let origin = origin(&full.to_string_lossy(), SourceKind::Archive);
                    let beside = ManifestProof::find(|end| {
                        let file = PathBuf::from(format!("{}.manifest{end}", full.display()));
                        let read = |path: &Path| files::read_capped(path, limits::MANIFEST);
                        files::unless_missing(&file, read)
                            .map_err(|error| Error::io("read", &file, &error))
                    })?;
                    open_archive(&bytes, digest.as_deref(), origin, beside)?
                } else {
                    let dir = LocalDir::open(written, self.git.tool.env)?;
                    let source = dir.path().to_string_lossy().into_owned();
                    let (name, origin) = (tree::base(&source), origin(&source, SourceKind::Local));
                    let tree = dir.tree();
                    tree.and_then(|tree| OpenedPlace::new(tree, dir, name, origin, none))
                        .map_err(|error| error.context(format!("`{source}`")))?
                }
            }
            SourceLocation::Archive { url, sha256 } => {
                let (bytes, address) = self.download(url, limits::DOWNLOAD)?;
                let beside = ManifestProof::find(|end| self.beside(url, end))?;
                let origin = of_web(url, address, SourceKind::Archive);
                open_archive(&bytes, sha256.as_deref(), origin, beside)?
            }
            SourceLocation::WellKnown(url) => {
                let index = self.index(url)?;
                let of_site = |error: Error| error.context(format!("`{url}`"));
                let offers = index.choose(&reading.want, skills, all).map_err(of_site)?;
                let memory = index.fetch(&self.git.tool, &offers).map_err(of_site)?;
                let origin = Origin {
                    address: (index.place != *url).then(|| index.place.to_string()),
                    ..origin(url.as_str(), SourceKind::WellKnown)
                };
                OpenedPlace::new(memory.tree.clone(), memory, url.host(), origin, none)?
            }
            SourceLocation::Registry { repo, at } => {
                let place = (repo, at.as_ref());
                self.open_registry(place, requested, &reading.want, (skills, all))?
            }
            SourceLocation::File(url) => {
                let mut memory = InMemoryTree::default();
                let (bytes, address) = self.download(url, limits::SKILL_FILE)?;
                memory.add_file("SKILL.md", bytes, false)?;
                let origin = of_web(url, address, SourceKind::File);
                OpenedPlace::new(memory.tree.clone(), memory, url.host(), origin, none)?
            }
        })
    }

    /// The names and descriptions of the skills that a site or a collection lists, of which nothing
    /// else is fetched; `None` for any other place.
    ///
    /// # Errors
    /// When it cannot or may not be queried.
    pub fn offers(
        &self,
        place: &SourceLocation,
    ) -> Result<Option<Vec<(String, String)>>, FetchFailure> {
        Ok(match place {
            SourceLocation::WellKnown(url) => {
                let all = self.index(url)?.skills.into_iter();
                Some(all.map(|one| (one.name, one.description)).collect())
            }
            SourceLocation::Registry { repo, at } => {
                self.collection(repo, at.as_ref())?.map(|members| {
                    let all = members.all.into_iter();
                    all.map(|one| (one.name, one.description)).collect()
                })
            }
            _ => None,
        })
    }

    /// A site's index: that below the given URL, or else that of the host's root.
    ///
    /// # Errors
    /// When there is none, or the site cannot or may not be queried.
    pub fn index(&self, site: &WebUrl) -> Result<WebIndex, FetchFailure> {
        let root = Some(site.root()).filter(|root| root != site);
        for place in [site.clone()].into_iter().chain(root) {
            if let Some(index) = WebIndex::query(&self.git.tool, &self.permit_online(place)?)? {
                return Ok(index);
            }
        }
        let text = format!(
            "`{site}` has no `/.well-known/agent-skills/index.json`; if it is a git repository, \
             `--reading repo` takes it as one"
        );
        Err(FetchFailure::new(FailureKind::NoRepository, text))
    }

    /// Downloads a file. Returns it with the address that redirects led to, if they left the source.
    /// They may lead to another host, but never from https to http.
    ///
    /// # Errors
    /// When it cannot be downloaded, or an address on the way may not be contacted.
    pub fn download(
        &self,
        url: &WebUrl,
        max: u64,
    ) -> Result<(Vec<u8>, Option<String>), FetchFailure> {
        let mut address = None;
        let get =
            |at: &PermittedUrl| http::send(&self.git.tool, at, http::HttpRequest::Get, &[], max);
        let (at, answer) = http::follow(self.permit_online(url.clone())?, get, |from, to| {
            let next = from.led(to).and_then(|next| {
                if from.has_store(next.url()) {
                    return Ok(next);
                }
                if from.is_left_for(next.url()) {
                    // What is recorded has no query, since that may be a secret.
                    let recorded = next.url().as_str().split('?').next().unwrap_or_default();
                    address = Some(recorded.to_owned());
                }
                self.permit.url(next.url().clone())
            });
            let on_the_way = |error: Error| error.context(format!("`{}` redirects", from.url()));
            Ok(next.map_err(on_the_way)?)
        })?;
        let (host, what) = (at.url().host(), format!("`{}`", at.url()));
        Ok((answer.expect(host, &what)?, address))
    }

    /// The manifest that a site has beside an archive, or, by its ending, a signature of that.
    fn beside(&self, archive: &WebUrl, end: &str) -> Result<Option<Vec<u8>>> {
        // Beside an address with a query is nothing.
        if archive.as_str().contains('?') {
            return Ok(None);
        }
        let url = WebUrl::parse(&format!("{archive}.manifest{end}"))?;
        match self.download(&url, limits::MANIFEST) {
            Ok((bytes, _)) => Ok(Some(bytes)),
            // Some sites forbid what is not there.
            Err(failure) if failure.is_absence() => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    fn permit_online(&self, url: WebUrl) -> Result<PermittedUrl, FetchFailure> {
        if self.offline {
            return Err(FetchFailure::not_kept(format!("`{url}`")));
        }
        Ok(self.permit.url(url)?)
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
        let slot = CachedRepository::new(&self.home, url, &remote.address)?;
        let repository = Repository::fetch(self.git, slot, &remote, commit, self.offline)
            .map_err(|failure| failure.context(format!("could not fetch `{url}`")))?;
        let snapshot = Snapshot::new(repository.tree(commit)?, repository, url.repo_name());
        let snapshot = Rc::new(snapshot.map_err(|error| error.context(format!("`{url}`")))?);
        self.snapshots.insert(key, Rc::clone(&snapshot));
        Ok(snapshot)
    }

    /// The commit that `at` means at present.
    ///
    /// # Errors
    /// When the address cannot be used or git fails.
    pub fn resolve(&mut self, url: &RepoUrl, at: &Revision) -> Result<ResolvedRef, FetchFailure> {
        if !self.refs.contains_key(url) {
            let remote = self.remote(url)?;
            let slot = CachedRepository::new(&self.home, url, &remote.address)?;
            let listed = if self.offline {
                let unknown =
                    || FetchFailure::new(FailureKind::Offline, "it has not been fetched yet");
                slot.refs().ok_or_else(unknown)
            } else {
                let listed = Refs::list(self.git, &remote.settings);
                listed.inspect(|refs| slot.cache_refs(refs, self.git.tool.scratch))
            };
            let unread = |failure: FetchFailure| failure.context(format!("could not read `{url}`"));
            self.refs
                .insert(url.clone(), Refs::parse(&listed.map_err(unread)?));
        }
        let resolved = self.refs[url].resolve(at);
        resolved.map_err(|failure| failure.context(format!("`{url}`")))
    }

    /// The address that git uses for a repository, if it may be contacted. A mirror, if set, takes
    /// the place of GitHub.
    pub fn remote(&mut self, url: &RepoUrl) -> Result<Rc<Remote>, FetchFailure> {
        if let Some(remote) = self.remotes.get(url) {
            return Ok(Rc::clone(remote));
        }
        let address = url.fetch_from(self.mirror.as_deref())?;
        let remote = Rc::new(Remote::find(&self.git, &self.permit, &address, url)?);
        self.remotes.insert(url.clone(), Rc::clone(&remote));
        Ok(remote)
    }

    /// The tags of a repository that was queried, each with its commit.
    pub fn tags(&self, url: &RepoUrl) -> impl Iterator<Item = (&str, &CommitId)> {
        self.refs.get(url).into_iter().flat_map(Refs::tags)
    }
}

/// Opens an archive of which the digest was asked for, or any digest if there is none.
fn open_archive<'a>(
    bytes: &[u8],
    sha256: Option<&str>,
    origin: Origin,
    beside: Option<ManifestProof>,
) -> Result<OpenedPlace<'a>> {
    let (source, found) = (&origin.source, format!("{:x}", Sha256::digest(bytes)));
    if sha256.is_some_and(|wanted| wanted != found) {
        let text = format!("the archive `{source}` has the digest {found}, not the one asked for");
        return Err(Error::new(text).hint("do not use it unless its author has published this one"));
    }
    let memory = archive::read(bytes).map_err(|error| error.context(format!("`{source}`")))?;
    let name = tree::base(source);
    let stem = name.split('.').next().unwrap_or(name).to_owned();
    let origin = Origin {
        rev: sha256.map(str::to_owned),
        commit: Some(format!("sha256:{found}")),
        ..origin
    };
    let beside = beside.map(|beside| (String::new(), vec![beside]));
    let beside = beside.into_iter().collect();
    OpenedPlace::new(memory.tree.clone(), memory, &stem, origin, beside)
}

/// The content of a source at one time.
pub struct Snapshot<'a> {
    /// Its files.
    pub tree: Tree,
    /// Their bytes.
    pub content: Box<dyn Contents + 'a>,
    /// Its skills, main copies first.
    pub found: Vec<SkillInTree>,
    /// Its manifest; empty when it has none.
    pub manifest: MarketplaceManifest,
    /// The signed manifests that are beside skills, by their paths; that beside an archive, or an
    /// artifact of one skill, counts for all and has none.
    pub beside: ManifestProofs,
}

impl<'a> Snapshot<'a> {
    /// What the files in `tree` are; `name` is that of a skill at the root without its own.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn new(tree: Tree, content: impl Contents + 'a, name: &str) -> Result<Self> {
        let (found, manifest) = discover(&tree, &content, name)?;
        let content = Box::new(content);
        Ok(Self {
            tree,
            content,
            found,
            manifest,
            beside: ManifestProofs::default(),
        })
    }
}
