//! What can be installed: the skills of each configured source, cached on disk so that a search
//! needs no network.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Fetcher, Opened, cache, file_name};
use crate::marketplace::reference::{Kind, Place, Reading, RepoUrl, Want};
use crate::marketplace::source::{Found, Manifest, Source, SourceKind};
use crate::marketplace::{Market, Note};
use crate::skill::{Searchable, rank};
use crate::sys::{Durable, EntryName, files, limits};

const SOURCES: EntryName = EntryName::from_static("sources");

const VERSION: u64 = 1;
/// How long a source's listing is used before the source is queried again.
const RECENT: Duration = Duration::from_hours(24);

/// An installable skill, or a plugin with skills.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its author's description, unescaped; empty if missing.
    pub description: String,
    /// Search terms.
    pub tags: Vec<String>,
    /// The canonical address of its source.
    pub source: String,
    /// The kind of that source.
    pub kind: Kind,
    /// The branch, tag or commit; for an archive, its digest.
    pub rev: Option<String>,
    /// Its directory in the source.
    pub path: String,
    /// What to type to install it.
    pub reference: String,
    /// Whether it is a plugin in another repository, which may have several skills.
    pub plugin: bool,
    /// Whether it is installed from there.
    #[serde(default)]
    pub installed: bool,
}

/// The listing of a source, and the state of the source to which it belongs.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Cached {
    version: u64,
    reference: String,
    /// The commit; empty for sources without commits.
    state: String,
    /// The name that the manifest gives the source.
    pub title: Option<String>,
    /// Its skills.
    pub skills: Vec<Listed>,
}

/// How recent a listing must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Current, or the last known one if the source does not respond.
    Now,
    /// At most [`RECENT`] old.
    Recent,
}

impl Market<'_> {
    /// The skills of all sources that match the words, best first, from the last known listings;
    /// without words all of them, sorted by name. When offline, or when a source does not respond, its
    /// last known listing is used.
    ///
    /// # Errors
    /// When no source can be read and none was read before.
    pub fn search(&self, words: &[String], note: &mut Note) -> Result<Vec<Listed>> {
        let age = if words.is_empty() {
            Age::Now
        } else {
            Age::Recent
        };
        let staging = self.home_staging()?;
        let catalogs = self.catalogs(age, &mut self.fetcher(&staging), note)?;
        let skills = catalogs.into_iter().flat_map(|(_, cached)| cached.skills);
        let mut all: Vec<Listed> = skills.collect();
        all.sort_by(|a, b| (&a.name, &a.reference).cmp(&(&b.name, &b.reference)));
        let installed = self.installed_ids();
        for one in &mut all {
            one.installed = installed.contains(&format!("{}#{}", one.source, one.path));
        }
        if words.is_empty() {
            return Ok(all);
        }
        Ok(rank(all, words, |listed| Searchable {
            name: &listed.name,
            tags: listed.tags.clone(),
            description: &listed.description,
        }))
    }

    /// Queries every source again. Returns how many skills each has, or why it cannot be queried.
    ///
    /// # Errors
    /// When the list of sources cannot be read.
    pub fn update_sources(&self) -> Result<Vec<(Source, Result<usize>)>> {
        let staging = self.home_staging()?;
        let mut fetcher = self.fetcher(&staging);
        let ask = |source: Source| {
            let asked = self.fresh(&source, &mut fetcher, None);
            (source, asked.map(|fresh| fresh.skills.len()))
        };
        Ok(self.sources()?.into_iter().map(ask).collect())
    }

    /// The listings of all sources. One that does not respond does not hide the others.
    pub(crate) fn catalogs(
        &self,
        age: Age,
        fetcher: &mut Fetcher,
        note: &mut Note,
    ) -> Result<Vec<(Source, Cached)>> {
        let (mut answered, mut failed) = (Vec::new(), None);
        let sources = self.sources()?;
        let one_of_several = sources.len() > 1;
        for source in sources {
            match self.of_source(&source, age, fetcher, note) {
                Ok(cached) => answered.push((source, cached)),
                Err(error) => {
                    let name = &source.name;
                    if one_of_several {
                        note(&format!("the source `{name}` was left out: {error}"));
                    }
                    failed = Some(error);
                }
            }
        }
        match failed {
            Some(error) if answered.is_empty() => Err(error),
            _ => Ok(answered),
        }
    }

    /// A source's listing of the given age; the last known one if it does not respond.
    fn of_source(
        &self,
        source: &Source,
        age: Age,
        fetcher: &mut Fetcher,
        note: &mut Note,
    ) -> Result<Cached> {
        let (known, modified) = self.cached(source).unzip();
        let is_recent = || modified?.elapsed().ok().filter(|age| *age < RECENT);
        let known = match known {
            Some(known) if self.offline || age == Age::Recent && is_recent().is_some() => {
                return Ok(known);
            }
            None if self.offline => {
                let text = format!("the catalog of `{}` is not on this machine", source.name);
                let hint = "run `agent-skills source update` once with a network";
                return Err(Error::new(text).hint(hint));
            }
            known => known,
        };
        match (self.fresh(source, fetcher, known.as_ref()), known) {
            (Err(error), Some(known)) => {
                note(&format!("{error}; this is the catalog as it was last seen"));
                Ok(known)
            }
            (fresh, _) => fresh,
        }
    }

    /// A source's current listing, which may be the known one.
    pub(crate) fn fresh(
        &self,
        source: &Source,
        fetcher: &mut Fetcher,
        known: Option<&Cached>,
    ) -> Result<Cached> {
        let mut fresh = Cached {
            version: VERSION,
            reference: source.reference.clone(),
            ..Cached::default()
        };
        match SourceKind::parse(&source.reference)? {
            SourceKind::Place(place) => {
                if let Place::Repository { url, at } = &place {
                    fresh.state = fetcher.resolve(url, at)?.commit.to_string();
                }
                if let Place::Registry { repo, at } = &place {
                    fresh.state = fetcher.resolve_tag(repo, at.as_ref())?.to_string();
                }
                if let Some(known) =
                    known.filter(|known| !fresh.state.is_empty() && known.state == fresh.state)
                {
                    self.touch(source);
                    return Ok(known.clone());
                }
                if let Some(offers) = fetcher.offers(&place)? {
                    fresh.add_offers(source, &place, offers);
                } else {
                    let want = Want::Any;
                    let reading = Reading { place, want };
                    let opened = fetcher.open(&reading, &source.reference, &[], true)?;
                    fresh.fill(source, &opened);
                }
            }
            SourceKind::Manifest(url) => {
                let (bytes, _) = fetcher.download(&url, limits::INDEX)?;
                let manifest = Manifest::parse(&bytes).ok_or_else(|| {
                    Error::new(format!("`{url}` is not a marketplace manifest"))
                        .hint("it has to be JSON with a list `plugins`")
                })?;
                fresh.title.clone_from(&manifest.name);
                fresh.add_remotes(source, &manifest);
            }
        }
        self.write_cache(source, &fresh, fetcher)?;
        Ok(fresh)
    }

    fn write_cache(&self, source: &Source, fresh: &Cached, fetcher: &Fetcher) -> Result<()> {
        let bytes = serde_json::to_vec(fresh)
            .map_err(|error| Error::caused("could not write the catalog", error))?;
        let (dir, name) = (cache(self.home, &SOURCES)?, cache_name(source));
        let scratch = fetcher.git.0.scratch;
        let written = dir.replace_through(scratch, &name, &bytes, 0o644, Durable::Yes);
        written.map_err(|error| dir.error("write", &name, &error))
    }

    /// Records that the listing is still current.
    fn touch(&self, source: &Source) {
        // If this fails, the source is only queried once more.
        if let Ok(dir) = cache(self.home, &SOURCES)
            && let Ok((file, _)) = dir.append(&cache_name(source), 0o644)
        {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    fn cached(&self, source: &Source) -> Option<(Cached, SystemTime)> {
        // An unreadable cache is rebuilt.
        let dir = cache(self.home, &SOURCES).ok()?;
        let (file, metadata) = dir.open_file(&cache_name(source)).ok()?;
        let bytes = files::read_file_capped(&file, metadata.len(), limits::SOURCE_CACHE).ok()?;
        let cached: Cached = serde_json::from_slice(&bytes).ok()?;
        let modified = metadata.modified().ok()?;
        let is_it = cached.version == VERSION && cached.reference == source.reference;
        is_it.then_some((cached, modified))
    }
}

/// The name of the source's cache: a single path component, whatever the list of sources contains.
fn cache_name(source: &Source) -> EntryName {
    let otherwise = EntryName::from_static("source");
    file_name(&source.name, otherwise, &source.reference, ".json")
}

impl Cached {
    fn fill(
        &mut self,
        source: &Source,
        Opened {
            snapshot, origin, ..
        }: &Opened,
    ) {
        let short = match RepoUrl::parse(&origin.source) {
            Ok(url) if origin.kind == Kind::Git && origin.rev.is_none() => {
                Some(url.to_string()).filter(|short| short != url.as_str())
            }
            _ => None,
        };
        let shown = snapshot.found.iter().filter(|found| found.is_shown());
        let listed = |found: &Found| {
            let name = found.skill.name.as_str();
            Listed {
                name: name.to_owned(),
                description: found.skill.description.clone().unwrap_or_default(),
                tags: found.tags.iter().chain(&found.plugin).cloned().collect(),
                source: origin.source.clone(),
                kind: origin.kind,
                rev: origin.rev.as_ref().map(ToString::to_string),
                path: found.path.clone(),
                reference: match &short {
                    Some(short) => format!("{short}@{name}"),
                    None => format!("{name}@{}", source.name),
                },
                ..Listed::default()
            }
        };
        self.skills = shown.map(listed).collect();
        // The main copies come first and stay so, because the sort is stable.
        self.skills.sort_by(|a, b| a.name.cmp(&b.name));
        self.skills.dedup_by(|a, b| a.name == b.name);
        self.title.clone_from(&snapshot.manifest.name);
        self.add_remotes(source, &snapshot.manifest);
    }

    /// The skills of a site or a collection, as its index describes them.
    fn add_offers(&mut self, source: &Source, place: &Place, offers: Vec<(String, String)>) {
        let (kind, address, rev) = place.record();
        let listed = offers.into_iter().map(|(name, description)| Listed {
            reference: format!("{name}@{}", source.name),
            path: name.clone(),
            name,
            description,
            source: address.clone(),
            kind,
            rev: rev.clone(),
            ..Listed::default()
        });
        self.skills = listed.collect();
    }

    fn add_remotes(&mut self, source: &Source, manifest: &Manifest) {
        for (plugin, reading) in manifest.remotes() {
            let (kind, address, rev) = reading.place.record();
            let path = match reading.want {
                Want::Path(path) => path.as_str().to_owned(),
                _ => String::new(),
            };
            self.skills.push(Listed {
                reference: format!("{}@{}", plugin.name, source.name),
                name: plugin.name.clone(),
                description: plugin.description.clone(),
                tags: plugin.tags.clone(),
                source: address,
                kind,
                rev,
                path,
                plugin: true,
                ..Listed::default()
            });
        }
    }
}
