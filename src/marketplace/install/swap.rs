//! Moves a staged skill into `skills/`, or removes one, and updates the lockfile. If a command is
//! interrupted, the next one completes the change from the journal in the staging directory. All of
//! this, recovery included, holds the install lock. The order: write the journal with the future
//! entry; set the kept state aside, since it is wrong after the move; move; write the lockfile;
//! keep the replaced skill; remove the journal.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::marketplace::install::copy_tree;
use crate::marketplace::install::names::check_same_name;
use crate::marketplace::install::staging::{NEW, Prepared};
use crate::marketplace::install::stash::{self, STASH};
use crate::marketplace::lock::previous;
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile, Previous};
use crate::sys::{Base, Dir, EntryName, FileLock};

mod journal;
mod recover;
mod whole;

use journal::{ASIDE, Journal, New};
pub use recover::recover;
pub use whole::Whole;

/// The directory of installed skills.
pub const SKILLS: EntryName = EntryName::from_static("skills");
const INSTALL_LOCK: EntryName = EntryName::from_static(".install.lock");
/// The replaced skill, if the system cannot exchange two directories. The move is then two renames,
/// of which recovery undoes the first if the second was not made.
static OLD: EntryName = EntryName::from_static("old");
static GONE: EntryName = EntryName::from_static("gone");
/// The plugin directory, with the install lock held; without it, nothing is changed.
pub struct Changes<'s> {
    dir: Dir,
    /// The command's staging directory.
    scratch: &'s Dir,
    lockfile: Lockfile,
    /// `None` for a dry run: each method then checks what it can, and answers as if it had done its
    /// work.
    lock: Option<FileLock>,
}

impl<'s> Changes<'s> {
    /// Waits until other changes have ended. `scratch` is the command's staging
    /// directory.
    ///
    /// # Errors
    /// When they take too long, or this version may not change the lockfile.
    pub fn begin(base: &Base, scratch: &'s Dir, wait: Duration) -> Result<Self> {
        let dir = base.make()?;
        let lock = dir.lock(&INSTALL_LOCK, wait)?;
        let lockfile = Lockfile::read(base)?;
        Ok(Self {
            dir,
            scratch,
            lockfile,
            lock: Some(lock),
        })
    }

    /// For a dry run.
    ///
    /// # Errors
    /// As [`Changes::begin`].
    pub fn imagined(base: &Base, scratch: &'s Dir) -> Result<Self> {
        let lockfile = Lockfile::read(base)?;
        Ok(Self {
            dir: base
                .open()?
                .ok_or_else(|| Error::new("no skill is installed here"))?,
            scratch,
            lockfile,
            lock: None,
        })
    }

    fn is_dry(&self) -> bool {
        self.lock.is_none()
    }

    /// The current lockfile.
    pub fn lockfile(&self) -> &Lockfile {
        &self.lockfile
    }

    fn skills(&self) -> Result<Dir> {
        let made = if self.is_dry() {
            self.dir.open_dir(&SKILLS)
        } else {
            self.dir.make_dir(&SKILLS)
        };
        made.map_err(|error| self.dir.error("open directory", &SKILLS, &error))
    }

    /// Copies an installed skill that is not a link and has this digest to `stash/`, completely or
    /// not at all. Returns its path.
    ///
    /// # Errors
    /// When there is no such skill, or it cannot be copied.
    pub fn stash(&self, name: &InstalledName, now: &Digest) -> Result<String> {
        let kept = InstalledName::parse(&format!("{name}-{}", &now.sha256[..12]))?;
        let (kept, target) = (kept.entry(), name.entry());
        let path = self.dir.path_of(&STASH).join(kept.as_os_str());
        if self.is_dry() {
            return Ok(path.display().to_string());
        }
        let home = self.dir.make_dir(&STASH);
        let home = home.map_err(|error| self.dir.error("make directory", &STASH, &error))?;
        if !home.has(kept) {
            let (skills, within) = (self.skills()?, self.scratch.make_dir(&NEW));
            let within = within.map_err(|error| self.scratch.error("open", &NEW, &error))?;
            let skill = skills.open_dir(target);
            let skill = skill.map_err(|error| skills.error("open directory", target, &error))?;
            let copy = within.new_dir(kept);
            copy_tree(
                &skill,
                &copy.map_err(|error| within.error("make", kept, &error))?,
            )?;
            let moved = within.rename(kept, &home, kept);
            moved.map_err(|error| home.error("keep", kept, &error))?;
        }
        Ok(path.display().to_string())
    }

    /// Replaces a skill, as [`Changes::replace_all`] does.
    ///
    /// # Errors
    /// As there.
    pub fn replace(&mut self, staged: &Prepared, entry: Option<&LockEntry>) -> Result<()> {
        self.replace_all(&[(staged, entry)])?.into_iter().collect()
    }

    /// Replaces skills of the same names with prepared ones, keeps them for `rollback`, and sets
    /// their entries, `None` for those that came from no source, in one write. Returns for each why
    /// it could not be replaced: the prepared skill has another name, or something cannot be
    /// written; its old state then stays or is restored.
    ///
    /// # Errors
    /// When the directory of skills cannot be opened.
    pub fn replace_all(&mut self, new: &[New]) -> Result<Vec<Result<()>>> {
        let skills = self.skills()?;
        let check = |(staged, _): &New| {
            let there = skills.path_of(staged.name.entry());
            check_same_name(&staged.name, &there, &staged.path())
        };
        let checked: Vec<Result<()>> = new.iter().map(check).collect();
        let fit = new.iter().zip(&checked).filter(|(_, fits)| fits.is_ok());
        if self.make(&Whole::of(fit.map(|(new, _)| *new))).is_ok() {
            return Ok(checked);
        }
        // What keeps one from being replaced keeps no other from it.
        let each = new.iter().zip(checked);
        let each = each.map(|(new, fits)| fits.and_then(|()| self.make(&Whole::of([*new]))));
        Ok(each.collect())
    }

    /// Puts a prepared skill in the place of another, of which all or none takes effect, before
    /// the lockfile is written. Returns where what it replaces is set aside.
    fn bring(&self, Prepared { within, name }: &Prepared) -> Result<Dir> {
        let (skills, aside, target) = (self.skills()?, self.aside(name)?, name.entry());
        let room = previous::make_room(&self.dir, &aside, name, self.lockfile.get(name));
        let moved = room.and_then(|()| {
            exchange(within, &skills, target, &aside).map_err(|e| not_moved(&skills, target, &e))
        });
        moved.inspect_err(|_| previous::put_back(&self.dir, &aside, name))?;
        Ok(aside)
    }

    /// Undoes [`Changes::bring`].
    fn take_back(&self, Prepared { within, name }: &Prepared, aside: &Dir, skills: &Dir) {
        let target = name.entry();
        // Errors here do not matter: the first one is reported.
        let _ = if aside.has(&OLD) {
            let back = skills.rename(target, within, target);
            back.and_then(|()| aside.rename(&OLD, skills, target))
        } else {
            within.exchange(target, skills, target).map(drop)
        };
        previous::put_back(&self.dir, aside, name);
    }

    /// The directory for what the change of a skill moves away.
    fn aside(&self, name: &InstalledName) -> Result<Dir> {
        let all = self.scratch.make_dir(&ASIDE);
        let made = all.and_then(|all| all.make_dir(name.entry()));
        made.map_err(|error| self.scratch.error("make directory", &ASIDE, &error))
    }

    /// Moves prepared skills to unused names, each atomically, and writes the lockfile once for all
    /// of them. Returns which of them were moved; a name in use is skipped.
    ///
    /// # Errors
    /// As [`Changes::make`].
    pub fn place_new(&mut self, new: &[New]) -> Result<Vec<bool>> {
        let skills = self.skills()?;
        let is_free = |(place, _): &New| !skills.has(place.name.entry());
        let free: Vec<bool> = new.iter().map(is_free).collect();
        self.make(&Whole::of(new.iter().copied().filter(is_free)))?;
        Ok(free)
    }

    /// Changes the entries of skills whose files stay unchanged, unless they were removed meanwhile.
    ///
    /// # Errors
    /// When the lockfile cannot be written.
    pub fn note(&mut self, entries: &[&LockEntry]) -> Result<()> {
        let there = entries
            .iter()
            .filter(|entry| !self.is_dry() && self.lockfile.get(&entry.name).is_some());
        let new: Vec<_> = there.map(|entry| (&entry.name, Some(*entry))).collect();
        self.lockfile.set(&new, self.scratch)
    }

    /// Removes the skill in the directory `name` and its kept state; with `stashes`, the skill is
    /// moved to the stash.
    ///
    /// # Errors
    /// When anything cannot be written; the old state then stays or is restored.
    pub fn take_away(&mut self, name: &InstalledName, stashes: bool) -> Result<()> {
        if self.is_dry() {
            return Ok(());
        }
        let mut journal = Journal::new(name, None, None);
        if stashes {
            let entry = self.lockfile.get(name);
            journal.stash = Some(stash::make_place(&self.dir, name, entry)?);
        }
        let journals = [journal];
        self.carry_all(&journals).inspect_err(|_| {
            let place = journals[0].stash.as_ref();
            place.inspect(|place| stash::clear(&self.dir, place));
        })
    }

    /// Moves a skill back from its place in the stash.
    ///
    /// # Errors
    /// As [`Changes::place_new`], and when a skill of that name is there again.
    pub fn bring_back(
        &mut self,
        name: &InstalledName,
        (place, kept): (&InstalledName, &Previous),
    ) -> Result<()> {
        if self.skills()?.has(name.entry()) {
            let text = format!("there is a skill `{name}` again");
            return Err(Error::new(text).hint("remove that first"));
        }
        self.check_names([(name, kept.dir.path().to_owned())].into_iter(), &[])?;
        if self.is_dry() {
            return Ok(());
        }
        let placed = Digest::read(kept.dir.path())?.sha256;
        self.carry_all(&[Journal {
            stash: Some(place.clone()),
            ..Journal::new(name, kept.entry.as_ref(), Some(placed))
        }])?;
        stash::clear(&self.dir, place);
        Ok(())
    }
}

/// In one step where the system can, else in two; the old skill is then in `aside`.
///
/// # Errors
/// When neither can be moved; the old skill is then where it was.
fn exchange(within: &Dir, skills: &Dir, target: &EntryName, aside: &Dir) -> io::Result<()> {
    if within.exchange(target, skills, target)? {
        return Ok(());
    }
    skills.rename(target, aside, &OLD)?;
    within.rename(target, skills, target).inspect_err(|_| {
        // Errors here do not matter: the first one is reported.
        let _ = aside.rename(&OLD, skills, target);
    })
}

/// The failure to move the skill at `target`.
fn not_moved(skills: &Dir, target: &EntryName, error: &io::Error) -> Error {
    let error = skills.error("move the skill to", target, error);
    error.hint("check the permissions of the skills directory")
}

/// Where the skill is now that one from the place `staged` has replaced.
fn replaced<'d>(aside: &'d Dir, staged: (&'d Dir, &'d EntryName)) -> (&'d Dir, &'d EntryName) {
    if aside.has(&OLD) {
        (aside, &OLD)
    } else {
        staged
    }
}

/// The path of the directory of installed skills.
pub fn skills(base: &Base) -> PathBuf {
    base.path().join(SKILLS.as_os_str())
}

#[cfg(test)]
mod tests;
