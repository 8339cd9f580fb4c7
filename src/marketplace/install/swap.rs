//! Moves a staged skill into `skills/`, or removes one, and updates the lockfile. If a command is
//! interrupted, the next one completes the change from the journal in the staging directory. All of
//! this, recovery included, holds the install lock. The order: write the journal with the future
//! entry; set the kept state aside, since it is wrong after the move; move; write the lockfile;
//! keep the replaced skill; remove the journal.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::marketplace::fetch::copy_tree;
use crate::marketplace::install::names::{check_same_name, offered_as, offers};
use crate::marketplace::install::staging::Prepared;
use crate::marketplace::install::stash::{self, STASH};
use crate::marketplace::lock::previous::{self, FORMER, KEPT};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile};
use crate::sys::{Base, Dir, EntryName, FileLock};

mod exchange;
mod journal;
mod recover;
mod whole;

use exchange::{OLD, exchange, not_moved};
use journal::{ASIDE, Journal, New, begin_journal, remove_journal};
pub use recover::recover;
pub use whole::Whole;

/// The directory of installed skills.
pub const SKILLS: EntryName = EntryName::from_static("skills");
const INSTALL_LOCK: EntryName = EntryName::from_static(".install.lock");
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
        lockfile.check_writable()?;
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
        lockfile.check_writable()?;
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

    /// Copies an installed skill that is not a link to `stash/`, completely or not at all, by way of
    /// `copy`, whose name it gets there. Returns its path.
    ///
    /// # Errors
    /// When there is no such skill, or it cannot be copied.
    pub fn stash(&self, name: &InstalledName, copy: &Prepared) -> Result<String> {
        let (skills, kept) = (self.skills()?, copy.name.entry());
        if self.is_dry() {
            return Ok(self
                .dir
                .path_of(&STASH)
                .join(kept.as_os_str())
                .display()
                .to_string());
        }
        let home = self.dir.make_dir(&STASH);
        let home = home.map_err(|error| self.dir.error("make directory", &STASH, &error))?;
        if !home.has(kept) {
            let skill = skills.open_dir(name.entry());
            let skill =
                skill.map_err(|error| skills.error("open directory", name.entry(), &error))?;
            copy_tree(&skill, &copy.make()?)?;
            let moved = copy.within.rename(kept, &home, kept);
            moved.map_err(|error| home.error("keep", kept, &error))?;
        }
        Ok(home.path_of(kept).display().to_string())
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
    /// written; its old state then stays or is restored. Also when it was replaced but the old skill
    /// cannot be kept.
    ///
    /// # Errors
    /// When the journal or the lockfile cannot be written. All old states then stay or are restored.
    pub fn replace_all(&mut self, new: &[New]) -> Result<Vec<Result<()>>> {
        let (skills, mut journals) = (self.skills()?, Vec::new());
        let mut begin = |(staged, entry): &New| {
            let (name, path) = (&staged.name, staged.path());
            check_same_name(name, &skills.path_of(name.entry()), &path)?;
            journals.push(Journal::new(
                name,
                *entry,
                Some(Digest::read(&path)?.sha256),
            ));
            Ok(())
        };
        let checked: Vec<Result<()>> = new.iter().map(&mut begin).collect();
        if self.is_dry() {
            return Ok(checked);
        }
        begin_journal(self.scratch, &journals)?;
        let bring = |(new, checked): (&New, Result<()>)| checked.and_then(|()| self.bring(new.0));
        let brought: Vec<Result<Dir>> = new.iter().zip(checked).map(bring).collect();
        let are_brought = new
            .iter()
            .zip(&brought)
            .filter(|(_, brought)| brought.is_ok());
        let entries = are_brought.map(|((staged, entry), _)| (&staged.name, *entry));
        if let Err(error) = self
            .lockfile
            .set(&entries.collect::<Vec<_>>(), self.scratch)
        {
            for ((staged, _), brought) in new.iter().zip(&brought) {
                let _ = brought
                    .as_ref()
                    .map(|aside| self.take_back(staged, aside, &skills));
            }
            remove_journal(self.scratch)?;
            return Err(error);
        }
        let mut are_kept = true;
        let keep = |((Prepared { within, name }, _), aside): (&New, Result<Dir>)| {
            let aside = aside?;
            let old = replaced(&aside, (within, name.entry()));
            let kept = previous::keep(&self.dir, &aside, name, old);
            are_kept &= kept.is_ok();
            kept.map_err(|error| aside.error("keep", &KEPT, &error))
        };
        let results = new.iter().zip(brought).map(keep).collect();
        if are_kept {
            remove_journal(self.scratch)?;
        }
        Ok(results)
    }

    /// The steps of [`Changes::replace_all`] for one skill of which all or none take effect, before
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
    /// When another skill is offered under the name of one; then nothing is moved. Also when anything
    /// cannot be written. Skills already moved either stay or are all moved back.
    pub fn place_new(&mut self, new: &[New]) -> Result<Vec<bool>> {
        self.place(new, Journal::of_new)
    }

    fn place(
        &mut self,
        new: &[New],
        journal: impl Fn(&New) -> Result<Journal>,
    ) -> Result<Vec<bool>> {
        let (skills, scratch) = (self.skills()?, self.scratch);
        self.check_names_free(new)?;
        let is_free = |(place, _): &&New| !skills.has(place.name.entry());
        let free: Vec<&New> = new.iter().filter(is_free).collect();
        let journals: Result<Vec<_>> = free.iter().map(|new| journal(new)).collect();
        if self.is_dry() {
            return Ok(new.iter().map(|new| is_free(&new)).collect());
        }
        begin_journal(scratch, &journals?)?;
        let (mut moved, mut failed) = (Vec::new(), None);
        for (Prepared { within, name }, entry) in free {
            if let Err(error) = within.rename(name.entry(), &skills, name.entry()) {
                failed = Some(not_moved(&skills, name.entry(), &error));
                break;
            }
            moved.push((within, name, *entry));
        }
        let entries: Vec<_> = moved
            .iter()
            .map(|(_, name, entry)| (*name, *entry))
            .collect();
        if let Err(error) = self.lockfile.set(&entries, scratch) {
            for (within, name, _) in moved {
                let _ = skills.rename(name.entry(), within, name.entry());
            }
            remove_journal(scratch)?;
            return Err(error);
        }
        remove_journal(scratch)?;
        let moved: HashSet<_> = entries.iter().map(|(name, _)| *name).collect();
        let is_moved = |(place, _): &New| moved.contains(&place.name);
        failed.map_or_else(|| Ok(new.iter().map(is_moved).collect()), Err)
    }

    fn check_names_free(&self, new: &[New]) -> Result<()> {
        let mut offers = offers(&self.dir.path_of(&SKILLS));
        for (place, _) in new {
            // A link is read as the directory that it leads to, whose name may be the skill's.
            let (name, path) = (&place.name, place.path());
            if let Some(offered) = offered_as(name, &path.canonicalize().unwrap_or(path))
                && let Some(other) = offers.insert(offered.clone(), name.clone())
                && other != *name
            {
                let text = format!("`{name}` would be offered as `{offered}`, as `{other}` is");
                return Err(Error::new(text).hint("give it a name of its own with `--name NAME`"));
            }
        }
        Ok(())
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
        let entry = self.lockfile.get(name);
        let place = stashes.then(|| stash::make_place(&self.dir, name, entry));
        let place = place.transpose()?;
        begin_journal(self.scratch, &[Journal::new(name, None, None)])?;
        let aside = self.aside(name)?;
        let to = place
            .as_ref()
            .map_or((&aside, &GONE), |place| (place, name.entry()));
        let gone = self.carry_off(name, &aside, to);
        if gone.is_err() {
            previous::put_back(&self.dir, &aside, name);
            place.inspect(|place| stash::clear(&self.dir, place));
        }
        remove_journal(self.scratch)?;
        gone
    }

    /// The steps of [`Changes::take_away`] of which all or none take effect.
    fn carry_off(
        &mut self,
        name: &InstalledName,
        aside: &Dir,
        (to, gone): (&Dir, &EntryName),
    ) -> Result<()> {
        let (skills, target) = (self.skills()?, name.entry());
        let former = previous::set_aside(&self.dir, aside, name);
        former.map_err(|error| aside.error("move to", &FORMER, &error))?;
        if skills.has(target) {
            let moved = skills.rename(target, to, gone);
            moved.map_err(|error| {
                let error = skills.error("remove", target, &error);
                error.hint("check the permissions of the skills directory")
            })?;
        }
        let set = self.lockfile.set(&[(name, None)], self.scratch);
        set.inspect_err(|_| {
            let _ = to.rename(gone, &skills, target);
        })
    }

    /// Moves a skill back from its place in the stash, with its entry.
    ///
    /// # Errors
    /// As [`Changes::place_new`], and when a skill of that name is there again.
    pub fn bring_back(&mut self, from: &Prepared, entry: Option<&LockEntry>) -> Result<()> {
        if self.place(&[(from, entry)], Journal::of_files)? != [true] {
            let text = format!("there is a skill `{}` again", from.name);
            return Err(Error::new(text).hint("remove that first"));
        }
        if !self.is_dry() {
            stash::clear(&self.dir, &from.within);
        }
        Ok(())
    }
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
