//! What the user trusts of a project: each of its skills for itself, its configuration, and what lies
//! beside the skills, which any of them may use. A change asks again for what has changed, and says
//! what that is.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::App;
use super::layers::{HOLDS, PROJECT_CONFIG, real};
use crate::catalog::skill_directories;
use crate::error::{Error, Result};
use crate::governance::{Ledger, Record};
use crate::skill::{Skill, find_skill_file};
use crate::sys::{limits, tree};

/// Recorded for a directory that is trusted whatever becomes of it.
const ALWAYS: &str = "always";

/// What is recorded of a directory with skills.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Trusted {
    /// `always`, or as version 1 had it one digest of everything, which counts while all of it is
    /// what it was.
    Whole(String),
    /// By their paths below the directory, what was trusted.
    Parts(BTreeMap<String, Part>),
}

/// One skill, the configuration, or what lies beside the skills of one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Of everything in it.
    digest: String,
    /// Its files with a digest each, to tell what has changed; none where they are many.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
}

impl Trusted {
    /// Whether it counts whatever becomes of the directory.
    pub fn is_always(&self) -> bool {
        matches!(self, Self::Whole(word) if word == ALWAYS)
    }
}

impl Record for Trusted {
    const VERSION: u32 = 2;
}

/// Whether the user trusts something of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// As it is now.
    Given,
    /// As it was; this has changed since, as far as is known.
    Outdated(Vec<String>),
    /// Not so far.
    Missing,
}

/// The record, read once, and what was found when something was held against it.
#[derive(Debug, Default)]
pub struct Trusts {
    entries: OnceCell<BTreeMap<String, Trusted>>,
    found: RefCell<BTreeMap<PathBuf, Trust>>,
}

impl Trusts {
    /// Whether the skill in `dir` is trusted, and what lies beside it.
    pub fn of_skill(&self, app: &App, dir: &Path) -> Trust {
        let Some(root) = dir.parent() else {
            return Trust::Missing;
        };
        // What has no skill in it is one of the things that lie beside them.
        let own = match find_skill_file(dir) {
            Some(_) => self.of_part(app, App::holder_of(root), dir),
            None => Trust::Given,
        };
        match own {
            Trust::Given => match self.of_part(app, App::holder_of(root), root) {
                Trust::Missing => Trust::Missing,
                Trust::Outdated(changed) => {
                    let beside = changed.into_iter().map(|path| format!("../{path}"));
                    Trust::Outdated(beside.collect())
                }
                Trust::Given => Trust::Given,
            },
            other => other,
        }
    }

    /// Whether the configuration that `holder` brings is trusted.
    pub fn of_config(&self, app: &App, holder: &Path) -> Trust {
        self.of_part(app, holder, &holder.join(PROJECT_CONFIG))
    }

    /// Whether `path`, one of the parts of `holder`, is trusted.
    pub fn of_part(&self, app: &App, holder: &Path, path: &Path) -> Trust {
        if let Some(found) = self.found.borrow().get(path) {
            return found.clone();
        }
        let read = || app.trusted().entries().unwrap_or_default();
        let entries = self.entries.get_or_init(read);
        let trust = match real(holder).to_str().and_then(|key| entries.get(key)) {
            None => Trust::Missing,
            Some(recorded) if recorded.is_always() => Trust::Given,
            Some(Trusted::Whole(digest)) => self.of_whole(holder, digest),
            Some(Trusted::Parts(parts)) => {
                let key = path.strip_prefix(holder).ok().and_then(Path::to_str);
                match key.and_then(|key| parts.get(key)) {
                    Some(part) => part.compared_with(path),
                    None => Trust::Missing,
                }
            }
        };
        self.found
            .borrow_mut()
            .insert(path.to_owned(), trust.clone());
        trust
    }

    /// Whether all of `holder` is what one digest of it says.
    fn of_whole(&self, holder: &Path, digest: &str) -> Trust {
        if let Some(found) = self.found.borrow().get(holder) {
            return found.clone();
        }
        let paths = HOLDS.iter().chain([&PROJECT_CONFIG]);
        let paths: Vec<PathBuf> = paths.map(|path| holder.join(path)).collect();
        // What cannot be read cannot be what was trusted.
        let trust = match tree::digest(&paths) {
            Ok(now) if now == digest => Trust::Given,
            _ => Trust::Outdated(Vec::new()),
        };
        self.found
            .borrow_mut()
            .insert(holder.to_owned(), trust.clone());
        trust
    }
}

impl Part {
    /// What is at `path` now.
    fn of(path: &Path) -> io::Result<Self> {
        let digest = tree::digest(&paths_of(path)?)?;
        let files = files_of(path)?;
        let few = files.len() <= limits::TRUSTED_FILES;
        let files = if few { files } else { BTreeMap::new() };
        Ok(Self { digest, files })
    }

    fn compared_with(&self, path: &Path) -> Trust {
        let now = paths_of(path).and_then(|paths| tree::digest(&paths));
        // What cannot be read cannot be what was trusted.
        if now.is_ok_and(|now| now == self.digest) {
            return Trust::Given;
        }
        let now = files_of(path).unwrap_or_default();
        Trust::Outdated(self.differences(&now))
    }

    fn differences(&self, now: &BTreeMap<String, String>) -> Vec<String> {
        if self.files.is_empty() {
            return Vec::new();
        }
        let gone = self.files.keys().filter(|path| !now.contains_key(*path));
        let gone = gone.map(|path| format!("{path} (gone)"));
        let differing = now
            .iter()
            .filter_map(|(path, digest)| match self.files.get(path) {
                None => Some(format!("{path} (new)")),
                Some(before) => (before != digest).then(|| path.clone()),
            });
        differing.chain(gone).collect()
    }
}

/// What a part consists of: a place of skills of what lies beside them, all others of themselves. A
/// skill's file may be the name of another one, in a skill's directory beside it.
fn paths_of(path: &Path) -> io::Result<Vec<PathBuf>> {
    if App::is_place(path) {
        return beside(path);
    }
    let skill = path.is_dir().then(|| Skill::load(path).ok()).flatten();
    let file = skill.map(|skill| skill.file);
    let elsewhere = file.filter(|file| file.parent() != Some(path));
    Ok(std::iter::once(path.to_owned()).chain(elsewhere).collect())
}

fn files_of(path: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for part in paths_of(path)? {
        let name = part.file_name().unwrap_or_default().to_string_lossy();
        for (file, digest) in tree::files(&part)? {
            let shown = match (file.is_empty(), part == path) {
                (true, _) => name.clone().into_owned(),
                (false, true) => file,
                (false, false) => format!("{name}/{file}"),
            };
            all.insert(shown, digest);
        }
    }
    Ok(all)
}

/// Everything in a place of skills that is no skill: any skill there may use it.
fn beside(root: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>()?;
    let skills = skill_directories(root);
    paths.retain(|path| skills.binary_search(path).is_err());
    paths.sort();
    Ok(paths)
}

impl App {
    /// The record of what the user trusts.
    pub fn trusted(&self) -> Ledger<Trusted> {
        Ledger::of_user(self.store().dir().join("trust.json"))
    }

    /// Whether a directory has anything that would need trust.
    pub fn brings_something(holder: &Path) -> bool {
        let mut holds = HOLDS.iter().chain([&PROJECT_CONFIG]);
        holds.any(|path| holder.join(path).symlink_metadata().is_ok())
    }

    /// The parts that `holder` has now: its skills, what lies beside them, and its configuration.
    pub fn parts_of(holder: &Path) -> Vec<PathBuf> {
        let mut parts = Vec::new();
        for root in HOLDS.map(|root| holder.join(root)) {
            if root.symlink_metadata().is_ok() {
                parts.extend(skill_directories(&root));
                parts.push(root);
            }
        }
        let config = holder.join(PROJECT_CONFIG);
        parts.extend(config.symlink_metadata().is_ok().then_some(config));
        parts
    }

    /// Whether `part` is a place of skills, and stands for what lies beside them.
    pub fn is_place(part: &Path) -> bool {
        HOLDS.iter().any(|root| part.ends_with(root))
    }

    /// Whether nothing lies beside the skills there.
    pub fn is_empty_place(part: &Path) -> bool {
        beside(part).is_ok_and(|beside| beside.is_empty())
    }

    /// Trusts `holder` whatever becomes of it.
    ///
    /// # Errors
    /// When its path cannot be recorded.
    pub fn trust_always(&self, holder: &Path) -> Result<()> {
        let word = Trusted::Whole(ALWAYS.to_owned());
        self.trusted().put(&trust_key(holder)?, word)
    }

    /// Trusts these parts of `holder` as they are now; with `keep`, beside what is recorded of others.
    /// Answers those that cannot be read, which are not trusted.
    ///
    /// # Errors
    /// When nothing of it could be recorded.
    pub fn trust(&self, holder: &Path, wanted: &[PathBuf], keep: bool) -> Result<Vec<Error>> {
        let mut parts = if keep {
            self.recorded_parts(holder)?
        } else {
            BTreeMap::new()
        };
        let mut unread = Vec::new();
        for path in wanted {
            if let Err(error) = record(&mut parts, holder, path) {
                unread.push(error);
            }
        }
        match unread.pop() {
            Some(error) if unread.len() + 1 == wanted.len() => return Err(error),
            last => unread.extend(last),
        }
        self.trusted()
            .put(&trust_key(holder)?, Trusted::Parts(parts))?;
        Ok(unread)
    }

    /// No longer trusts `holder`, or only these parts of it; whether it did.
    ///
    /// # Errors
    /// When that cannot be recorded.
    pub fn distrust(&self, holder: &Path, only: Option<&[PathBuf]>) -> Result<bool> {
        let key = trust_key(holder)?;
        let Some(only) = only else {
            return self.trusted().take(&key);
        };
        let mut parts = self.recorded_parts(holder)?;
        let before = parts.len();
        for path in only {
            let key = path.strip_prefix(holder).ok().and_then(Path::to_str);
            key.and_then(|key| parts.remove(key));
        }
        if parts.len() == before {
            return Ok(false);
        }
        self.trusted().put(&key, Trusted::Parts(parts))?;
        Ok(true)
    }

    /// What is recorded of single parts of `holder`; of all of it together, its parts as they are now.
    fn recorded_parts(&self, holder: &Path) -> Result<BTreeMap<String, Part>> {
        let mut entries = self.trusted().entries()?;
        let digest = match entries.remove(&trust_key(holder)?) {
            None => return Ok(BTreeMap::new()),
            Some(Trusted::Parts(parts)) => return Ok(parts),
            Some(recorded) if recorded.is_always() => {
                let text = format!("`{}` is trusted whatever becomes of it", holder.display());
                return Err(Error::new(text).hint(
                    "`agent-skills trust` trusts it as it is now; then single skills can be chosen",
                ));
            }
            Some(Trusted::Whole(digest)) => digest,
        };
        let mut parts = BTreeMap::new();
        if Trusts::default().of_whole(holder, &digest) == Trust::Given {
            for path in Self::parts_of(holder) {
                record(&mut parts, holder, &path)?;
            }
        }
        Ok(parts)
    }
}

fn record(parts: &mut BTreeMap<String, Part>, holder: &Path, path: &Path) -> Result<()> {
    let part = Part::of(path).map_err(|error| {
        Error::io("read", path, &error).hint("without a digest, only `--always` could trust it")
    })?;
    let key = path.strip_prefix(holder).ok().and_then(Path::to_str);
    let key = key.ok_or_else(|| unnamed(path))?;
    parts.insert(key.to_owned(), part);
    Ok(())
}

fn trust_key(holder: &Path) -> Result<String> {
    let key = real(holder);
    key.to_str().map(str::to_owned).ok_or_else(|| unnamed(&key))
}

fn unnamed(path: &Path) -> Error {
    let text = format!(
        "the path `{}` is not UTF-8 and cannot be recorded",
        path.display()
    );
    Error::new(text).hint("rename the directory")
}
