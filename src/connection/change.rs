//! Connecting an agent and its undo: what would change, changing it, and what is kept for the undo.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::entry::Invocation;
use super::file::{self, Rest};
use super::place::{Content, Place, Places};
use crate::error::{Error, Result};
use crate::host::agent::{Agent, Scope};
use crate::sys::{Base, Durable, EntryName, FileLock, files, limits};

/// What connects agents.
#[derive(Debug)]
pub struct Connector {
    places: Places,
    records: Records,
}

/// A change to one file that was worked out and not made yet.
#[derive(Debug)]
pub struct Change {
    place: Place,
    before: Option<Content>,
    /// The text that the file gets; `None` if it goes.
    after: Option<String>,
    /// What is kept for the undo; `None` if this is the undo.
    record: Option<Record>,
    /// Directories that we created for the file.
    made: Vec<PathBuf>,
    /// Whether the undo leads to exactly what was there before us.
    pub is_exact: bool,
}

impl Change {
    /// The file.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Its text before, and after; `None` where there is no file.
    pub fn texts(&self) -> (Option<&str>, Option<&str>) {
        let before = self.before.as_ref().map(|before| &*before.text);
        (before, self.after.as_deref())
    }

    /// Whether the file stays as it is.
    pub fn is_nothing(&self) -> bool {
        let (before, after) = self.texts();
        before == after
    }
}

impl Connector {
    /// What connects to agents at these places, and keeps records below the data directory.
    pub fn new(places: Places, data: &Path) -> Self {
        let records = Records::of(data);
        Self { places, records }
    }

    /// What connecting an agent would change.
    ///
    /// # Errors
    /// When the agent has no such scope, or its file cannot be read or is not in its format.
    pub fn add(&self, agent: Agent, scope: Scope, wanted: &Invocation) -> Result<Change> {
        let place = self.places.place(agent, scope)?;
        let before = place.read()?;
        let text = before.as_ref().map(|before| &*before.text);
        let unchanged = |error| untouched(&place, error);
        let after = file::with(&place, text, wanted).map_err(unchanged)?;
        let known = self.records.read(&place);
        let known = known.filter(|record| text.is_some_and(|text| digest(text) == record.after));
        let (original, made) = match (known, text) {
            (Some(record), _) => (record.before, record.directories),
            (None, None) => (None, Vec::new()),
            (None, Some(text)) => {
                // An earlier entry of ours is nothing to return to.
                let rest = file::without(&place, text).map_err(unchanged)?;
                let original = match rest {
                    None => Some(text.to_owned()),
                    Some(rest) => (!rest.is_empty).then_some(rest.text),
                };
                (original, Vec::new())
            }
        };
        let record = Record {
            path: place.path().to_owned(),
            before: original,
            after: digest(&after),
            directories: [made, place.missing()].concat(),
        };
        Ok(Change {
            place,
            before,
            after: Some(after),
            record: Some(record),
            made: Vec::new(),
            is_exact: true,
        })
    }

    /// What disconnecting an agent would change; `None` if it is not connected there.
    ///
    /// # Errors
    /// When the agent has no such scope, or its file cannot be read or is not in its format.
    pub fn remove(&self, agent: Agent, scope: Scope) -> Result<Option<Change>> {
        let place = self.places.place(agent, scope)?;
        let record = self.records.read(&place);
        let Some(before) = place.read()? else {
            return Ok(None);
        };
        let made = record.as_ref().map(|record| record.directories.clone());
        let made = made.unwrap_or_default();
        let change = |before, after, is_exact| {
            Some(Change {
                place: place.clone(),
                before: Some(before),
                after,
                record: None,
                made,
                is_exact,
            })
        };
        if let Some(record) = &record
            && record.after == digest(&before.text)
        {
            return Ok(change(before, record.before.clone(), true));
        }
        let rest = file::without(&place, &before.text).map_err(|error| untouched(&place, error))?;
        let Some(Rest { text, is_empty }) = rest else {
            return Ok(None);
        };
        // A file that others had before us stays, however little is in it.
        let is_ours = record.is_none_or(|record| record.before.is_none());
        let after = (!is_empty || !is_ours).then_some(text);
        Ok(change(before, after, false))
    }

    /// Forgets what was kept for the undo of a connection that is not there any more.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub fn forget(&self, agent: Agent, scope: Scope) -> Result<()> {
        self.records.forget(&self.places.place(agent, scope)?)
    }

    /// Makes the change. A kill leaves the file as it was or as it will be.
    ///
    /// # Errors
    /// When the file was changed meanwhile, or cannot be written; it is as it was then.
    pub fn apply(&self, change: &Change) -> Result<()> {
        let lock = self.records.directory()?.join("lock");
        let _lock = FileLock::exclusive(&lock, limits::INSTALL_LOCK)?;
        let place = &change.place;
        let now = place.read()?;
        if now.as_ref().map(|now| &*now.text) != change.texts().0 {
            let text = format!("`{}` was changed meanwhile", place.path().display());
            return Err(Error::new(text).hint("the same command looks at it again"));
        }
        if let Some(record) = &change.record {
            // First: an entry without its record could only be undone roughly.
            self.records.keep(place, record)?;
        }
        match &change.after {
            _ if change.is_nothing() => {}
            Some(text) => place.write(text, now.as_ref())?,
            None => place.remove(&change.made)?,
        }
        if change.record.is_none() {
            self.records.forget(place)?;
        }
        Ok(())
    }
}

fn untouched(place: &Place, error: Error) -> Error {
    let path = place.path().display();
    let error = error.context(format!("`{path}` was left as it is"));
    error.or_hint(format!(
        "correct it, or move it away: {} may not read it either",
        place.agent
    ))
}

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
