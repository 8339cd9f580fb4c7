//! Connecting an agent and its undo: what would change, changing it, and what is kept for the undo.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::entry::Invocation;
use super::file::{self, Rest};
use super::place::{Connector, Content, Place};
use crate::error::{Error, Result};
use crate::host::agent::{Agent, Scope};
use crate::sys::{Base, Durable, EntryName, files, limits};

/// The directory of records, and the lock in it.
const RECORDS: &str = "hosts";
const LOCK: EntryName = EntryName::from_static("lock");

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
        &self.place.path
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
    /// What connecting an agent would change.
    ///
    /// # Errors
    /// When the agent has no such scope, or its file cannot be read or is not in its format.
    pub fn add(&self, agent: Agent, scope: Scope, wanted: &Invocation) -> Result<Change> {
        let place = self.place(agent, scope)?;
        let before = place.read()?;
        let text = before.as_ref().map(|before| &*before.text);
        let unchanged = |error| untouched(&place, error);
        let after = file::with(&place, text, wanted).map_err(unchanged)?;
        let known = Record::read(&self.data, &place);
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
            path: place.path.clone(),
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
        let place = self.place(agent, scope)?;
        let record = Record::read(&self.data, &place);
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
        self.forget_record(&self.place(agent, scope)?)
    }

    /// Makes the change. A kill leaves the file as it was or as it will be.
    ///
    /// # Errors
    /// When the file was changed meanwhile, or cannot be written; it is as it was then.
    pub fn apply(&self, change: &Change) -> Result<()> {
        let records = Base::own(self.data.join(RECORDS)).make()?;
        let _lock = records.lock(&LOCK, limits::INSTALL_LOCK)?;
        let place = &change.place;
        let now = place.read()?;
        if now.as_ref().map(|now| &*now.text) != change.texts().0 {
            let text = format!("`{}` was changed meanwhile", place.path.display());
            return Err(Error::new(text).hint("the same command looks at it again"));
        }
        if let Some(record) = &change.record {
            let text = serde_json::to_string_pretty(record)
                .map_err(|error| Error::caused("the record cannot be written", error))?;
            let file = record_file(&self.data, place);
            // First: an entry without its record could only be undone roughly.
            files::replace(&file, (text + "\n").as_bytes(), 0o600, Durable::Yes)?;
        }
        match &change.after {
            _ if change.is_nothing() => {}
            Some(text) => place.write(text, now.as_ref())?,
            None => place.remove(&change.made)?,
        }
        if change.record.is_none() {
            self.forget_record(place)?;
        }
        Ok(())
    }

    fn forget_record(&self, place: &Place) -> Result<()> {
        let file = record_file(&self.data, place);
        let removed = files::if_there(files::remove(&file)).map(drop);
        removed.map_err(|error| Error::io("remove", &file, &error))
    }
}

fn untouched(place: &Place, error: Error) -> Error {
    let path = place.path.display();
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

impl Record {
    /// The record of a place. One that cannot be read is none: then only our
    /// entries are taken away.
    pub fn read(data: &Path, place: &Place) -> Option<Self> {
        // A byte of the file may take six in JSON.
        let file = record_file(data, place);
        let bytes = files::read_capped(&file, 7 * limits::CONFIG_FILE).ok()?;
        let record: Self = serde_json::from_slice(&bytes).ok()?;
        (record.path == place.path).then_some(record)
    }
}

/// The digest by which a text is recognised.
fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

/// Named by the agent, the scope and the path: every project has one of its own.
fn record_file(data: &Path, place: &Place) -> PathBuf {
    let path = digest(&place.path.to_string_lossy());
    data.join(RECORDS).join(format!(
        "{}-{}-{}.json",
        place.agent,
        place.scope,
        &path[..16]
    ))
}
