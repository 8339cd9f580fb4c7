//! Installing: understand, fetch, choose, stage, ask, move into place.

use std::path::PathBuf;
use std::rc::Rc;

use serde::Serialize;

use super::choose::{self, Want};
use super::discover::Found;
use super::fetch::{self, Fetcher, Snapshot};
use super::git_failure::Class;
use super::local::LocalDir;
use super::lockfile::{Kind, Lockfile};
use super::market::Market;
use super::plan::{self, Origin, Plan, Staged};
use super::reference::{Reading, Reference};
use super::staging::Staging;
use super::swap::{self, Changes, Existing};
use crate::error::{Error, Result};
use crate::skill::SkillName;

/// What a person adds to a reference.
#[derive(Debug, Clone, Default)]
pub struct InstallOptions {
    /// Every skill of the source (`--all`).
    pub all: bool,
    /// Those of the source with these names (`--skill a,b`).
    pub skills: Vec<String>,
}

/// What became of one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It was installed.
    New,
    /// A skill of that name was there and was left as it is.
    Already,
    /// The person said no.
    Declined,
}

/// One skill of an install.
#[derive(Debug, Clone, Serialize)]
pub struct Installed {
    /// Its name.
    pub name: SkillName,
    /// Its directory.
    pub dir: PathBuf,
    /// Where it came from: for one that was there already, where that came from, or `None` for
    /// one put there by hand.
    pub source: Option<String>,
    /// The commit.
    pub commit: Option<String>,
    /// See [`Status`].
    pub status: Status,
    /// What was left out of it and why, a sentence each.
    pub dropped: Vec<String>,
    /// What is odd about it, a sentence each.
    pub warnings: Vec<String>,
}

impl Installed {
    /// One sentence for a person or the model, with the next step.
    pub fn summary(&self) -> String {
        let name = &self.name;
        let from = self.source.as_deref().unwrap_or("an unknown source");
        match self.status {
            Status::New => {
                let commit = self
                    .commit
                    .as_deref()
                    .map(|c| format!(" at {}", &c[..c.len().min(12)]));
                format!(
                    "installed `{name}` from {from}{}",
                    commit.unwrap_or_default()
                )
            }
            Status::Already if self.source.is_none() => format!(
                "`{name}` is already installed and not managed by agent-skills; to replace it, \
                 first `agent-skills remove {name}`"
            ),
            Status::Already => format!(
                "`{name}` is already installed from {from}; `agent-skills update {name}` updates it"
            ),
            Status::Declined => format!("`{name}` was not installed"),
        }
    }
}

/// What a reference turned out to mean.
pub(super) struct Picked<'a> {
    pub snapshot: Rc<Snapshot<'a>>,
    pub chosen: Vec<Found>,
    pub origin: Origin,
}

impl Market<'_> {
    /// Installs what `reference` means. `confirm` is shown what would land before anything does;
    /// `note` is told what was understood, as it happens.
    ///
    /// # Errors
    /// When the reference is refused, nothing fits it, or several skills do and none was chosen;
    /// when git fails or time runs out; when the skill cannot be written. Nothing has landed then
    /// that is not whole.
    pub fn install(
        &self,
        reference: &str,
        options: &InstallOptions,
        confirm: &mut dyn FnMut(&Plan) -> bool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Vec<Installed>> {
        self.clean_litter();
        Lockfile::read(self.plugin_dir)?.check_writable()?;
        let understood = Reference::parse(reference)?;
        let staging = Staging::new(self.plugin_dir, self.patience())?;
        let mut fetcher = self.fetcher(&staging);
        let picked = match understood {
            Reference::Local(path) => self.pick_local(&path, reference, options)?,
            Reference::Remote(readings) => {
                pick_remote(&mut fetcher, &readings, reference, options, note)?
            }
        };
        if picked.snapshot.unusable > 0 {
            note(&format!(
                "{} paths of the source cannot be used and were left out",
                picked.snapshot.unusable
            ));
        }
        let mut results = Vec::new();
        let mut staged = Vec::new();
        for found in &picked.chosen {
            let name = &found.skill.name;
            if self.dir(name).symlink_metadata().is_ok() {
                results.push(self.already(name)?);
                continue;
            }
            let dir = staging.dir().join("new").join(name.as_str());
            staged.push(plan::stage(
                &picked.snapshot,
                found,
                &picked.origin,
                name,
                dir,
            )?);
        }
        if staged.is_empty() {
            return Ok(results);
        }
        let shown = Plan {
            source: picked.origin.source.clone(),
            commit: picked.origin.commit.clone(),
            skills: staged.iter().map(|staged| staged.planned.clone()).collect(),
        };
        if !confirm(&shown) {
            results.extend(
                staged
                    .into_iter()
                    .map(|staged| self.result(staged, Status::Declined)),
            );
            return Ok(results);
        }
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        for staged in staged {
            let entry = staged.entry.clone();
            if changes.place(&staging, &staged.dir, entry, Existing::Keep)? {
                results.push(self.result(staged, Status::New));
            } else {
                // Somebody else was faster.
                results.push(self.already(&staged.planned.name)?);
            }
        }
        Ok(results)
    }

    pub(super) fn pick_local<'s>(
        &self,
        written: &str,
        requested: &str,
        options: &InstallOptions,
    ) -> Result<Picked<'s>> {
        let dir = LocalDir::open(written, self.env)?;
        let source = dir.path().to_string_lossy().into_owned();
        let snapshot = fetch::local(dir).map_err(|error| error.context(format!("`{source}`")))?;
        let chosen = choose::choose(&snapshot.found, &Want::Any, &options.skills, options.all)
            .map_err(|miss| miss.error.context(format!("`{source}`")))?;
        let chosen = chosen.into_iter().cloned().collect();
        let origin = Origin {
            source,
            kind: Kind::Local,
            requested: requested.to_owned(),
            rev: None,
            commit: None,
        };
        Ok(Picked {
            snapshot: Rc::new(snapshot),
            chosen,
            origin,
        })
    }

    pub(super) fn dir(&self, name: &SkillName) -> PathBuf {
        swap::skills(self.plugin_dir).join(name.as_str())
    }

    fn already(&self, name: &SkillName) -> Result<Installed> {
        let entry = self.origin(name.as_str())?;
        Ok(Installed {
            name: name.clone(),
            dir: self.dir(name),
            source: entry.as_ref().map(|entry| entry.source.clone()),
            commit: entry.and_then(|entry| entry.commit),
            status: Status::Already,
            dropped: Vec::new(),
            warnings: Vec::new(),
        })
    }

    fn result(&self, staged: Staged, status: Status) -> Installed {
        Installed {
            dir: self.dir(&staged.planned.name),
            name: staged.planned.name,
            source: Some(staged.entry.source),
            commit: staged.entry.commit,
            status,
            dropped: staged.planned.dropped,
            warnings: staged.planned.warnings,
        }
    }
}

/// Takes the first reading that there is. A repository or skill that is not there passes the word
/// to the next reading; any other failure is the answer.
fn pick_remote<'a>(
    fetcher: &mut Fetcher<'a>,
    readings: &[Reading],
    requested: &str,
    options: &InstallOptions,
    note: &mut dyn FnMut(&str),
) -> Result<Picked<'a>> {
    let choosing = options.all || !options.skills.is_empty();
    let mut misses: Vec<Error> = Vec::new();
    for reading in readings {
        if choosing && matches!(reading.want, Want::Named(_)) {
            continue;
        }
        let resolved = match fetcher.resolve(&reading.url, &reading.at)? {
            Ok(resolved) => resolved,
            Err(failure) if failure.is_absence() || failure.class == Class::NoSuchRef => {
                misses.push(failure.into());
                continue;
            }
            Err(failure) => return Err(failure.into()),
        };
        let want = resolved
            .path
            .map_or_else(|| reading.want.clone(), Want::Path);
        let snapshot = fetcher.snapshot(&reading.url, &resolved.commit)?;
        let chosen = match choose::choose(&snapshot.found, &want, &options.skills, options.all) {
            Ok(chosen) => chosen.into_iter().cloned().collect(),
            Err(miss) => {
                let error = miss.error.context(format!("`{}`", reading.url));
                if miss.absent {
                    misses.push(error);
                    continue;
                }
                return Err(error);
            }
        };
        note(&format!("`{requested}` is the {reading}"));
        let origin = Origin {
            source: reading.url.as_str().to_owned(),
            kind: Kind::Git,
            requested: requested.to_owned(),
            rev: resolved.rev,
            commit: Some(resolved.commit),
        };
        return Ok(Picked {
            snapshot,
            chosen,
            origin,
        });
    }
    Err(nothing_fits(requested, misses))
}

/// One error out of those of all readings.
fn nothing_fits(requested: &str, mut misses: Vec<Error>) -> Error {
    let requested = requested.escape_debug();
    match misses.len() {
        0 => Error::new(format!("`{requested}` names one skill already"))
            .hint("leave out `--skill` and `--all`"),
        1 => misses.remove(0),
        _ => {
            let reasons: Vec<String> = misses.iter().map(|miss| format!("\n  {miss}")).collect();
            // A repository that is there, but has other skills, has the most to say.
            let listing = misses
                .iter()
                .filter_map(Error::next_step)
                .find(|hint| hint.contains('\n'));
            let hint = listing.unwrap_or(
                "check the spelling; a private repository needs credentials that git has without \
                 asking",
            );
            Error::new(format!("nothing fits `{requested}`:{}", reasons.concat())).hint(hint)
        }
    }
}
