//! The one way to put skills in their places, for one skill and for a thousand. A prepared skill is
//! alone in a directory of the command's staging directory, its home. What is intended is written
//! beside the homes. Then the skill in each home is exchanged with that in `skills/`, the lockfile
//! is written, and each home, which now has the replaced skill with its entry, is kept for
//! `rollback`. An error exchanges them back; after a kill, the next command carries out what was
//! intended. All of this, recovery included, holds the install lock. Also
//! cleans up after killed commands.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::marketplace::fetch::WORKED_IN;
use crate::marketplace::install::names::{check_same_name, offered_as, offers};
use crate::marketplace::install::staging::{
    INTENDED, MUTEX, NEW, STAGING, abandoned, home, remove,
};
use crate::marketplace::lock::previous::{self, ENTRY, PREVIOUS, STASH, free_place, places};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile, write_json};
use crate::marketplace::prelude::*;

/// The directory of installed skills.
pub const SKILLS: EntryName = EntryName::from_static("skills");
const INSTALL_LOCK: EntryName = EntryName::from_static(".install.lock");
/// In a home, the replaced skill, if the system cannot exchange two directories.
const OLD: EntryName = EntryName::from_static(".old");
/// In a staging directory, what was kept until now.
const FORMER: EntryName = EntryName::from_static("former");

/// What is intended for one skill.
#[derive(Debug, Serialize, Deserialize)]
pub struct SkillChange {
    /// The directory in `skills/`.
    pub name: InstalledName,
    /// Its future entry; `None` for a removal, and for a skill that came from no source.
    entry: Option<LockEntry>,
    /// See [`FileChange`].
    files: FileChange,
    /// The place in the stash for what is replaced; `None` if a source can bring it back.
    stash: Option<InstalledName>,
    /// The digest and the entry of what was in its place, if it has to be that still.
    #[serde(skip)]
    pub seen: Option<(String, Option<LockEntry>)>,
    /// Whether that is moved to the stash, as no source can bring it back.
    #[serde(skip)]
    pub stashes: bool,
    /// Whether this command checked the signature that the entry names: an entry alone may be a
    /// project's, which proves no signer.
    #[serde(skip)]
    is_checked: bool,
}

/// What becomes of a skill's files.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum FileChange {
    /// They stay.
    Same,
    /// The prepared ones take their place. Their digest may differ from the entry's after a rollback.
    New(String),
    /// They are removed, with what was kept of the skill.
    Gone,
}

impl SkillChange {
    /// The skill that was prepared in its home takes the place of what is there.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn new(name: &InstalledName, files: &Dir, entry: Option<&LockEntry>) -> Result<Self> {
        let digest = Digest::read(files.path())?.sha256;
        Ok(Self::to(name, entry, FileChange::New(digest), false))
    }

    /// What was staged and checked takes the place of what is there, with the entry that was made of it.
    pub fn staged(entry: &LockEntry) -> Self {
        let files = FileChange::New(entry.sha256.clone());
        Self::to(&entry.name, Some(entry), files, true)
    }

    /// Only the entry changes, to one whose signature was checked, unless the skill was removed
    /// meanwhile.
    pub fn noted(entry: &LockEntry) -> Self {
        Self::to(&entry.name, Some(entry), FileChange::Same, true)
    }

    /// The skill is removed.
    pub fn gone(name: &InstalledName) -> Self {
        Self::to(name, None, FileChange::Gone, false)
    }

    fn to(
        name: &InstalledName,
        entry: Option<&LockEntry>,
        files: FileChange,
        is_checked: bool,
    ) -> Self {
        Self {
            name: name.clone(),
            entry: entry.cloned(),
            files,
            stash: None,
            seen: None,
            stashes: false,
            is_checked,
        }
    }

    /// Its entry, if this command checked whose it is.
    pub fn proven(&self) -> Option<&LockEntry> {
        self.entry.as_ref().filter(|_| self.is_checked)
    }
}

/// The plugin directory, with the install lock held; without it, nothing is changed.
pub struct Transaction<'s> {
    dir: Dir,
    /// The command's staging directory.
    staging: &'s Dir,
    lockfile: Lockfile,
    /// `None` for a dry run: each method then checks what it can, and answers as if it had done its
    /// work.
    lock: Option<FileLock>,
}

impl<'s> Transaction<'s> {
    /// Waits until other changes have ended; `None` for a dry run. `staging` is the command's staging
    /// directory.
    ///
    /// # Errors
    /// When they take too long, or this version may not change the lockfile.
    pub fn begin(base: &Base, staging: &'s Dir, wait: Option<Duration>) -> Result<Self> {
        let none = || Error::new("no skill is installed here");
        let dir = match wait {
            Some(_) => base.make()?,
            None => base.open()?.ok_or_else(none)?,
        };
        Ok(Self {
            lock: wait.map(|wait| dir.lock(&INSTALL_LOCK, wait)).transpose()?,
            lockfile: Lockfile::read(base)?,
            dir,
            staging,
        })
    }

    /// The current lockfile.
    pub fn lockfile(&self) -> &Lockfile {
        &self.lockfile
    }

    /// Whether there is something in the place of a skill.
    pub fn has(&self, name: &InstalledName) -> bool {
        let skills = self.dir.open_dir(&SKILLS);
        skills.is_ok_and(|skills| skills.has(name.entry()))
    }

    /// Does all of it, or nothing. What is replaced is kept for `rollback`.
    ///
    /// # Errors
    /// When a skill would take another's name, or anything cannot be written. All is then as it was.
    pub fn make(&mut self, steps: &[&SkillChange]) -> Result<()> {
        self.check_names(steps)?;
        if self.lock.is_none() || steps.is_empty() {
            return Ok(());
        }
        self.intend(steps)?;
        let mut done = 0;
        let moved = steps.iter().try_for_each(|step| {
            self.exchange(step)?;
            done += 1;
            Ok(())
        });
        if let Err(error) = moved.and_then(|()| self.record(steps)) {
            let mut undone = steps[..done].iter().rev();
            // What cannot be undone is carried out by the next command.
            if undone.all(|step| self.exchange(step).is_ok()) {
                self.forget_intended()?;
            }
            return Err(error);
        }
        // Otherwise the next command tries again to keep what was replaced.
        if steps.iter().all(|step| self.keep(step).is_ok()) {
            self.forget_intended()?;
        }
        Ok(())
    }

    /// Writes what is intended. From then on, recovery carries it out after a kill.
    fn intend(&self, steps: &[&SkillChange]) -> Result<()> {
        if self.staging.has(&INTENDED) {
            let text = "an earlier change of this command is not complete";
            return Err(Error::new(text).hint("the next command completes it"));
        }
        for step in steps {
            match step.files {
                FileChange::New(_) => previous::check_room(&self.dir, &step.name)?,
                // A home that is gone later was kept.
                FileChange::Gone => drop(home(self.staging, &step.name)?),
                FileChange::Same => {}
            }
        }
        write_json(self.staging, &INTENDED, &steps, 0o600)
    }

    fn forget_intended(&self) -> Result<()> {
        let removed = self.staging.remove_file(&INTENDED);
        removed.map_err(|error| self.staging.error("remove", &INTENDED, &error))
    }

    fn skills(&self) -> Result<Dir> {
        let made = self.dir.make_dir(&SKILLS);
        made.map_err(|error| self.dir.error("open directory", &SKILLS, &error))
    }

    /// Exchanges the skill in its home with that in its place, of which either may be missing. The
    /// same again undoes it.
    fn exchange(&self, step: &SkillChange) -> Result<()> {
        let SkillChange { name, files, .. } = step;
        let (skills, target) = (self.skills()?, name.entry());
        if *files == FileChange::Same {
            return Ok(());
        }
        let home = home(self.staging, name)?;
        // An installation that is undone needs no entry: a full disk may be the reason for it.
        let is_replaced = home.has(target) || *files == FileChange::Gone;
        if skills.has(target) && is_replaced && !home.has(&ENTRY) {
            write_json(&home, &ENTRY, &self.lockfile.get(name), 0o644)?;
        }
        let action = match files {
            FileChange::Gone => "remove",
            _ => "move the skill to",
        };
        exchange(&home, &skills, target).map_err(|error| {
            let error = skills.error(action, target, &error);
            error.hint("check the permissions of the skills directory")
        })
    }

    /// Writes the lockfile, but nothing of skills that somebody has removed or put there meanwhile.
    fn record(&mut self, steps: &[&SkillChange]) -> Result<()> {
        let is_meant = |step: &&&SkillChange| match step.files {
            FileChange::Same => self.lockfile.get(&step.name).is_some(),
            FileChange::New(_) => self.has(&step.name),
            FileChange::Gone => !self.has(&step.name),
        };
        let meant = steps.iter().filter(is_meant);
        let entries = meant.map(|step| (&step.name, step.entry.as_ref()));
        let entries: Vec<_> = entries.collect();
        self.lockfile.set(&entries, self.staging)
    }

    /// Keeps what was replaced in place of what was kept until now, unless that was done already.
    fn keep(&self, step: &SkillChange) -> io::Result<()> {
        let (target, is_gone) = (step.name.entry(), step.files == FileChange::Gone);
        // Of a skill whose files stay, the home may have a copy that is not needed.
        let homes = match self.staging.find_dir(&NEW)? {
            Some(homes) if step.files != FileChange::Same => homes,
            _ => return Ok(()),
        };
        let home = homes.find_dir(target)?;
        let Some(home) = home.filter(|home| is_gone || home.has(target)) else {
            return Ok(());
        };
        let discarded = self.discard(target);
        // What comes into the stash must not be lost, whatever is wrong with the other.
        if let Some(place) = step.stash.as_ref().filter(|_| home.has(target)) {
            homes.rename(target, &self.dir.make_dir(&STASH)?, place.entry())?;
        } else if !is_gone {
            discarded?;
            homes.rename(target, &self.dir.make_dir(&PREVIOUS)?, target)?;
        }
        // This succeeds only if the directory is empty now.
        let _ = self.dir.remove_empty(&PREVIOUS);
        Ok(())
    }

    /// Moves what was kept of a skill until now out of its place.
    fn discard(&self, target: &EntryName) -> io::Result<()> {
        let Some(previous) = self.dir.find_dir(&PREVIOUS)? else {
            return Ok(());
        };
        if previous.find_dir(target)?.is_some_and(|dir| dir.is_ours()) {
            previous.rename(target, &self.staging.make_dir(&FORMER)?, target)?;
        }
        Ok(())
    }

    /// Whether a kill kept a step from being made.
    fn is_pending(&self, step: &SkillChange) -> Result<bool> {
        let target = step.name.entry();
        let home = self.staging.open_dir(&NEW);
        let Ok(home) = home.and_then(|homes| homes.open_dir(target)) else {
            return Ok(false);
        };
        settle(&home, &self.skills()?, target)
            .map_err(|error| home.error("restore", target, &error))?;
        Ok(match &step.files {
            FileChange::Same => false,
            FileChange::New(new) => holds(&home, target, new),
            FileChange::Gone => !home.has(target),
        })
    }

    /// Moves what is replaced to a place in the stash, unless the last one there is the same. Returns
    /// its path there.
    ///
    /// # Errors
    /// When the stash cannot be made, or what is replaced cannot be read.
    pub fn stash(&self, step: &mut SkillChange) -> Result<String> {
        let made = self.dir.make_dir(&STASH).and_then(previous::writable);
        let stash = made.map_err(|error| self.dir.error("make directory", &STASH, &error))?;
        let name = &step.name;
        let path = |place: &EntryName| stash.path_of(place).join(&**name);
        if step.files != FileChange::Gone
            && let Some((_, last)) = places(&stash, name).pop()
        {
            let there = Digest::read(&self.dir.path_of(&SKILLS).join(&**name))?;
            if Digest::read(&path(&last)).is_ok_and(|kept| kept == there) {
                return Ok(path(&last).display().to_string());
            }
        }
        let place = step.stash.insert(free_place(&stash, name)?);
        Ok(path(place.entry()).display().to_string())
    }

    /// Checks that each skill is offered under a name that no other has, and replaces none of another
    /// name.
    fn check_names(&self, steps: &[&SkillChange]) -> Result<()> {
        let skills = self.dir.path_of(&SKILLS);
        let moved = steps.iter().filter(|step| step.files != FileChange::Same);
        let names: HashSet<&InstalledName> = moved.clone().map(|step| &step.name).collect();
        let mut offers = offers(&skills);
        offers.retain(|_, name| !names.contains(name));
        for SkillChange { name, files, .. } in moved {
            if *files == FileChange::Gone {
                continue;
            }
            let there = skills.join(&**name);
            let new = self.staging.path_of(&NEW).join(&**name).join(&**name);
            if there.exists() {
                check_same_name(name, &there, &new)?;
            }
            // A link is read as the directory that it leads to, whose name may be the skill's.
            if let Some(offered) = offered_as(name, &new.canonicalize().unwrap_or(new))
                && let Some(other) = offers.insert(offered.clone(), name.clone())
                && !there.exists()
            {
                let text =
                    format!("`{name}` would have the same tool name as `{other}`: `{offered}`");
                return Err(Error::new(text).hint(format!(
                    "remove `{other}`, or give the new one another name with `--name NAME`"
                )));
            }
        }
        Ok(())
    }
}

/// Carries out the change of a killed command, of which `staging` is the staging directory. What
/// somebody has changed since is left.
///
/// # Errors
/// When that is not possible now. What is intended is then kept.
pub fn recover(base: &Base, staging: &Dir) -> Result<()> {
    if !staging.has(&INTENDED) {
        return Ok(());
    }
    let mut changes = Transaction::begin(base, staging, Some(Duration::ZERO))?;
    let bytes = staging.read(&INTENDED, limits::LOCKFILE);
    let bytes = bytes.map_err(|error| staging.error("read", &INTENDED, &error))?;
    let steps: Vec<SkillChange> = serde_json::from_slice(&bytes).map_err(|error| {
        let path = staging.path_of(&INTENDED);
        Error::caused(format!("`{}` is broken", path.display()), error)
    })?;
    for step in &steps {
        if changes.is_pending(step)? {
            changes.exchange(step)?;
        }
    }
    let skills = changes.skills()?;
    // Another command may have put other files there since.
    let is_there = |step: &&SkillChange| match &step.files {
        FileChange::New(new) => holds(&skills, step.name.entry(), new),
        FileChange::Same | FileChange::Gone => true,
    };
    changes.record(&steps.iter().filter(is_there).collect::<Vec<_>>())?;
    for step in &steps {
        let kept = changes.keep(step);
        let kept = kept.map_err(|error| staging.error("keep", &NEW, &error));
        // To lose an earlier state is better than to fail every time, but nothing else has what
        // belongs into the stash.
        if step.stash.is_some() {
            kept?;
        }
    }
    changes.forget_intended()
}

/// Whether a skill in this directory has this digest.
fn holds(dir: &Dir, name: &EntryName, sha256: &str) -> bool {
    Digest::read(&dir.path_of(name)).is_ok_and(|found| found.sha256 == sha256)
}

/// Exchanges the entries of this name in two directories, of which either may have none: in one step
/// where the system can, else in three.
///
/// # Errors
/// When one cannot be moved; both are then where they were.
fn exchange(home: &Dir, skills: &Dir, name: &EntryName) -> io::Result<()> {
    match (home.has(name), skills.has(name)) {
        (false, false) => Ok(()),
        (true, false) => home.rename(name, skills, name),
        (false, true) => skills.rename(name, home, name),
        (true, true) if home.exchange(name, skills, name)? => Ok(()),
        (true, true) => {
            skills.rename(name, home, &OLD)?;
            home.rename(name, skills, name).inspect_err(|_| {
                // Errors here do not matter: the first one is reported.
                let _ = home.rename(&OLD, skills, name);
            })?;
            home.rename(&OLD, home, name)
        }
    }
}

/// Completes or undoes an exchange in three steps that a kill interrupted.
fn settle(home: &Dir, skills: &Dir, name: &EntryName) -> io::Result<()> {
    if !home.has(&OLD) {
        return Ok(());
    }
    let to = if skills.has(name) { home } else { skills };
    home.rename(&OLD, to, name)
}

/// The path of the directory of installed skills.
pub fn skills(base: &Base) -> PathBuf {
    base.path().join(SKILLS.as_os_str())
}

/// Completes or undoes what killed commands left unfinished, and removes their directories. Those
/// of running commands are not touched. Errors are ignored, because the next command tries again.
/// `adopts` says whether git works there, and nobody else supplies directories.
pub fn clean(base: &Base, adopts: bool) {
    let Some((dir, root, making)) = open(base) else {
        return;
    };
    let names = || root.entries().unwrap_or_default().into_iter();
    if adopts {
        // A dying git makes all directories above the file that it writes anew after we had removed
        // them.
        for made in names().filter_map(|(name, _)| made_by_git(&root, &name)) {
            let _ = made.mark();
        }
    }
    let left = abandoned(&root);
    // A kill while a mark is created or removed leaves a directory that is empty or contains only
    // an empty mark.
    for (name, _) in names() {
        let _ = root.remove_blank(&name);
    }
    drop(making);
    for (name, staging, _lock) in left {
        if recover(base, &staging).is_ok() {
            remove(&dir, &root, &name);
        }
    }
}

/// The directory `name`, if it has the name of one of ours but no mark, and holds nothing but
/// repositories in which git works there.
fn made_by_git(root: &Dir, name: &EntryName) -> Option<Dir> {
    let text = name.as_os_str().to_string_lossy();
    let is_of_number = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    let is_named_by_us = text.contains('-') && text.bytes().all(is_of_number);
    let dir = root.open_dir(name).ok().filter(|_| is_named_by_us)?;
    let entries = dir.entries().ok()?;
    let is_gits =
        |(name, kind): &(EntryName, EntryKind)| *kind == EntryKind::Dir && WORKED_IN.contains(name);
    (!entries.is_empty() && entries.iter().all(is_gits)).then_some(dir)
}

/// The plugin directory and its `staging/`, if there is one and no command is creating a directory
/// in it.
fn open(base: &Base) -> Option<(Dir, Dir, FileLock)> {
    let dir = base.open().ok()??;
    let root = dir.open_dir(&STAGING).ok()?;
    let making = dir.lock(&MUTEX, Duration::ZERO).ok()?;
    Some((dir, root, making))
}

#[cfg(test)]
mod tests;
