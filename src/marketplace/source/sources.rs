//! The configured sources, which `list`, `search` and bare names use: `sources.json` in the plugin
//! directory. Without that file there is one source, [`DEFAULT`].

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, past, reason};
use crate::marketplace::Market;
use crate::marketplace::fetch::{patience, real, tree};
use crate::marketplace::reference::{At, Place, Reference, Want, WebUrl};
use crate::skill::SkillName;
use crate::sys::text::did_you_mean;
use crate::sys::{Base, Durable, EntryName, HomeFile, files, limits};

const SOURCES: EntryName = EntryName::from_static("sources.json");
const LOCK: EntryName = EntryName::from_static(".sources.lock");
const VERSION: u64 = 1;
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

/// What a source is.
#[derive(Debug)]
pub enum SourceKind {
    /// A place with skills.
    Place(Place),
    /// A manifest that points to places.
    Manifest(WebUrl),
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u64,
    sources: Vec<Source>,
}

impl SourceKind {
    /// Parses a source's reference.
    pub(crate) fn parse(reference: &str) -> Result<Self> {
        let Reference::Readings(mut readings) = Reference::parse(reference, None)? else {
            return Err(no_source(reference));
        };
        let last = readings.pop().map(|reading| (reading.place, reading.want));
        match last {
            Some((Place::WellKnown(url), _)) if is_json(&url) => Ok(Self::Manifest(url)),
            Some((place, Want::Any)) if readings.is_empty() => Ok(Self::Place(place)),
            _ => Err(no_source(reference)),
        }
    }
}

/// The configured sources.
///
/// # Errors
/// When the file exists but cannot be read.
pub fn read(home: &Path) -> Result<Vec<Source>> {
    let path = home.join(SOURCES.as_os_str());
    let broken = |why: &dyn std::fmt::Display| {
        Error::new(format!("`{}` cannot be read: {why}", path.display()))
            .hint(past(&path, "then there is the default source alone"))
    };
    let read = files::unless_missing(&path, |path| files::read_capped(path, limits::CONFIG_FILE));
    let Some(bytes) = read.map_err(|error| broken(&reason(&error)))? else {
        let (name, reference) = (DEFAULT.0.to_owned(), DEFAULT.1.to_owned());
        return Ok(vec![Source { name, reference }]);
    };
    let written: Written = serde_json::from_slice(&bytes).map_err(|error| broken(&error))?;
    if written.version != VERSION {
        return Err(broken(&"it is of another version of agent-skills"));
    }
    Ok(written.sources)
}

/// Rewrites a reference so that it can only mean a configured source; `None` if its first reading
/// is not in one. `home` contains `sources.json`.
pub fn within_sources(home: &Path, reference: &str) -> Option<String> {
    let sources = read(home).ok()?;
    let is_source = |place: &Place| {
        let same = |source: &Source| match (SourceKind::parse(&source.reference), place) {
            (
                Ok(SourceKind::Place(Place::Repository { url, .. })),
                Place::Repository { url: wanted, .. },
            ) => url == *wanted,
            (Ok(SourceKind::Place(of_source)), place) => of_source == *place,
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
        (Place::Repository { url, at }, Want::Named(name)) if *at == At::Default => {
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
        let written = Written {
            version: VERSION,
            sources,
        };
        let text = serde_json::to_string_pretty(&written)
            .map_err(|error| Error::caused("could not write the sources", error))?;
        let text = format!("{text}\n");
        let HomeFile { dir, name, .. } = base.file(&SOURCES)?;
        let written = dir.replace(&name, text.as_bytes(), 0o644, Durable::Yes);
        written.map_err(|error| dir.error("write", &name, &error))
    }

    /// The reference in a form that means the same in every directory. `OWNER/NAME` is read as a
    /// repository, because a source has many skills.
    fn absolute(&self, reference: &str) -> Result<String> {
        let Reference::Readings(readings) = Reference::parse(reference, None)? else {
            return Err(no_source(reference));
        };
        Ok(match &readings[..] {
            [only] => match &only.place {
                Place::Local(path) => real(path, self.env)?.to_string_lossy().into_owned(),
                _ => reference.to_owned(),
            },
            _ => format!("github:{reference}"),
        })
    }
}

fn name_for(reference: &str, name: Option<&str>) -> Result<String> {
    let derived = match SourceKind::parse(reference)? {
        SourceKind::Place(Place::Repository { url, .. }) => {
            format!("{}-{}", url.owner().unwrap_or_default(), url.repo_name())
        }
        SourceKind::Place(Place::Registry { repo, .. }) => {
            format!("{}-{}", repo.owner().unwrap_or_default(), repo.short_name())
        }
        SourceKind::Place(Place::WellKnown(url)) | SourceKind::Manifest(url) => {
            url.host().to_owned()
        }
        SourceKind::Place(_) => tree::base(reference).to_owned(),
    };
    let written = name.unwrap_or(&derived);
    let name = SkillName::from_written(written).ok_or_else(|| {
        let text = format!("`{}` cannot be a source's name", written.escape_debug());
        Error::new(text).hint("give one of letters and digits with `--name`")
    })?;
    Ok(name.as_str().to_owned())
}

fn is_json(url: &WebUrl) -> bool {
    let extension = Path::new(url.file_name()).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// The error for a name that none of the sources has.
pub fn unknown_source(name: &str, sources: &[Source]) -> Error {
    let names = sources.iter().map(|source| source.name.as_str());
    let all = || "`agent-skills source list` shows what there is".to_owned();
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
