//! Installs the skills that the lockfile lists, on another machine or after a loss.

use std::path::Path;

use crate::error::{Error, Result};
use crate::marketplace::fetch::open::{self, Fetcher};
use crate::marketplace::install::add::Installed;
use crate::marketplace::install::plan::{self, Plan, Staged};
use crate::marketplace::install::staging::Staging;
use crate::marketplace::lock::lockfile::{self, Kind, LockEntry, Lockfile};
use crate::marketplace::lock::verify::State;
use crate::marketplace::market::Market;
use crate::marketplace::options::{Confirm, Note};
use crate::marketplace::source::choose;

impl Market<'_> {
    /// Whether there is a lockfile to restore from.
    pub fn has_lockfile(&self) -> bool {
        lockfile::path(self.plugin_dir).symlink_metadata().is_ok()
    }

    /// Installs every missing skill of the lockfile in its recorded state. With `frozen`, skills
    /// that were changed here and sources that have changed are errors, and nothing is installed.
    ///
    /// # Errors
    /// When there is no lockfile, a recorded state is no longer available, or `frozen` forbids it.
    pub fn restore(
        &self,
        frozen: bool,
        confirm: &mut Confirm,
        note: &mut Note,
    ) -> Result<Vec<Installed>> {
        self.clean_litter();
        let lockfile = Lockfile::read(self.plugin_dir)?;
        lockfile.check_writable()?;
        if lockfile.entries().is_empty() {
            let text = format!(
                "`{}` has no skill",
                lockfile::path(self.plugin_dir).display()
            );
            return Err(Error::new(text).hint("give a REFERENCE to install"));
        }
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        let (mut results, mut staged) = (Vec::new(), Vec::new());
        for entry in lockfile.entries() {
            match self.compare(entry)?.state {
                // A link may lead anywhere, and the user does not control the lockfile of a
                // project.
                State::Missing if entry.kind == Kind::Link && self.plugin_dir.is_shared() => {
                    let (name, source) = (&entry.name, &entry.source);
                    note(&format!(
                        "`{name}` is a link to `{source}` and is not restored; if you want it, \
                         `agent-skills link {source} --project` makes it"
                    ));
                }
                State::Missing if entry.kind == Kind::Link => {
                    results.extend(
                        self.link(Path::new(&entry.source), Some(&entry.name))
                            .inspect_err(|error| note(&error.to_string())),
                    );
                }
                State::Missing => {
                    note(&format!("restoring `{}`", entry.name));
                    let one = stage_again(entry, frozen, &staging, &mut fetcher, note);
                    staged.push(one.map_err(|e| e.context(format!("skill `{}`", entry.name)))?);
                }
                State::Changed if frozen => {
                    let text = format!("`{}` is not what the lockfile says", entry.name);
                    return Err(Error::new(text).hint(format!(
                        "`verify {}` shows what differs; remove it to have it restored",
                        entry.name
                    )));
                }
                State::Changed => {
                    note(&format!(
                        "`{}` was changed here and is left as it is",
                        entry.name
                    ));
                    results.push(self.already(&entry.name, &lockfile));
                }
                State::Intact | State::Linked => results.push(self.already(&entry.name, &lockfile)),
            }
        }
        if let Some(first) = staged.first() {
            let plan = Plan {
                source: "the lockfile".to_owned(),
                commit: None,
                skills: staged
                    .iter()
                    .map(|staged: &Staged| staged.planned.clone())
                    .collect(),
            };
            let name = first.planned.name.clone();
            if !confirm(&plan)? {
                return Err(Error::new(format!(
                    "`{name}` and others were not restored: you said no"
                )));
            }
            results.extend(self.land(&staging, staged)?);
        }
        Ok(results)
    }
}

fn stage_again(
    entry: &LockEntry,
    frozen: bool,
    staging: &Staging,
    fetcher: &mut Fetcher,
    note: &mut Note,
) -> Result<Staged> {
    let reading = entry.pinned()?;
    let opened = fetcher.open(&reading, &entry.requested, &[], false)??;
    let want = open::wanted(&opened, &reading);
    let found = choose::choose(&opened.snapshot.found, &want, &[], false).map_err(|m| m.error)?;
    let found = found
        .first()
        .ok_or_else(|| Error::new("it is not there any more"))?;
    let place = staging.place_for(&entry.name)?;
    let mut staged = plan::stage(&opened.snapshot, found, &opened.origin, &entry.name, place)?;
    staged.entry.rev.clone_from(&entry.rev);
    staged.entry.other.clone_from(&entry.other);
    if staged.entry.sha256 != entry.sha256 {
        let text = format!("{} no longer has what the lockfile says", entry.source);
        if frozen || entry.kind == Kind::Git {
            return Err(Error::new(text).hint(
                "somebody has changed the lockfile or the source: look at it, then remove the skill \
                 and install it again",
            ));
        }
        note(&format!("{text}; what it has now is installed instead"));
    }
    Ok(staged)
}
