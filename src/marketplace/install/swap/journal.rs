//! The journal of a change to installed skills, from which the next command completes or undoes it
//! after a kill. It does not know how skills are moved.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::marketplace::install::staging::{JOURNAL, Prepared};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry};
use crate::sys::{Dir, Durable, EntryName};

/// In the staging directory, a directory for each changed skill with what was moved away.
pub const ASIDE: EntryName = EntryName::from_static("aside");

/// A prepared skill for an unused name, and its entry; `None` if it came from no source.
pub type New<'a> = (&'a Prepared, Option<&'a LockEntry>);

/// What is being done to one skill.
#[derive(Serialize, Deserialize)]
pub struct Journal {
    /// The directory in `skills/`.
    pub name: InstalledName,
    /// Its future entry; `None` for a removal, and for a skill that came from no source.
    pub entry: Option<LockEntry>,
    /// The digest of the future directory, which after a rollback may differ from the entry's;
    /// `None` for a removal.
    pub placed: Option<String>,
    /// Whether recovery carries it out, as it was decided together with others; otherwise it undoes
    /// what has not happened.
    pub is_of_many: bool,
}

impl Journal {
    /// What will be done to the skill `name`.
    pub fn new(name: &InstalledName, entry: Option<&LockEntry>, placed: Option<String>) -> Self {
        let (name, entry) = (name.clone(), entry.cloned());
        Self {
            name,
            entry,
            placed,
            is_of_many: false,
        }
    }

    /// The same, as part of a change of many.
    #[must_use]
    pub fn of_many(self) -> Self {
        Self {
            is_of_many: true,
            ..self
        }
    }

    /// What will be done to place a new skill, whose entry was made from its files as they are now.
    pub fn of_new(new: &New) -> Result<Self> {
        match new.1 {
            Some(entry) => {
                let placed = Some(entry.sha256.clone());
                Ok(Self::new(&new.0.name, new.1, placed))
            }
            None => Self::of_files(new),
        }
    }

    /// What will be done to place a skill whose files may differ from its entry.
    pub fn of_files((place, entry): &New) -> Result<Self> {
        let placed = Digest::read(&place.path())?.sha256;
        Ok(Self::new(&place.name, *entry, Some(placed)))
    }
}

/// Writes the journal. From then on, recovery completes or undoes the change after a kill.
pub fn begin_journal(staging: &Dir, journals: &[Journal]) -> Result<()> {
    // It is left from the change of other skills.
    let removed = staging.remove_ours(&ASIDE);
    removed.map_err(|error| staging.error("remove", &ASIDE, &error))?;
    write_journal(staging, journals)
}

/// Writes it whole.
pub fn write_journal(staging: &Dir, journals: &[Journal]) -> Result<()> {
    let bytes = serde_json::to_vec(journals)
        .map_err(|error| Error::caused("could not write the journal", error))?;
    let written = staging.replace(&JOURNAL, &bytes, 0o600, Durable::Yes);
    written.map_err(|error| staging.error("write", &JOURNAL, &error))
}

/// Removes it: the change is complete.
pub fn remove_journal(staging: &Dir) -> Result<()> {
    let removed = staging.remove_file(&JOURNAL);
    removed.map_err(|error| staging.error("remove", &JOURNAL, &error))
}
