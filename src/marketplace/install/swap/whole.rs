//! Many skills as one change, for `sync`: an error undoes all of it, and once its journal is
//! written, recovery carries it out to the end.

use crate::error::{Error, Result};
use crate::marketplace::install::names::{check_same_name, offered_as, offers};
use crate::marketplace::install::staging::{NEW, Prepared};
use crate::marketplace::lock::previous::{self, FORMER, KEPT};
use crate::marketplace::lock::{InstalledName, LockEntry};
use crate::sys::Dir;

use super::exchange::not_moved;
use super::journal::{ASIDE, Journal, New, begin_journal, remove_journal};
use super::{Changes, GONE, SKILLS, replaced};

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

impl Whole<'_> {
    fn journals(&self) -> Result<Vec<Journal>> {
        let noted = self.noted.iter().map(|entry| {
            let placed = Some(entry.sha256.clone());
            Ok(Journal::new(&entry.name, Some(entry), placed))
        });
        let gone = self.gone.iter();
        let gone = gone.map(|name| Ok(Journal::new(name, None, None)));
        let all = self
            .new
            .iter()
            .map(Journal::of_new)
            .chain(noted)
            .chain(gone);
        all.map(|journal| journal.map(Journal::of_many)).collect()
    }
}

impl Changes<'_> {
    /// Does all of it, or nothing. What is replaced is kept for `rollback`.
    ///
    /// # Errors
    /// When a skill would take another's name, or anything cannot be written. All is then as it was.
    pub fn make(&mut self, whole: &Whole) -> Result<()> {
        self.check_names(whole)?;
        if self.is_dry() {
            return Ok(());
        }
        let journals = whole.journals()?;
        begin_journal(self.scratch, &journals)?;
        let mut done = Vec::new();
        let mut carry_out = |journal| {
            done.push((journal, self.carry_out(journal)?));
            Ok(())
        };
        let all = journals.iter().try_for_each(&mut carry_out);
        let entries = || journals.iter().map(|one| (&one.name, one.entry.as_ref()));
        let set = all.and_then(|()| {
            let entries: Vec<_> = entries().collect();
            self.lockfile.set(&entries, self.scratch)
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
        let is_prepared = || self.prepared(journal).is_some_and(|dir| dir.has(target));
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
            let Some(within) = self.prepared(journal).filter(|dir| dir.has(target)) else {
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
            let moved = skills.rename(target, &aside, &GONE);
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
            let _ = aside.rename(&GONE, &skills, target);
            previous::put_back(&self.dir, &aside, name);
        } else if let Some(within) = self.prepared(journal) {
            if !was_there {
                let _ = skills.rename(target, &within, target);
            } else if aside.has(&KEPT) {
                let name = name.clone();
                self.take_back(&Prepared { within, name }, &aside, &skills);
            }
        }
    }

    /// Keeps what was replaced.
    fn keep(&self, journal: &Journal) -> Result<()> {
        let (name, target) = (&journal.name, journal.name.entry());
        let aside = self.scratch.open_dir(&ASIDE);
        let aside = aside.and_then(|all| all.open_dir(target));
        let (Ok(aside), Some(within)) = (aside, self.prepared(journal)) else {
            return Ok(());
        };
        let old = replaced(&aside, (&within, target));
        let kept = previous::keep(&self.dir, &aside, name, old);
        kept.map_err(|error| aside.error("keep", &KEPT, &error))
    }

    /// The directory in which the skill was prepared.
    fn prepared(&self, journal: &Journal) -> Option<Dir> {
        let _ = journal.placed.as_ref()?;
        self.scratch.open_dir(&NEW).ok()
    }

    /// Checks that each skill is offered under a name that no other has, and replaces none of another
    /// name.
    fn check_names(&self, whole: &Whole) -> Result<()> {
        let skills = self.dir.path_of(&SKILLS);
        let leave = whole.new.iter().map(|(place, _)| &place.name);
        let leave: Vec<&InstalledName> = leave.chain(whole.gone.iter().copied()).collect();
        let mut offers = offers(&skills);
        offers.retain(|_, name| !leave.contains(&&*name));
        for (place, _) in &whole.new {
            let (name, path) = (&place.name, place.path());
            let there = skills.join(&**name);
            if there.exists() {
                check_same_name(name, &there, &path)?;
            }
            if let Some(offered) = offered_as(name, &path)
                && let Some(other) = offers.insert(offered.clone(), name.clone())
            {
                let text = format!("`{name}` would be offered as `{offered}`, as `{other}` is");
                return Err(Error::new(text).hint(format!("remove `{other}`, or one of the list")));
            }
        }
        Ok(())
    }
}
