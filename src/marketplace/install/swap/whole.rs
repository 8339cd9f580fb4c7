//! Skills as one change: an error undoes all of it, and once its journal is written, recovery carries
//! it out to the end.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::marketplace::install::names::{check_same_name, offered_as, offers};
use crate::marketplace::install::staging::{NEW, Prepared};
use crate::marketplace::lock::previous::{self, FORMER, KEPT};
use crate::marketplace::lock::{InstalledName, LockEntry};
use crate::sys::Dir;

use super::journal::{ASIDE, Journal, New, begin_journal, remove_journal};
use super::{Changes, GONE, SKILLS, STASH, not_moved, replaced};

/// What is to be done to the skills of a layer.
#[derive(Default)]
pub struct Whole<'w> {
    /// Prepared skills, which replace those of their names.
    pub new: Vec<New<'w>>,
    /// New entries of skills whose files stay.
    pub noted: Vec<&'w LockEntry>,
    /// Those that are removed with what was kept of them.
    pub gone: Vec<&'w InstalledName>,
}

impl<'w> Whole<'w> {
    /// Prepared skills alone.
    pub fn of(new: impl IntoIterator<Item = New<'w>>) -> Self {
        Self {
            new: new.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl Changes<'_> {
    /// Does all of it, or nothing. What is replaced is kept for `rollback`.
    ///
    /// # Errors
    /// When a skill would take another's name, or anything cannot be written. All is then as it was.
    pub fn make(&mut self, whole: &Whole) -> Result<()> {
        let new = whole
            .new
            .iter()
            .map(|(place, _)| (&place.name, place.path()));
        self.check_names(new, &whole.gone)?;
        if self.is_dry() {
            return Ok(());
        }
        let noted = whole.noted.iter();
        let noted = noted.map(|one| Journal::new(&one.name, Some(one), Some(one.sha256.clone())));
        let gone = whole.gone.iter().map(|name| Journal::new(name, None, None));
        let mut journals = whole
            .new
            .iter()
            .map(Journal::of_new)
            .collect::<Result<Vec<_>>>()?;
        journals.extend(noted.chain(gone));
        self.carry_all(&journals)
    }

    /// Does all of it, or nothing.
    pub(super) fn carry_all(&mut self, journals: &[Journal]) -> Result<()> {
        if journals.is_empty() {
            return Ok(());
        }
        begin_journal(self.scratch, journals)?;
        let mut done = Vec::new();
        let all = journals.iter().try_for_each(|journal| {
            done.push((journal, self.carry_out(journal)?));
            Ok(())
        });
        let set = all.and_then(|()| {
            let entries = journals.iter().map(|one| (&one.name, one.entry.as_ref()));
            self.lockfile
                .set(&entries.collect::<Vec<_>>(), self.scratch)
        });
        if let Err(error) = set {
            for (journal, was_there) in done.into_iter().rev() {
                self.undo(journal, was_there);
            }
            remove_journal(self.scratch)?;
            return Err(error);
        }
        // Otherwise the next command tries again to keep what was replaced.
        if journals.iter().all(|journal| self.keep(journal).is_ok()) {
            remove_journal(self.scratch)?;
        }
        Ok(())
    }

    /// Carries out what a kill kept from being done. Returns whether there was still something to do:
    /// what somebody has changed in its place since is left.
    pub(super) fn carry_on(&self, journal: &Journal) -> Result<bool> {
        let target = journal.name.entry();
        let is_prepared = || self.beside(journal).is_some_and(|dir| dir.has(target));
        if journal.placed.is_some() && !is_prepared() {
            return Ok(false);
        }
        // It was to be kept when the kill came, and is again.
        let aside = self.aside(&journal.name)?;
        let removed = aside.remove_ours(&KEPT);
        removed.map_err(|error| aside.error("remove", &KEPT, &error))?;
        self.carry_out(journal)?;
        // Losing the kept state is better than a command that fails every time.
        let _ = self.keep(journal);
        Ok(true)
    }

    /// Moves one skill, or nothing. Returns whether one was there before.
    fn carry_out(&self, journal: &Journal) -> Result<bool> {
        let (name, target, skills) = (&journal.name, journal.name.entry(), self.skills()?);
        let was_there = skills.has(target);
        if journal.placed.is_some() {
            // The files of one that is only noted stay.
            let Some(within) = self.beside(journal).filter(|dir| dir.has(target)) else {
                return Ok(was_there);
            };
            if was_there {
                let name = name.clone();
                self.bring(&Prepared { within, name })?;
            } else {
                let moved = within.rename(target, &skills, target);
                moved.map_err(|error| not_moved(&skills, target, &error))?;
            }
            return Ok(was_there);
        }
        let aside = self.aside(name)?;
        let former = previous::set_aside(&self.dir, &aside, name);
        former.map_err(|error| aside.error("move to", &FORMER, &error))?;
        if was_there {
            let place = self.beside(journal);
            let (to, under) = place
                .as_ref()
                .map_or((&aside, &GONE), |place| (place, target));
            let moved = skills.rename(target, to, under);
            moved.map_err(|error| {
                previous::put_back(&self.dir, &aside, name);
                let error = skills.error("remove", target, &error);
                error.hint("check the permissions of the skills directory")
            })?;
        }
        Ok(was_there)
    }

    /// Undoes [`Changes::carry_out`]. Errors here do not matter: the first one is reported.
    fn undo(&self, journal: &Journal, was_there: bool) {
        let (name, target) = (&journal.name, journal.name.entry());
        let (Ok(skills), Ok(aside)) = (self.skills(), self.aside(name)) else {
            return;
        };
        if journal.placed.is_none() {
            let place = self.beside(journal);
            let (to, under) = place
                .as_ref()
                .map_or((&aside, &GONE), |place| (place, target));
            let _ = to.rename(under, &skills, target);
            previous::put_back(&self.dir, &aside, name);
        } else if let Some(within) = self.beside(journal) {
            if !was_there {
                let _ = skills.rename(target, &within, target);
            } else if aside.has(&KEPT) {
                let name = name.clone();
                self.take_back(&Prepared { within, name }, &aside, &skills);
            }
        }
    }

    /// Keeps what was replaced.
    pub(super) fn keep(&self, journal: &Journal) -> Result<()> {
        let (name, target) = (&journal.name, journal.name.entry());
        let aside = self.scratch.open_dir(&ASIDE);
        let aside = aside.and_then(|all| all.open_dir(target));
        let (Ok(aside), Some(within)) = (aside, self.beside(journal)) else {
            return Ok(());
        };
        let old = replaced(&aside, (&within, target));
        let kept = previous::keep(&self.dir, &aside, name, old);
        kept.map_err(|error| aside.error("keep", &KEPT, &error))
    }

    /// The directory from which the skill comes, or the place in the stash to which it goes.
    fn beside(&self, journal: &Journal) -> Option<Dir> {
        match &journal.stash {
            Some(place) => self.dir.open_dir(&STASH).ok()?.open_dir(place.entry()).ok(),
            None if journal.placed.is_some() => self.scratch.open_dir(&NEW).ok(),
            None => None,
        }
    }

    /// Checks that each skill is offered under a name that no other has, and replaces none of another
    /// name.
    pub(super) fn check_names<'n>(
        &self,
        new: impl Iterator<Item = (&'n InstalledName, PathBuf)>,
        gone: &[&InstalledName],
    ) -> Result<()> {
        let skills = self.dir.path_of(&SKILLS);
        let new: Vec<_> = new.collect();
        let mut offers = offers(&skills);
        offers
            .retain(|_, name| !gone.contains(&&*name) && !new.iter().any(|(new, _)| *new == name));
        for (name, path) in new {
            let there = skills.join(&**name);
            if there.exists() {
                check_same_name(name, &there, &path)?;
            }
            // A link is read as the directory that it leads to, whose name may be the skill's.
            if let Some(offered) = offered_as(name, &path.canonicalize().unwrap_or(path))
                && let Some(other) = offers.insert(offered.clone(), name.clone())
                && !there.exists()
            {
                let text = format!("`{name}` would be offered as `{offered}`, as `{other}` is");
                return Err(Error::new(text).hint(format!(
                    "remove `{other}`, or give the new one a name of its own with `--name NAME`"
                )));
            }
        }
        Ok(())
    }
}
