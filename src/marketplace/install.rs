//! Installing: understand, fetch, choose, stage, ask, move into place.

use std::path::PathBuf;
use std::rc::Rc;

use serde::Serialize;

use super::choose;
use super::discover::Found;
use super::failure::Class;
use super::fetch::{self, Fetcher, Opened, Snapshot};
use super::installed_name::InstalledName;
use super::lockfile::{self, Lockfile};
use super::market::Market;
use super::origin::Origin;
use super::plan::{self, Plan, Staged};
use super::reference::{As, Place, Reading, Reference};
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
    /// What its directory is to be called (`--name`).
    pub name: Option<String>,
    /// What the reference is to be taken for (`--reading`).
    pub reading: Option<As>,
}

/// Is shown what would land, and decides.
pub type Confirm<'c> = dyn FnMut(&Plan) -> Result<bool> + 'c;
/// Is told what was understood, as it happens.
pub type Note<'n> = dyn FnMut(&str) + 'n;

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
    /// Its directory's name.
    pub name: String,
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

/// Where a skill is to be.
enum Seat {
    Free(InstalledName),
    Taken(InstalledName),
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
        confirm: &mut Confirm,
        note: &mut Note,
    ) -> Result<Vec<Installed>> {
        let understood = Reference::parse(reference, options.reading)?;
        self.install_of(&understood, reference, options, confirm, note)
    }

    pub(super) fn install_of(
        &self,
        reference: &Reference,
        requested: &str,
        options: &InstallOptions,
        confirm: &mut Confirm,
        note: &mut Note,
    ) -> Result<Vec<Installed>> {
        self.clean_litter();
        Lockfile::read(self.plugin_dir)?.check_writable()?;
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        let picked = self.pick(&mut fetcher, reference, requested, options, note)?;
        let lockfile = Lockfile::read(self.plugin_dir)?;
        let mut results = Vec::new();
        let mut staged: Vec<Staged> = Vec::new();
        for found in &picked.chosen {
            match self.seat(found, &picked, options, &lockfile)? {
                Seat::Taken(name) => results.push(self.already(&name)?),
                Seat::Free(name) if staged.iter().any(|other| other.entry.name == *name) => {
                    let text = format!("two of the skills would be called `{name}`");
                    return Err(Error::new(text).hint("install one of them with `--name`"));
                }
                Seat::Free(name) => {
                    let place = staging.place_for(&name)?;
                    let (snapshot, origin) = (&picked.snapshot, &picked.origin);
                    staged.push(plan::stage(snapshot, found, origin, &name, place)?);
                }
            }
        }
        if staged.is_empty() {
            return Ok(results);
        }
        if !confirm(&Plan::of(&picked.origin, &staged))? {
            let declined = staged.into_iter();
            results.extend(declined.map(|staged| self.result(staged, Status::Declined)));
            return Ok(results);
        }
        results.extend(self.land(&staging, staged)?);
        Ok(results)
    }

    /// Moves staged skills into place.
    pub(super) fn land(&self, staging: &Staging, staged: Vec<Staged>) -> Result<Vec<Installed>> {
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        let mut results = Vec::new();
        for staged in staged {
            let (name, entry) = (&staged.entry.name, Some(staged.entry.clone()));
            if changes.place(staging, &staged.place, name, entry, Existing::Keep)? {
                results.push(self.result(staged, Status::New));
            } else {
                // Somebody else was faster.
                results.push(self.already(&staged.planned.name)?);
            }
        }
        Ok(results)
    }

    /// Finds what a reference means, and which skills of it.
    pub(super) fn pick<'a>(
        &self,
        fetcher: &mut Fetcher<'a>,
        reference: &Reference,
        requested: &str,
        options: &InstallOptions,
        note: &mut Note,
    ) -> Result<Picked<'a>> {
        let readings = match reference {
            Reference::Named { name, source } => {
                vec![self.find_by_name(fetcher, name, source.as_deref(), note)?]
            }
            Reference::Readings(readings) => readings.clone(),
        };
        let picked = pick(fetcher, &readings, requested, options, note)?;
        if picked.snapshot.unusable > 0 {
            note(&format!(
                "{} paths of the source cannot be used and were left out",
                picked.snapshot.unusable
            ));
        }
        Ok(picked)
    }

    /// Where a skill goes: beside one of the same name from elsewhere, never in its place.
    fn seat(
        &self,
        found: &Found,
        picked: &Picked,
        options: &InstallOptions,
        lockfile: &Lockfile,
    ) -> Result<Seat> {
        let is_there = |name: &str| self.dir(name).symlink_metadata().is_ok();
        let seat = |name: InstalledName| {
            if is_there(&name) {
                Seat::Taken(name)
            } else {
                Seat::Free(name)
            }
        };
        let source = &picked.origin.source;
        if let Some(entry) = lockfile.by_id(&plan::id(source, &found.path)) {
            return Ok(seat(entry.name.clone()));
        }
        let wanted = match &options.name {
            Some(_) if picked.chosen.len() > 1 => {
                let text = "`--name` names one skill, and several are to be installed";
                return Err(Error::new(text).hint("choose one of them"));
            }
            Some(name) => SkillName::from_written(name).ok_or_else(|| {
                Error::new(format!(
                    "`{}` cannot be a skill's name",
                    name.escape_debug()
                ))
                .hint("use letters and digits")
            })?,
            None => found.skill.name.clone(),
        };
        let wanted = chosen(&wanted, &found.skill.name)?;
        let taken = |name: &str| {
            Error::new(format!("there is a skill `{name}` from somewhere else"))
                .hint("give this one a name of its own with `--name NAME`")
        };
        match lockfile.get(&wanted) {
            Some(_) if options.name.is_none() => {
                let owner = lockfile::owner(picked.origin.kind, source);
                let owner = owner.as_deref().and_then(SkillName::from_written);
                let owner = owner.as_ref().map_or("local", SkillName::as_str);
                let beside = InstalledName::parse(&format!("{owner}--{wanted}"))?;
                if is_there(&beside) {
                    Err(taken(&beside))
                } else {
                    Ok(Seat::Free(beside))
                }
            }
            Some(_) => Err(taken(&wanted)),
            None => Ok(seat(wanted)),
        }
    }

    pub(super) fn dir(&self, name: &str) -> PathBuf {
        swap::skills(self.plugin_dir).join(name)
    }

    pub(super) fn already(&self, name: &str) -> Result<Installed> {
        let entry = self.origin(name)?;
        Ok(Installed {
            name: name.to_owned(),
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

/// The directory of a skill that is to be called `name`. One that its author calls otherwise ends
/// in `--`, which tells the catalog that its directory names it.
pub(super) fn chosen(name: &SkillName, own: &SkillName) -> Result<InstalledName> {
    let mark = if name == own { "" } else { "--" };
    InstalledName::parse(&format!("{name}{mark}"))
}

/// Takes the first reading that there is. A repository or skill that is not there passes the word
/// to the next reading; any other failure is the answer.
fn pick<'a>(
    fetcher: &mut Fetcher<'a>,
    readings: &[Reading],
    requested: &str,
    options: &InstallOptions,
    note: &mut Note,
) -> Result<Picked<'a>> {
    let choosing = options.all || !options.skills.is_empty();
    let mut misses: Vec<Error> = Vec::new();
    for reading in readings {
        // Of several readings, those of one skill are not meant when several are wanted.
        if choosing && readings.len() > 1 && matches!(reading.want, choose::Want::Named(_)) {
            continue;
        }
        let told = format!("`{requested}` is the {reading}");
        // Of several readings only what is found tells which one it is.
        if readings.len() == 1 {
            note(&told);
        }
        let opened = match fetcher.open(reading, requested, &options.skills, options.all)? {
            Ok(opened) => opened,
            Err(failure) if failure.is_absence() || failure.class == Class::NoSuchRef => {
                misses.push(failure.into());
                continue;
            }
            Err(failure) => return Err(failure.into()),
        };
        let want = fetch::wanted(&opened, reading);
        // Of a site only what was chosen has been fetched.
        let (want, all) = match &reading.place {
            Place::WellKnown(_) => (choose::Want::Any, true),
            _ => (want, options.all),
        };
        let found = &opened.snapshot.found;
        let chosen: Vec<Found> = match choose::choose(found, &want, &options.skills, all) {
            Ok(chosen) => chosen.into_iter().cloned().collect(),
            Err(miss) => {
                let error = miss.error.context(format!("`{}`", opened.origin.shown()));
                if miss.absent {
                    misses.push(error);
                    continue;
                }
                return Err(error);
            }
        };
        if readings.len() > 1 {
            note(&told);
        }
        warn_of_ref(fetcher, reading, note);
        let Opened {
            snapshot, origin, ..
        } = opened;
        return Ok(Picked {
            snapshot,
            chosen,
            origin,
        });
    }
    Err(nothing_fits(requested, misses))
}

/// `REPO@NAME` means a skill, but other tools mean a ref by it.
fn warn_of_ref(fetcher: &mut Fetcher, reading: &Reading, note: &mut Note) {
    if let (Place::Repository { url, .. }, choose::Want::Named(name)) =
        (&reading.place, &reading.want)
        && fetcher.has_ref(url, name)
    {
        note(&format!(
            "`{name}` is a branch or tag, too; `#{name}` instead of `@{name}` would mean that"
        ));
    }
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
