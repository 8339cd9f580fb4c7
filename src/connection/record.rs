//! What `hosts remove` needs to undo a connection: the file as it was, what we made of it, and which
//! directories were created. Records are this user's alone, since the file may hold keys.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::place::Place;
use crate::error::{Error, Result};
use crate::sys::{Base, Durable, EntryName, files, limits};

/// One connection of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The file.
    pub path: PathBuf,
    /// Its text without us; `None` if it did not exist.
    pub before: Option<String>,
    /// The digest of its text with us.
    pub after: String,
    /// The directories that were created for it, the outermost first.
    pub directories: Vec<PathBuf>,
}

/// The records of this installation.
#[derive(Debug, Clone)]
pub struct Records {
    dir: PathBuf,
}

/// The digest by which a text is recognised.
pub fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

impl Records {
    /// Those below the data directory.
    pub fn of(data: &Path) -> Self {
        let dir = data.join("hosts");
        Self { dir }
    }

    /// Their directory, created if it is missing.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn directory(&self) -> Result<&Path> {
        Base::own(self.dir.clone()).make()?;
        Ok(&self.dir)
    }

    /// The record of a place. One that cannot be read is none: then only our entries are taken away.
    pub fn read(&self, place: &Place) -> Option<Record> {
        // A byte of the file may take six in JSON.
        let bytes = files::read_capped(&self.file(place), 7 * limits::CONFIG_FILE).ok()?;
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        (record.path == place.path()).then_some(record)
    }

    /// Keeps the record of a place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, place: &Place, record: &Record) -> Result<()> {
        let text = serde_json::to_string_pretty(record)
            .map_err(|error| Error::caused("the record cannot be written", error))?;
        self.directory()?;
        files::replace(
            &self.file(place),
            (text + "\n").as_bytes(),
            0o600,
            Durable::Yes,
        )
    }

    /// Forgets the record of a place.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget(&self, place: &Place) -> Result<()> {
        let file = self.file(place);
        let removed = files::if_there(files::remove(&file));
        removed
            .map(|_| ())
            .map_err(|error| Error::io("remove", &file, &error))
    }

    /// Named by the agent, the scope and the path: every project has one of its own.
    fn file(&self, place: &Place) -> PathBuf {
        let path = digest(&place.path().to_string_lossy());
        let name = format!("{}-{}-{}.json", place.agent, place.scope, &path[..16]);
        let name = EntryName::parse(name);
        name.map_or_else(PathBuf::new, |name| self.dir.join(name.as_os_str()))
    }
}
