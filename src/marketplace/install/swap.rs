//! Moves a staged skill into `skills/`, or removes one, and updates the lockfile. If a command is
//! interrupted, the next one completes the change from the journal in the staging directory. All of
//! this, recovery included, holds the install lock. The order: write the journal with the future
//! entry; set the kept state aside, since it is wrong after the move; move; write the lockfile;
//! keep the replaced skill; remove the journal.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::marketplace::install::names::{check_same_name, offered_as, offers};
use crate::marketplace::install::staging::{JOURNAL, Prepared, Staging};
use crate::marketplace::lock::previous::{self, FORMER, KEPT};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile};
use crate::marketplace::reference::Kind;
use crate::sys::{Base, Dir, Durable, EntryName, FileLock};

mod recover;

pub use recover::recover;

/// The directory of installed skills.
pub const SKILLS: EntryName = EntryName::from_static("skills");
const INSTALL_LOCK: EntryName = EntryName::from_static(".install.lock");
/// The replaced skill, if the system cannot exchange two directories. The move is then two renames,
/// of which recovery undoes the first if the second was not made.
static OLD: EntryName = EntryName::from_static("old");
const GONE: EntryName = EntryName::from_static("gone");

#[derive(Serialize, Deserialize)]
struct Journal {
    /// The directory in `skills/`.
    name: InstalledName,
    /// Its future entry; `None` for a removal, and for a skill that came from no source.
    entry: Option<LockEntry>,
    /// The digest of the future directory, which after a rollback may differ from the entry's;
    /// `None` for a removal and for a link.
    placed: Option<String>,
}

/// A prepared skill for an unused name.
#[derive(Clone, Copy)]
pub struct New<'a> {
    /// Where it is prepared.
    pub place: &'a Prepared,
    /// Its directory in `skills/`.
    pub name: &'a InstalledName,
    /// Its entry; `None` if it came from no source.
    pub entry: Option<&'a LockEntry>,
}

/// The plugin directory, with the install lock held.
pub struct Changes {
    dir: Dir,
    lockfile: Lockfile,
    _lock: FileLock,
}

impl New<'_> {
    fn journal(&self) -> Result<Journal> {
        let placed = match self.entry {
            Some(entry) if entry.kind == Kind::Link => None,
            // It was computed from the files as they are now.
            Some(entry) => Some(entry.sha256.clone()),
            None => Some(Digest::read(&self.place.path())?.sha256),
        };
        Ok(Journal::new(self.name, self.entry, placed))
    }
}

impl Journal {
    fn new(name: &InstalledName, entry: Option<&LockEntry>, placed: Option<String>) -> Self {
        let (name, entry) = (name.clone(), entry.cloned());
        Self {
            name,
            entry,
            placed,
        }
    }
}

impl Changes {
    /// Waits until other changes have ended.
    ///
    /// # Errors
    /// When they take too long, or this version may not change the lockfile.
    pub fn begin(base: &Base, wait: Duration) -> Result<Self> {
        let dir = base.make()?;
        let lock = dir.lock(&INSTALL_LOCK, wait)?;
        let lockfile = Lockfile::read(base)?;
        lockfile.check_writable()?;
        Ok(Self {
            dir,
            lockfile,
            _lock: lock,
        })
    }

    /// The plugin directory.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The current lockfile.
    pub fn lockfile(&self) -> &Lockfile {
        &self.lockfile
    }

    fn skills(&self) -> Result<Dir> {
        let made = self.dir.make_dir(&SKILLS);
        made.map_err(|error| self.dir.error("open directory", &SKILLS, &error))
    }

    /// The directory of an installed skill that is not a link to a working copy.
    ///
    /// # Errors
    /// When there is none.
    pub fn skill(&self, name: &InstalledName) -> Result<Dir> {
        let skills = self.skills()?;
        let opened = skills.open_dir(name.entry());
        opened.map_err(|error| skills.error("open directory", name.entry(), &error))
    }

    /// Replaces the skill `name` with one prepared in `staging`, keeps it for `rollback`, and sets its
    /// entry, `None` if it came from no source.
    ///
    /// # Errors
    /// When the prepared skill has another name, or anything cannot be written; the old state then
    /// stays or is restored. Also when the change was made but the old skill cannot be kept.
    pub fn replace(
        &mut self,
        staging: &Staging,
        staged: &Prepared,
        name: &InstalledName,
        entry: Option<&LockEntry>,
    ) -> Result<()> {
        let scratch = staging.dir();
        let skills = self.dir.path_of(&SKILLS);
        check_same_name(name, &skills.join(&**name), &staged.path())?;
        let placed = Digest::read(&staged.path())?.sha256;
        begin_journal(scratch, &[Journal::new(name, entry, Some(placed))])?;
        let room = previous::make_room(&self.dir, scratch, name, self.lockfile.get(name));
        if let Err(error) = room.and_then(|()| self.bring(scratch, staged, name, entry)) {
            previous::put_back(&self.dir, scratch, name);
            remove_journal(scratch)?;
            return Err(error);
        }
        let old = replaced(scratch, (&staged.within, &staged.name));
        let kept = previous::keep(&self.dir, scratch, name, old);
        kept.map_err(|error| scratch.error("keep", &KEPT, &error))?;
        remove_journal(scratch)
    }

    /// The steps of [`Changes::replace`] of which all or none take effect.
    fn bring(
        &mut self,
        scratch: &Dir,
        staged: &Prepared,
        name: &InstalledName,
        entry: Option<&LockEntry>,
    ) -> Result<()> {
        let (skills, target) = (self.skills()?, name.entry());
        exchange(staged, &skills, target, scratch).map_err(|e| not_moved(&skills, target, &e))?;
        self.lockfile
            .set(&[(name, entry)], scratch)
            .inspect_err(|_| {
                let Prepared { within, name } = staged;
                let _ = if scratch.has(&OLD) {
                    let back = skills.rename(target, within, name);
                    back.and_then(|()| scratch.rename(&OLD, &skills, target))
                } else {
                    within.exchange(name, &skills, target).map(drop)
                };
            })
    }

    /// Moves prepared skills to unused names, each atomically, and writes the lockfile once for all
    /// of them. Returns which of them were moved; a name in use is skipped.
    ///
    /// # Errors
    /// When another skill is offered under the name of one; then nothing is moved. Also when anything
    /// cannot be written. Skills already moved either stay or are all moved back.
    pub fn place_new(&mut self, staging: &Staging, new: &[New]) -> Result<Vec<bool>> {
        let (skills, scratch) = (self.skills()?, staging.dir());
        self.check_names_free(new)?;
        let mut placed: Vec<bool> = new.iter().map(|n| !skills.has(n.name.entry())).collect();
        let free = new.iter().zip(&placed).filter(|(_, is_free)| **is_free);
        let journals = free
            .map(|(new, _)| new.journal())
            .collect::<Result<Vec<_>>>()?;
        begin_journal(scratch, &journals)?;
        let mut failed = None;
        for (New { place, name, .. }, is_placed) in new.iter().zip(&mut placed) {
            *is_placed = *is_placed && failed.is_none();
            if *is_placed
                && let Err(error) = place.within.rename(&place.name, &skills, name.entry())
            {
                *is_placed = false;
                failed = Some(not_moved(&skills, name.entry(), &error));
            }
        }
        let moved = || new.iter().zip(&placed).filter(|(_, is_placed)| **is_placed);
        let entries: Vec<_> = moved().map(|(new, _)| (new.name, new.entry)).collect();
        if let Err(error) = self.lockfile.set(&entries, scratch) {
            for (New { place, name, .. }, _) in moved() {
                let _ = skills.rename(name.entry(), &place.within, &place.name);
            }
            remove_journal(scratch)?;
            return Err(error);
        }
        remove_journal(scratch)?;
        failed.map_or(Ok(placed), Err)
    }

    fn check_names_free(&self, new: &[New]) -> Result<()> {
        let mut offers = offers(&self.dir.path_of(&SKILLS));
        for New { place, name, .. } in new {
            // A link is read as the directory that it leads to, whose name may be the skill's.
            let path = place.path();
            let offered = offered_as(name, &path.canonicalize().unwrap_or(path));
            let other = offered.and_then(|offered| {
                let other = offers.insert(offered.clone(), (*name).clone())?;
                Some((offered, other)).filter(|(_, other)| other != *name)
            });
            if let Some((offered, other)) = other {
                let text = format!("`{name}` would be offered as `{offered}`, as `{other}` is");
                return Err(Error::new(text).hint("give it a name of its own with `--name NAME`"));
            }
        }
        Ok(())
    }

    /// Changes the entry of a skill whose files stay unchanged.
    ///
    /// # Errors
    /// When the lockfile cannot be written.
    pub fn note(&mut self, staging: &Staging, entry: &LockEntry) -> Result<()> {
        self.lockfile
            .set(&[(&entry.name, Some(entry))], staging.dir())
    }

    /// Removes the skill in the directory `name` and its kept state.
    ///
    /// # Errors
    /// When anything cannot be written; the old state then stays or is restored.
    pub fn take_away(&mut self, staging: &Staging, name: &InstalledName) -> Result<()> {
        let scratch = staging.dir();
        begin_journal(scratch, &[Journal::new(name, None, None)])?;
        let gone = self.carry_off(scratch, name);
        if gone.is_err() {
            previous::put_back(&self.dir, scratch, name);
        }
        remove_journal(scratch)?;
        gone
    }

    /// The steps of [`Changes::take_away`] of which all or none take effect.
    fn carry_off(&mut self, scratch: &Dir, name: &InstalledName) -> Result<()> {
        let (skills, target) = (self.skills()?, name.entry());
        let failed = |error| {
            let error = skills.error("remove", target, &error);
            error.hint("check the permissions of the skills directory")
        };
        let former = previous::set_aside(&self.dir, scratch, name);
        former.map_err(|error| scratch.error("move to", &FORMER, &error))?;
        if skills.has(target) {
            skills.rename(target, scratch, &GONE).map_err(failed)?;
        }
        self.lockfile
            .set(&[(name, None)], scratch)
            .inspect_err(|_| {
                let _ = scratch.rename(&GONE, &skills, target);
            })
    }
}

/// Where the skill is now that one from the place `staged` has replaced.
fn replaced<'d>(scratch: &'d Dir, staged: (&'d Dir, &'d EntryName)) -> (&'d Dir, &'d EntryName) {
    if scratch.has(&OLD) {
        (scratch, &OLD)
    } else {
        staged
    }
}

/// The path of the directory of installed skills.
pub fn skills(base: &Base) -> PathBuf {
    base.path().join(SKILLS.as_os_str())
}

fn exchange(staged: &Prepared, skills: &Dir, target: &EntryName, scratch: &Dir) -> io::Result<()> {
    let Prepared { within, name } = staged;
    if within.exchange(name, skills, target)? {
        return Ok(());
    }
    skills.rename(target, scratch, &OLD)?;
    within.rename(name, skills, target).inspect_err(|_| {
        // Errors here do not matter: the first one is reported.
        let _ = scratch.rename(&OLD, skills, target);
    })
}

fn not_moved(skills: &Dir, target: &EntryName, error: &io::Error) -> Error {
    let error = skills.error("move the skill to", target, error);
    error.hint("check the permissions of the skills directory")
}

/// Writes the journal. From then on, [`recover`] completes or undoes the change after a kill.
fn begin_journal(staging: &Dir, journals: &[Journal]) -> Result<()> {
    // They are left from the change of another skill.
    for left in [&OLD, &GONE, &KEPT, &FORMER] {
        let removed = staging.remove_ours(left);
        removed.map_err(|error| staging.error("remove", left, &error))?;
    }
    write_journal(staging, journals)
}

fn write_journal(staging: &Dir, journals: &[Journal]) -> Result<()> {
    let bytes = serde_json::to_vec(journals)
        .map_err(|error| Error::caused("could not write the journal", error))?;
    let written = staging.replace(&JOURNAL, &bytes, 0o600, Durable::Yes);
    written.map_err(|error| staging.error("write", &JOURNAL, &error))
}

fn remove_journal(staging: &Dir) -> Result<()> {
    let removed = staging.remove_file(&JOURNAL);
    removed.map_err(|error| staging.error("remove", &JOURNAL, &error))
}

#[cfg(test)]
mod tests;
