//! The journal of a change to installed skills, from which the next command completes it after
//! a kill. It does not know how skills are moved.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::marketplace::install::staging::{JOURNAL, Prepared};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry};
use crate::sys::{Dir, Durable, EntryName};

/// In the staging directory, a directory for each changed skill with what was moved away.
pub const ASIDE: EntryName = EntryName::from_static("aside");

/// A prepared skill, and its entry; `None` if it came from no source.
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
    /// Its place in the stash, to which it is removed or from which it comes; `None` if it is removed
    /// for good, or was prepared.
    pub stash: Option<InstalledName>,
}

impl Journal {
    /// One without anything in the stash.
    pub fn new(name: &InstalledName, entry: Option<&LockEntry>, placed: Option<String>) -> Self {
        Self {
            name: name.clone(),
            entry: entry.cloned(),
            placed,
            stash: None,
        }
    }

    /// One of a skill that is prepared.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn of_new((place, entry): &New) -> Result<Self> {
        let placed = Digest::read(&place.path())?.sha256;
        Ok(Self::new(&place.name, *entry, Some(placed)))
    }
}

/// Writes the journal. From then on, recovery completes the change after a kill.
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
