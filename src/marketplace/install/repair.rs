//! Restores skills whose files are gone or were changed to what the lockfile says. What was changed
//! is kept in `stash/`.

use crate::error::{Error, Result, past};
use crate::marketplace::install::{Staged, Whole};
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
        let mut staged: Vec<Staged> = Vec::new();
        for one in &differing {
            let entry = lockfile.get(&one.name);
            let entry = entry.ok_or_else(|| Error::new("the lockfile changed meanwhile"))?;
            self.check_inside(entry)?;
            self.check_reachable(entry, one.state)?;
            note(&format!("restoring `{}`", entry.name));
            let new = self.stage_again(entry, true, &staging, &mut fetcher, note);
            staged.push(new.map_err(|e| e.context(format!("skill `{}`", entry.name)))?);
        }
        self.check_again(&staging, &lockfile, &mut staged)?;
        self.keep_evidence(staged.iter())?;
        let mut changes = self.changes(&staging)?;
        let mut repaired = Vec::new();
        for (new, was) in staged.iter().zip(&differing) {
            let name = &new.place.name;
            let stashed = match was.state {
                State::Missing => None,
                _ => Some(changes.stash(name, &Digest::read(&self.dir(name))?)?),
            };
            repaired.push(Repaired {
                name: name.to_string(),
                commit: new.entry.commit.clone(),
                stashed,
            });
        }
        let new = staged.iter().map(|one| (&one.place, Some(&one.entry)));
        changes.make(&Whole::of(new))?;
        Ok(repaired)
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
}
