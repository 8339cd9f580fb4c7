//! Restores skills whose files are gone or were changed to what the lockfile says. What was changed
//! is kept in `stash/`.

use crate::error::{Error, Result, past};
use crate::marketplace::install::{Prepared, Staged};
use crate::marketplace::lock::{Digest, LockEntry, State, Verified};
use crate::marketplace::{Market, Note};

/// A skill that was restored.
#[derive(Debug)]
pub struct Repaired {
    /// Its directory's name.
    pub name: String,
    /// The restored commit.
    pub commit: Option<String>,
    /// Where its changed files are kept.
    pub stashed: Option<String>,
}

impl Market<'_> {
    /// Restores the named skills, or all in the lockfile, where their files differ from it: in the
    /// recorded state and no other, so nothing new needs consent. All are staged before the first is
    /// moved.
    ///
    /// # Errors
    /// When a name matches no skill in the lockfile, or a recorded state is no longer available.
    /// Nothing is changed then.
    pub fn repair(&self, names: &[String], note: &mut Note) -> Result<Vec<Repaired>> {
        let lockfile = self.begin()?;
        let differing = self.verify(names)?.into_iter();
        let differing: Vec<Verified> = differing.filter(|one| !one.is_well()).collect();
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        let (mut gone, mut damaged) = (Vec::<Staged>::new(), Vec::<Staged>::new());
        for one in differing {
            let entry = lockfile.get(&one.name);
            let entry = entry.ok_or_else(|| Error::new("the lockfile changed meanwhile"))?;
            self.check_restorable(entry)?;
            self.check_reachable(entry, one.state)?;
            note(&format!("restoring `{}`", entry.name));
            let staged = self.stage_again(entry, true, &staging, &mut fetcher, note);
            let staged = staged.map_err(|e| e.context(format!("skill `{}`", entry.name)))?;
            match one.state {
                State::Missing => gone.push(staged),
                _ => damaged.push(staged),
            }
        }
        self.check_again(&staging, &lockfile, &mut gone)?;
        self.check_again(&staging, &lockfile, &mut damaged)?;
        self.keep_evidence(damaged.iter().chain(&gone))?;
        let mut changes = self.changes(&staging)?;
        let mut stashed = Vec::new();
        for Staged { place, .. } in &damaged {
            let now = Digest::read(&self.dir(&place.name))?;
            stashed.push(changes.stash(&place.name, &now)?);
        }
        for replaced in changes.replace_all(&new(&damaged))? {
            replaced?;
        }
        changes.place_new(&new(&gone))?;
        let stashed = stashed
            .into_iter()
            .map(Some)
            .chain(gone.iter().map(|_| None));
        let all = damaged.iter().chain(&gone).zip(stashed);
        let repaired = all.map(|(staged, stashed)| Repaired {
            name: staged.place.name.to_string(),
            commit: staged.entry.commit.clone(),
            stashed,
        });
        Ok(repaired.collect())
    }

    /// Whether what is in the skill's place can be kept, or nothing is there.
    fn check_reachable(&self, entry: &LockEntry, state: State) -> Result<()> {
        let (name, dir) = (&entry.name, self.dir(&entry.name));
        match state {
            State::Unreadable => self.compare(entry).map(|_| ()),
            State::Missing if dir.symlink_metadata().is_ok() => {
                let dir = dir.display();
                let text = format!("`{name}` was not restored: `{dir}` is not its directory");
                let then = "then the same command restores it";
                Err(Error::new(text).hint(past(&self.dir(name), then)))
            }
            _ => Ok(()),
        }
    }

    fn check_restorable(&self, entry: &LockEntry) -> Result<()> {
        let (name, source) = (&entry.name, &entry.source);
        if self.leads_out(&entry.reading()?.place) {
            let text = format!("{source} is outside the project and is not read for `{name}`");
            return Err(Error::new(text).hint("remove it; what you want, install from there"));
        }
        Ok(())
    }
}

fn new(staged: &[Staged]) -> Vec<(&Prepared, Option<&LockEntry>)> {
    let new = staged.iter();
    new.map(|one| (&one.place, Some(&one.entry))).collect()
}
