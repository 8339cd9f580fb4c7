//! Checks whether installed skills still match the lockfile.

use serde::Serialize;

use crate::marketplace::Market;
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile, listed_name};
use crate::marketplace::prelude::*;

/// An installed skill compared with the lockfile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifiedSkill {
    /// Its directory's name.
    pub name: String,
    /// See [`InstallState`].
    pub state: InstallState,
    /// Files whose content or executable bit differs.
    pub changed: Vec<String>,
    /// Files that are missing.
    pub missing: Vec<String>,
    /// Files that were not installed.
    pub extra: Vec<String>,
    /// Why it cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// The state of an installed skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallState {
    /// It matches the lockfile.
    #[default]
    Intact,
    /// Some of its files differ.
    Changed,
    /// Its directory is missing.
    Missing,
    /// Its files cannot be compared.
    Unreadable,
}

impl VerifiedSkill {
    /// Whether it is as installed, or a link, which may change.
    pub fn is_well(&self) -> bool {
        self.state == InstallState::Intact
    }
}

impl Market<'_> {
    /// Compares the named skills, or all in the lockfile, with their entries.
    ///
    /// # Errors
    /// When a name matches no skill in the lockfile, or that cannot be read.
    pub fn verify(&self, names: &[String]) -> Result<Vec<VerifiedSkill>> {
        let lockfile = Lockfile::read(self.plugin_dir)?;
        let mut meant: Vec<&InstalledName> = Vec::new();
        for name in names {
            // A missing skill has an entry but no directory.
            let is_shown = |entry: &&LockEntry| listed_name(&entry.name) == *name;
            let shown = || lockfile.entries().iter().find(is_shown);
            let found = if let Some(found) = lockfile.get(name).or_else(shown) {
                found
            } else {
                let directory = self.installed(name)?;
                lockfile.get(&directory).ok_or_else(|| {
                    let text =
                        format!("`{directory}` was put there by hand, so there is nothing to compare it with");
                    Error::new(text)
                        .hint("`agent-skills verify` without a name checks every skill that has a source")
                })?
            };
            meant.push(&found.name);
        }
        let wanted = |entry: &&LockEntry| names.is_empty() || meant.contains(&&entry.name);
        let entries: Vec<&LockEntry> = lockfile.entries().iter().filter(wanted).collect();
        let progress = Progress::new("comparing skills", entries.len(), self.progress);
        let compared = entries.into_iter().enumerate().map(|(done, entry)| {
            progress.at(done);
            self.compare(entry).unwrap_or_else(|error| VerifiedSkill {
                name: entry.name.to_string(),
                state: InstallState::Unreadable,
                why: Some(error.to_string()),
                remedy: error.next_step().map(str::to_owned),
                ..VerifiedSkill::default()
            })
        });
        Ok(compared.collect())
    }

    /// Compares one skill with its entry.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn compare(&self, entry: &LockEntry) -> Result<VerifiedSkill> {
        let dir = self.dir(&entry.name);
        let mut verified = VerifiedSkill {
            name: entry.name.to_string(),
            ..VerifiedSkill::default()
        };
        if !dir.is_dir() {
            verified.state = InstallState::Missing;
            return Ok(verified);
        }
        let now = Digest::read(&dir)?;
        if now.sha256 != entry.sha256 {
            verified.state = InstallState::Changed;
            verified.changed = now.files.changed(&entry.files);
            verified.missing = entry.files.only(&now.files);
            verified.extra = now.files.only(&entry.files);
        }
        Ok(verified)
    }
}
