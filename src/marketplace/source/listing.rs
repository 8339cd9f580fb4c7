//! What can be installed: the skills of each configured source, cached on disk so that a search
//! needs no network.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::error::reason;
use crate::marketplace::fetch::{Fetcher, OpenedPlace, cache, file_name, patience, real, tree};
use crate::marketplace::lock::write_json;
use crate::marketplace::prelude::*;
use crate::marketplace::source::{MarketplaceManifest, SkillInTree};
use crate::marketplace::{Market, Note};
use crate::skill::{Searchable, rank};

const SOURCES: EntryName = EntryName::from_static("sources");

const VERSION: u64 = 1;
/// How long a source's listing is used before the source is queried again.
const RECENT: Duration = Duration::from_hours(24);
/// The source is queried; the last known listing counts if it does not respond.
const NOW: Duration = Duration::ZERO;

/// An installable skill, or a plugin with skills.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ListedSkill {
    /// Its name.
    pub name: String,
    /// Its author's description, unescaped; empty if missing.
    pub description: String,
    /// Search terms.
    pub tags: Vec<String>,
    /// The canonical address of its source.
    pub source: String,
    /// The kind of that source.
    pub kind: SourceKind,
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
pub struct CachedListing {
    version: u64,
    /// The commit; empty for sources without commits.
    state: String,
    /// The name that the manifest gives the source.
    pub title: Option<String>,
    /// Its skills.
    pub skills: Vec<ListedSkill>,
}

impl Market<'_> {
    /// The skills of all sources that match the words, best first, from the last known listings;
    /// without words all of them, sorted by name. When offline, or when a source does not respond, its
    /// last known listing is used.
    ///
    /// # Errors
    /// When no source can be read and none was read before.
    pub fn search(&self, words: &[String], note: &mut Note) -> Result<Vec<ListedSkill>> {
        let staging = self.home_staging()?;
        let most = if words.is_empty() { NOW } else { RECENT };
        let catalogs = self.catalogs(most, &mut self.fetcher(&staging), note)?;
        let skills = catalogs.into_iter().flat_map(|(_, cached)| cached.skills);
        let mut all: Vec<ListedSkill> = skills.collect();
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

    /// The listings of all sources, at most this old. One that does not respond does not hide the others.
    pub(crate) fn catalogs(
        &self,
        most: Duration,
        fetcher: &mut Fetcher,
        note: &mut Note,
    ) -> Result<Vec<(Source, CachedListing)>> {
        let (mut answered, mut failed) = (Vec::new(), None);
        let sources = self.sources()?;
        let one_of_several = sources.len() > 1;
        for source in sources {
            match self.of_source(&source, most, fetcher, note) {
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

    /// A source's listing, at most this old; the last known one if it does not respond.
    fn of_source(
        &self,
        source: &Source,
        most: Duration,
        fetcher: &mut Fetcher,
        note: &mut Note,
    ) -> Result<CachedListing> {
        let known = match self.cached(source) {
            Some((known, modified))
                if self.offline || modified.elapsed().is_ok_and(|age| age < most) =>
            {
                return Ok(known);
            }
            None if self.offline => {
                let text = format!("the catalog of `{}` is not on this machine", source.name);
                let hint = "run `agent-skills source update` once while online";
                return Err(Error::new(text).hint(hint));
            }
            known => known.map(|(known, _)| known),
        };
        match (self.fresh(source, fetcher, known.as_ref()), known) {
            (Err(error), Some(known)) => {
                note(&format!(
                    "{error}; the catalog shown is the last one fetched"
                ));
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
        known: Option<&CachedListing>,
    ) -> Result<CachedListing> {
        let place = place_of(&source.reference)?;
        let state = match &place {
            SourceLocation::Repository { url, at } => fetcher.resolve(url, at)?.commit.to_string(),
            SourceLocation::Registry { repo, at } => {
                fetcher.resolve_tag(repo, at.as_ref())?.to_string()
            }
            _ => String::new(),
        };
        let mut fresh = CachedListing {
            version: VERSION,
            state,
            ..CachedListing::default()
        };
        if let Some(known) =
            known.filter(|known| !fresh.state.is_empty() && known.state == fresh.state)
        {
            fresh = known.clone();
        } else if let Some(url) = manifest(&place) {
            let (bytes, _) = fetcher.download(url, limits::INDEX)?;
            let manifest = MarketplaceManifest::parse(&bytes).ok_or_else(|| {
                Error::new(format!("`{url}` is not a marketplace manifest"))
                    .hint("it has to be JSON with a list `plugins`")
            })?;
            fresh.add_remotes(source, &manifest);
        } else if let Some(offers) = fetcher.offers(&place)? {
            fresh.add_offers(source, &place, offers);
        } else {
            let want = RepositoryPart::Any;
            let reading = Reading { place, want };
            let opened = fetcher.open(&reading, &source.reference, &[], true)?;
            fresh.fill(source, &opened);
        }
        self.write_cache(source, &fresh, fetcher)?;
        Ok(fresh)
    }

    fn write_cache(&self, source: &Source, fresh: &CachedListing, fetcher: &Fetcher) -> Result<()> {
        let bytes = serde_json::to_vec(fresh)
            .map_err(|error| Error::caused("could not write the catalog", error))?;
        let (dir, name) = (cache(self.home, &SOURCES)?, cache_name(source));
        let scratch = fetcher.git.tool.scratch;
        let written = dir.replace_through(scratch, &name, &bytes, 0o644, Durable::No);
        written.map_err(|error| dir.error("write", &name, &error))
    }

    fn cached(&self, source: &Source) -> Option<(CachedListing, SystemTime)> {
        // An unreadable cache is rebuilt.
        let dir = cache(self.home, &SOURCES).ok()?;
        let (file, metadata) = dir.open_file(&cache_name(source)).ok()?;
        let bytes = files::read_file_capped(&file, metadata.len(), limits::SOURCE_CACHE).ok()?;
        let cached: CachedListing = serde_json::from_slice(&bytes).ok()?;
        let modified = metadata.modified().ok()?;
        (cached.version == VERSION).then_some((cached, modified))
    }
}

/// The name of the source's cache, of its name and the digest of its reference: a single path component,
/// whatever the list of sources contains.
fn cache_name(source: &Source) -> EntryName {
    let otherwise = EntryName::from_static("source");
    file_name(&source.name, otherwise, &source.reference, ".json")
}

impl CachedListing {
    fn fill(&mut self, source: &Source, opened: &OpenedPlace) {
        let (snapshot, origin) = (&opened.snapshot, &opened.origin);
        let short = match RepoUrl::parse(&origin.source) {
            Ok(url) if origin.kind == SourceKind::Git && origin.rev.is_none() => {
                Some(url.to_string()).filter(|short| short != url.as_str())
            }
            _ => None,
        };
        let shown = snapshot.found.iter().filter(|found| found.is_shown());
        let listed = |found: &SkillInTree| {
            let name = found.skill.name.as_str();
            ListedSkill {
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
                ..ListedSkill::default()
            }
        };
        self.skills = shown.map(listed).collect();
        // The main copies come first and stay so, because the sort is stable.
        self.skills.sort_by(|a, b| a.name.cmp(&b.name));
        self.skills.dedup_by(|a, b| a.name == b.name);
        self.add_remotes(source, &snapshot.manifest);
    }

    /// The skills of a site or a collection, as its index describes them.
    fn add_offers(
        &mut self,
        source: &Source,
        place: &SourceLocation,
        offers: Vec<(String, String)>,
    ) {
        let (kind, address, rev) = place.record();
        let listed = offers.into_iter().map(|(name, description)| ListedSkill {
            reference: format!("{name}@{}", source.name),
            path: name.clone(),
            name,
            description,
            source: address.clone(),
            kind,
            rev: rev.clone(),
            ..ListedSkill::default()
        });
        self.skills = listed.collect();
    }

    fn add_remotes(&mut self, source: &Source, manifest: &MarketplaceManifest) {
        self.title.clone_from(&manifest.name);
        for (plugin, reading) in manifest.remotes() {
            let (kind, address, rev) = reading.place.record();
            let path = match reading.want {
                RepositoryPart::Path(path) => path.as_str().to_owned(),
                _ => String::new(),
            };
            self.skills.push(ListedSkill {
                reference: format!("{}@{}", plugin.name, source.name),
                name: plugin.name.clone(),
                description: plugin.description.clone(),
                tags: plugin.tags.clone(),
                source: address,
                kind,
                rev,
                path,
                plugin: true,
                ..ListedSkill::default()
            });
        }
    }
}

impl Market<'_> {
    /// The reading of a skill's name in one source or in all of them. It never guesses.
    pub(crate) fn find_by_name(
        &self,
        fetcher: &mut Fetcher,
        name: &str,
        of: Option<&str>,
        note: &mut Note,
    ) -> Result<Reading> {
        let key = SkillName::from_written(name);
        let named =
            |one: &ListedSkill| one.name == name || SkillName::from_written(&one.name) == key;
        let mut found: Vec<ListedSkill> = Vec::new();
        // What is wrong with a source is wrong each time that it is asked.
        let mut said = Vec::new();
        let mut tell = |text: &str| {
            if !said.iter().any(|known| known == text) {
                note(text);
                said.push(text.to_owned());
            }
        };
        let (mut known, mut others) = (of.is_none(), Vec::new());
        for most in [RECENT, NOW] {
            for (source, cached) in self.catalogs(most, fetcher, &mut tell)? {
                let meant = |of| source.name == of || cached.title.as_deref() == Some(of);
                if of.is_none_or(meant) {
                    known = true;
                    let (meant, rest): (Vec<_>, Vec<_>) =
                        cached.skills.into_iter().partition(named);
                    found.extend(meant);
                    others.extend(rest.into_iter().map(|one| one.name));
                }
            }
            if !found.is_empty() || self.offline {
                break;
            }
        }
        match (&found[..], of) {
            ([one], _) => one.reading(),
            ([], Some(of)) if !known => Err(unknown_source(of, &self.sources()?)),
            ([], _) => {
                let text = format!("no source has a skill `{}`", name.escape_debug());
                let near = did_you_mean(name, others.iter().map(String::as_str));
                let search = || "`agent-skills search WORDS` looks for one".to_owned();
                Err(Error::new(text).hint(near.unwrap_or_else(search)))
            }
            (several, _) => {
                let choices = several.iter().map(|one| format!("\n  {}", one.reference));
                let choices: String = choices.collect();
                let text = format!("`{}` could be any of{choices}", name.escape_debug());
                Err(Error::new(text).hint("install it by one of these references"))
            }
        }
    }
}

impl ListedSkill {
    /// The reading that leads to this skill.
    ///
    /// # Errors
    /// When the cache contains an invalid address or path.
    fn reading(&self) -> Result<Reading> {
        let rev = self.rev.as_deref();
        let mut reading = Reading::recorded(self.kind, &self.source, rev, &self.path)?;
        if self.plugin && self.path.is_empty() {
            reading.want = RepositoryPart::Any;
        }
        Ok(reading)
    }
}

const FILE: EntryName = EntryName::from_static("sources.json");
const LOCK: EntryName = EntryName::from_static(".sources.lock");
/// Name and reference of the default source.
const DEFAULT: (&str, &str) = ("anthropics-skills", "https://github.com/anthropics/skills");

/// A configured source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name after `@` in `SKILL@SOURCE`.
    pub name: String,
    /// Its reference: a repository, a directory, a site or a manifest's URL.
    pub reference: String,
}

#[derive(Serialize, Deserialize)]
struct SourcesFile {
    version: u64,
    sources: Vec<Source>,
}

/// The place of a source, or the address of a manifest that points to places ([`manifest`]).
fn place_of(reference: &str) -> Result<SourceLocation> {
    let parsed = Reference::parse(reference, None)?;
    match parsed {
        Reference::Readings(readings) => match &readings[..] {
            [only] if only.want == RepositoryPart::Any => Ok(only.place.clone()),
            _ => Err(no_source(reference)),
        },
        Reference::Named { .. } => Err(no_source(reference)),
    }
}

/// The manifest that a source is, if it is no place with skills.
fn manifest(place: &SourceLocation) -> Option<&WebUrl> {
    let is_json = |url: &&WebUrl| url.file_name().to_ascii_lowercase().ends_with(".json");
    match place {
        SourceLocation::WellKnown(url) => Some(url).filter(is_json),
        _ => None,
    }
}

/// The configured sources.
///
/// # Errors
/// When the file exists but cannot be read.
pub fn read(home: &Path) -> Result<Vec<Source>> {
    let path = home.join(FILE.as_os_str());
    let broken = |why: &dyn std::fmt::Display| {
        Error::new(format!("`{}` cannot be read: {why}", path.display()))
            .hint(past(&path, "then there is the default source alone"))
    };
    let read = files::unless_missing(&path, |path| files::read_capped(path, limits::CONFIG_FILE));
    let Some(bytes) = read.map_err(|error| broken(&reason(&error)))? else {
        let (name, reference) = (DEFAULT.0.to_owned(), DEFAULT.1.to_owned());
        return Ok(vec![Source { name, reference }]);
    };
    let written: SourcesFile = serde_json::from_slice(&bytes).map_err(|error| broken(&error))?;
    if written.version != VERSION {
        return Err(broken(&"it is of another version of agent-skills"));
    }
    Ok(written.sources)
}

/// Rewrites a reference so that it can only mean a configured source; `None` if its first reading
/// is not in one. `home` contains `sources.json`.
pub fn within_sources(home: &Path, reference: &str) -> Option<String> {
    let sources = read(home).ok()?;
    let is_source = |place: &SourceLocation| {
        let same = |source: &Source| match (place_of(&source.reference), place) {
            (
                Ok(SourceLocation::Repository { url, .. }),
                SourceLocation::Repository { url: wanted, .. },
            ) => url == *wanted,
            (Ok(of_source), place) => of_source == *place && manifest(place).is_none(),
            _ => false,
        };
        sources.iter().any(same)
    };
    let Reference::Readings(readings) = Reference::parse(reference, None).ok()? else {
        return Some(reference.to_owned());
    };
    let first = readings.first().filter(|first| is_source(&first.place))?;
    if readings.len() == 1 {
        return Some(reference.to_owned());
    }
    match (&first.place, &first.want) {
        (SourceLocation::Repository { url, at }, RepositoryPart::Named(name))
            if *at == Revision::Default =>
        {
            Some(format!("github:{url}@{name}"))
        }
        _ => None,
    }
}

impl Market<'_> {
    /// The configured sources, in their order.
    ///
    /// # Errors
    /// When their file cannot be read.
    pub fn sources(&self) -> Result<Vec<Source>> {
        read(self.home)
    }

    /// Queries a source for its skills and adds it. Returns the source and the number of its
    /// skills.
    ///
    /// # Errors
    /// When it cannot be queried, or its name is taken.
    pub fn add_source(&self, reference: &str, name: Option<&str>) -> Result<(Source, usize)> {
        let reference = self.absolute(reference)?;
        let name = name_for(&reference, name)?;
        let source = Source { name, reference };
        let staging = self.home_staging()?;
        let mut fetcher = self.fetcher(&staging);
        let count = self.fresh(&source, &mut fetcher, None)?.skills.len();
        self.change_sources(|sources| {
            if let Some(other) = sources.iter().find(|other| other.name == source.name) {
                let text = format!("the source `{}` is {} already", other.name, other.reference);
                return Err(Error::new(text).hint("give this one another `--name`"));
            }
            sources.push(source.clone());
            Ok(())
        })?;
        Ok((source, count))
    }

    /// Removes a source. The skills installed from it stay.
    ///
    /// # Errors
    /// When there is no source of this name.
    pub fn remove_source(&self, name: &str) -> Result<()> {
        self.change_sources(|sources| {
            let before = sources.len();
            sources.retain(|source| source.name != name);
            if sources.len() < before {
                return Ok(());
            }
            Err(unknown_source(name, sources))
        })
    }

    fn change_sources(&self, change: impl FnOnce(&mut Vec<Source>) -> Result<()>) -> Result<()> {
        if self.dry_run {
            return change(&mut read(self.home)?);
        }
        let base = Base::own(self.home.to_owned());
        let _turn = base.make()?.lock(&LOCK, patience(self.deadline))?;
        let mut sources = read(self.home)?;
        change(&mut sources)?;
        let written = SourcesFile {
            version: VERSION,
            sources,
        };
        let HomeFile { dir, name, .. } = base.file(&FILE)?;
        write_json(&dir, &name, &written, 0o644)
    }

    /// The reference in a form that means the same in every directory. `OWNER/NAME` is read as a
    /// repository, because a source has many skills.
    fn absolute(&self, reference: &str) -> Result<String> {
        let Reference::Readings(readings) = Reference::parse(reference, None)? else {
            return Err(no_source(reference));
        };
        Ok(match &readings[..] {
            [only] => match &only.place {
                SourceLocation::Local(path) => real(path, self.env)?.to_string_lossy().into_owned(),
                _ => reference.to_owned(),
            },
            _ => format!("github:{reference}"),
        })
    }
}

fn name_for(reference: &str, name: Option<&str>) -> Result<String> {
    let of = |owner: Option<&str>, name: &str| format!("{}-{name}", owner.unwrap_or_default());
    let derived = match place_of(reference)? {
        SourceLocation::Repository { url, .. } => of(url.owner(), url.repo_name()),
        SourceLocation::Registry { repo, .. } => of(repo.owner(), repo.short_name()),
        SourceLocation::WellKnown(url) => url.host().to_owned(),
        _ => tree::base(reference).to_owned(),
    };
    let written = name.unwrap_or(&derived);
    let name = SkillName::from_written(written).ok_or_else(|| {
        let text = format!("`{}` cannot be a source's name", written.escape_debug());
        Error::new(text).hint("give one of letters and digits with `--name`")
    })?;
    Ok(name.as_str().to_owned())
}

/// The error for a name that none of the sources has.
fn unknown_source(name: &str, sources: &[Source]) -> Error {
    let names = sources.iter().map(|source| source.name.as_str());
    let all = || "`agent-skills source list` shows all sources".to_owned();
    let text = format!("there is no source `{}`", name.escape_debug());
    Error::new(text).hint(did_you_mean(name, names).unwrap_or_else(all))
}

fn no_source(reference: &str) -> Error {
    let text = format!("`{}` cannot be a source", reference.escape_debug());
    Error::new(text).hint(
        "a source is OWNER/REPO, the address of a repository, of a site or of a marketplace.json, \
         oci://HOST/NAME, or a directory as ./DIR",
    )
}
