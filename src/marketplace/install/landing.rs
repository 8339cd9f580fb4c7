//! Puts the skills of an update into place: all that were agreed to under one lock.

use crate::error::Result;
use crate::marketplace::install::Changes;
use crate::marketplace::install::update::{Ready, Update};
use crate::marketplace::install::updated::{Change, Edited};
use crate::marketplace::lock::{Digest, LockEntry};

impl Update<'_> {
    /// Writes the entries and replaces the skills, all under one lock. Returns what became of each.
    pub(super) fn land(&self, ready: Vec<Result<Ready>>) -> Vec<Change> {
        let is_settled =
            |one: &Result<Ready>| !matches!(one, Ok(Ready::Noted(_) | Ready::Staged(..)));
        let changes = if ready.iter().all(is_settled) {
            None
        } else {
            Some(self.market.changes(self.staging))
        };
        let mut changes = match changes.transpose() {
            Ok(changes) => changes,
            Err(error) => {
                let failed = |one: Result<Ready>| match one {
                    Ok(Ready::Settled(change)) => change,
                    Ok(_) => Change::failed(&error),
                    Err(own) => Change::failed(&own),
                };
                return ready.into_iter().map(failed).collect();
            }
        };
        let (mut results, mut noted, mut staged) = (Vec::new(), Vec::new(), Vec::new());
        for (at, one) in ready.into_iter().enumerate() {
            results.push(match one {
                Ok(Ready::Settled(change)) => change,
                Ok(Ready::Noted(entry)) => {
                    noted.push((at, entry));
                    Change::UpToDate
                }
                Ok(Ready::Staged(entry, new, now)) => {
                    let changes = changes.as_ref();
                    let stashed = changes.map(|changes| self.stash(changes, entry, &now));
                    match stashed.transpose() {
                        Ok(stashed) => {
                            let new = *new;
                            let change = Change::Updated {
                                from: entry.commit.clone(),
                                to: new.entry.commit.clone(),
                                dropped: new.planned.dropped.clone(),
                                stashed: stashed.flatten(),
                            };
                            staged.push((at, new));
                            change
                        }
                        Err(error) => Change::failed(&error),
                    }
                }
                Err(error) => Change::failed(&error),
            });
        }
        let Some(changes) = &mut changes else {
            return results;
        };
        let entries: Vec<&LockEntry> = noted.iter().map(|(_, entry)| &**entry).collect();
        if let Err(error) = changes.note(&entries) {
            for (at, _) in noted {
                results[at] = Change::failed(&error);
            }
        }
        let new = staged.iter().map(|(_, new)| (&new.place, Some(&new.entry)));
        let kept = self.market.keep_evidence(staged.iter().map(|(_, new)| new));
        let replaced = kept.and_then(|()| changes.replace_all(&new.collect::<Vec<_>>()));
        let replaced = replaced.and_then(|replaced| {
            let entries = staged.iter().map(|(_, new)| &new.entry);
            self.market.remember_signers(entries)?;
            Ok(replaced)
        });
        match replaced {
            Ok(replaced) => {
                for ((at, ..), replaced) in staged.iter().zip(replaced) {
                    if let Err(error) = replaced {
                        results[*at] = Change::failed(&error);
                    }
                }
            }
            Err(error) => {
                for (at, ..) in staged {
                    results[at] = Change::failed(&error);
                }
            }
        }
        results
    }

    /// Keeps a copy of a skill changed by hand, if that was asked for. Returns its path.
    fn stash(
        &self,
        changes: &Changes,
        entry: &LockEntry,
        looked_at: &Digest,
    ) -> Result<Option<String>> {
        let name = &entry.name;
        self.market
            .check_same(changes, name, Some(entry), looked_at)?;
        if self.options.edited != Edited::Stash || looked_at.sha256 == entry.sha256 {
            return Ok(None);
        }
        changes.stash(name, looked_at).map(Some)
    }
}
