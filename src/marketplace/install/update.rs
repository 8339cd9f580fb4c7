//! Updates installed skills from their sources. A skill changed by hand is left alone unless its
//! user decides otherwise, and even then its state is kept.

use std::collections::HashSet;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::marketplace::fetch::Fetcher;
use crate::marketplace::install::lines::line_by_line;
use crate::marketplace::install::names::check_same_name;
use crate::marketplace::install::{Changes, Difference, Staged, Staging, plan};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile};
use crate::marketplace::reference::{Ancestry, Kind, Target};
use crate::marketplace::source::{Seen, ancestry, find_again, is_same_tree, moved};
use crate::marketplace::source::{newer_tags, seen};
use crate::marketplace::{Market, Note};
use crate::skill::Skill;

/// Options of an update.
#[derive(Debug, Clone, Copy, Default)]
pub struct UpdateOptions<'a> {
    /// Change nothing (`--dry-run`).
    pub dry_run: bool,
    /// Show the difference line by line (`--diff`).
    pub diff: bool,
    /// What happens to a skill changed by hand.
    pub edited: Edited,
    /// The only state to update to (`--to`).
    pub to: Option<&'a Target>,
}

/// What happens to a skill changed by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edited {
    /// It stays unchanged.
    #[default]
    Keep,
    /// It is replaced (`--force`).
    Replace,
    /// It is replaced, and a copy is kept in `stash/` (`--stash`).
    Stash,
}

/// Receives what would change, and decides about it.
pub type Agree<'a> = dyn FnMut(&Difference) -> Result<bool> + 'a;

/// The result for one installed skill.
#[derive(Debug, Clone, Serialize)]
pub struct Updated {
    /// Its directory's name.
    pub name: String,
    /// See [`Change`].
    pub change: Change,
    /// The version that the author states in the installed skill.
    pub version: Option<String>,
    /// Tags of its repository that are later than its pinned tag.
    pub newer_tags: Vec<String>,
}

/// The result of an update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Change {
    /// It matches its source.
    UpToDate,
    /// It is a link, which always matches its target.
    Linked,
    /// It would be replaced.
    Available(Box<Difference>),
    /// It was replaced.
    Updated {
        /// The old commit.
        from: Option<String>,
        /// The new commit.
        to: Option<String>,
        /// What was left out, and why, one sentence each.
        dropped: Vec<String>,
        /// Where the replaced version, changed by hand, is kept.
        stashed: Option<String>,
    },
    /// It was left unchanged because someone decided so, or because it had to be.
    Kept {
        /// The reason, as an error message.
        reason: String,
        /// The next step.
        hint: Option<String>,
    },
    /// It could not be updated and is unchanged.
    Failed {
        /// The reason, as an error message.
        reason: String,
        /// The next step.
        hint: Option<String>,
    },
}

impl Market<'_> {
    /// Updates the named skills, or all in the lockfile. If one fails, the others are still
    /// updated. `agree` receives the difference before it is applied.
    ///
    /// # Errors
    /// When a name matches no installed skill, or this version may not change the lockfile.
    pub fn update(
        &self,
        names: &[String],
        options: UpdateOptions,
        agree: &mut Agree,
        note: &mut Note,
    ) -> Result<Vec<Updated>> {
        let lockfile = self.begin()?;
        let directories = self.meant(names, &lockfile)?;
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        let mut results = Vec::new();
        for name in directories {
            note(&format!("checking `{name}`"));
            let entry = lockfile.get(&name);
            let change = match entry {
                Some(entry) => self.update_one(entry, options, &staging, &mut fetcher, agree),
                None => Err(Error::new(format!("nobody knows where `{name}` came from"))
                    .hint("remove it and install it from its source")),
            };
            let change = change.unwrap_or_else(|error| Change::Failed {
                reason: error.to_string(),
                hint: error.next_step().map(str::to_owned),
            });
            let newer_tags = entry.map(|entry| newer_tags(entry, &fetcher));
            let skill = Skill::load(&self.dir(&name)).ok();
            results.push(Updated {
                version: skill.and_then(|skill| skill.fields.version()),
                newer_tags: newer_tags.unwrap_or_default(),
                name: name.to_string(),
                change,
            });
        }
        Ok(results)
    }

    /// The directories that the names mean, or all in the lockfile if there are no names.
    pub(crate) fn meant(
        &self,
        names: &[String],
        lockfile: &Lockfile,
    ) -> Result<Vec<InstalledName>> {
        if names.is_empty() {
            let managed = |name: &InstalledName| lockfile.get(name).is_some();
            return Ok(self.directories().into_iter().filter(managed).collect());
        }
        let mut seen = HashSet::new();
        let directories = names.iter().map(|name| self.installed(name));
        let mut directories = directories.collect::<Result<Vec<_>>>()?;
        directories.retain(|name| seen.insert(name.clone()));
        Ok(directories)
    }

    fn update_one(
        &self,
        entry: &LockEntry,
        options: UpdateOptions,
        staging: &Staging,
        fetcher: &mut Fetcher,
        agree: &mut Agree,
    ) -> Result<Change> {
        if entry.kind == Kind::Link {
            return Ok(Change::Linked);
        }
        let reading = entry.reading()?;
        if self.leads_out(&reading.place) {
            let text = format!("{} is outside the project", entry.source);
            return Ok(kept(&Error::new(text).hint(format!(
                "if you trust it, remove `{}`, and install it from there",
                entry.name
            ))));
        }
        let meant = |commit: &Option<String>| {
            let to = options.to;
            to.map_or(Ok(()), |to| to.check(commit.as_deref()))
        };
        match seen(entry, &reading, fetcher)? {
            Seen::Same(rev) if rev == entry.rev => {
                return meant(&entry.commit).map(|()| Change::UpToDate);
            }
            Seen::Same(rev) => {
                meant(&entry.commit)?;
                let mut entry = entry.clone();
                entry.rev = rev;
                return self.note_unless(options.dry_run, staging, &entry);
            }
            Seen::Moved(tag) => return Ok(kept(&moved(entry, &tag))),
            Seen::Other => {}
        }
        let opened = fetcher.open(&reading, &entry.requested, &[], false)?;
        meant(&opened.origin.commit)?;
        let found = match find_again(entry, &opened.snapshot) {
            Ok(found) => found,
            Err(gone) => return Ok(kept(&gone)),
        };
        let ancestry = ancestry(entry, &reading, &opened.origin, fetcher);
        // If the new commit does not descend from the installed one, the lockfile does not record
        // it without asking, even if the files are equal: later commits would look like normal
        // updates.
        let noted = options.dry_run || !ancestry.is_none_or(Ancestry::goes_forward);
        if is_same_tree(entry, &opened.snapshot, found) {
            let entry = LockEntry {
                commit: opened.origin.commit.clone(),
                rev: opened.origin.rev.clone(),
                address: opened.origin.address.clone(),
                ..entry.clone()
            };
            return self.note_unless(noted, staging, &entry);
        }
        let place = staging.place_for(&entry.name)?;
        let mut staged = plan::stage(&opened.snapshot, found, &opened.origin, &entry.name, place)?;
        staged.entry.other.clone_from(&entry.other);
        if staged.entry.sha256 == entry.sha256 {
            return self.note_unless(noted, staging, &staged.entry);
        }
        let installed = self.dir(&entry.name);
        check_same_name(&entry.name, &installed, &staged.place.path())?;
        let now = Digest::read(&installed)?;
        let new = &staged.entry.files;
        let mut difference = Difference::between(&installed, &now, &staged.planned, new);
        difference.from.clone_from(&entry.commit);
        difference.to.clone_from(&staged.entry.commit);
        difference.edited = now.sha256 != entry.sha256;
        difference.ancestry = ancestry;
        if options.diff {
            let new = staged.place.path();
            difference.text = Some(line_by_line(staging, &installed, &new, fetcher.git)?);
        }
        if options.dry_run {
            return Ok(Change::Available(Box::new(difference)));
        }
        if difference.edited && options.edited == Edited::Keep {
            return Ok(kept(&edited(&entry.name)));
        }
        if !agree(&difference)? {
            let declined = Error::new("you said no").hint("`update` asks again");
            return Ok(kept(&declined));
        }
        self.swap_in(entry, staged, &now, options, staging)
    }

    /// Replaces the skill with the staged version, if it is still the one that was compared.
    fn swap_in(
        &self,
        entry: &LockEntry,
        staged: Staged,
        looked_at: &Digest,
        options: UpdateOptions,
        staging: &Staging,
    ) -> Result<Change> {
        let name = &entry.name;
        let mut changes = self.changes_of(staging, name, Some(entry), looked_at)?;
        let mut stashed = None;
        if options.edited == Edited::Stash && looked_at.sha256 != entry.sha256 {
            let kept = InstalledName::parse(&format!("{name}-{}", &looked_at.sha256[..12]))?;
            stashed = Some(changes.stash(name, &staging.place_for(&kept)?)?);
        }
        changes.replace(&staged.place, Some(&staged.entry))?;
        Ok(Change::Updated {
            from: entry.commit.clone(),
            to: staged.entry.commit,
            dropped: staged.planned.dropped,
            stashed,
        })
    }

    /// Begins to change a skill, if it is still the one that was compared.
    pub(crate) fn changes_of<'s>(
        &self,
        staging: &'s Staging,
        name: &InstalledName,
        entry: Option<&LockEntry>,
        looked_at: &Digest,
    ) -> Result<Changes<'s>> {
        let changes = self.changes(staging)?;
        let same = Digest::read(&self.dir(name))?.sha256 == looked_at.sha256;
        if changes.lockfile().get(name) == entry && same {
            return Ok(changes);
        }
        let text = format!("another command has changed `{name}`");
        Err(Error::new(text).hint("try again"))
    }

    /// The skill matches its source. Records the new commit in the lockfile, unless `not`.
    fn note_unless(&self, not: bool, staging: &Staging, entry: &LockEntry) -> Result<Change> {
        if !not {
            let mut changes = self.changes(staging)?;
            if changes.lockfile().get(&entry.name).is_some() {
                changes.note(entry)?;
            }
        }
        Ok(Change::UpToDate)
    }
}

fn kept(why: &Error) -> Change {
    Change::Kept {
        reason: why.to_string(),
        hint: why.next_step().map(str::to_owned),
    }
}

fn edited(name: &str) -> Error {
    let text =
        format!("`{name}` was changed after it was installed, and its source has changed, too");
    Error::new(text).hint(
        "`--stash` keeps a copy of your changes aside and updates, `--force` updates over them",
    )
}
