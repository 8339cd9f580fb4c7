//! Connecting an agent and its undo: what would change, changing it, and what is kept for the undo.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::entry::Invocation;
use super::file::{self, Rest};
use super::place::{Content, Place, Places};
use crate::error::{Error, Result};
use crate::host::agent::{Agent, Scope};
use crate::run_context::RunContext;
use crate::sys::{Base, Durable, EntryName, files, limits};

/// The directory of records, and the lock in it.
const RECORDS: &str = "hosts";
const LOCK: EntryName = EntryName::from_static("lock");

/// What connects agents.
#[derive(Debug)]
pub struct Connector {
    pub(super) places: Places,
    /// The directory that its records are below.
    pub(super) data: PathBuf,
}

/// A change to one file that was worked out and not made yet.
#[derive(Debug)]
pub struct Change {
    place: Place,
    before: Option<Content>,
    /// The text that the file gets; `None` if it goes.
    after: Option<String>,
    /// What is to be recorded from now on, if anything.
    record: Option<Record>,
    /// The directories that were created for a file that goes.
    made: Vec<PathBuf>,
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
    /// What connects to the agents of this run.
    pub fn of(run: &RunContext) -> Self {
        Self::new(Places::of(run), &run.dirs.plugin)
    }

    /// What connects to agents at these places, and keeps records below the data directory.
    pub fn new(places: Places, data: &Path) -> Self {
        let data = data.to_owned();
        Self { places, data }
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
        let record = match text {
            None => Some(Record {
                path: place.path.clone(),
                directories: place.missing(),
            }),
            // What had no entry of ours was made by somebody else.
            Some(text) => match file::without(&place, text).map_err(unchanged)? {
                Some(_) => Record::read(&self.data, &place),
                None => None,
            },
        };
        Ok(Change {
            place,
            before,
            after: Some(after),
            record,
            made: Vec::new(),
        })
    }

    /// What disconnecting an agent would change; `None` if it is not connected there.
    ///
    /// # Errors
    /// When the agent has no such scope, or its file cannot be read or is not in its format.
    pub fn remove(&self, agent: Agent, scope: Scope) -> Result<Option<Change>> {
        let place = self.places.place(agent, scope)?;
        let Some(before) = place.read()? else {
            return Ok(None);
        };
        let rest = file::without(&place, &before.text).map_err(|error| untouched(&place, error))?;
        let Some(Rest { text, is_empty }) = rest else {
            return Ok(None);
        };
        // A file that others had before us stays, however little is in it.
        let record = Record::read(&self.data, &place);
        let is_ours = record.is_some() || text.is_empty();
        Ok(Some(Change {
            after: (!is_empty || !is_ours).then_some(text),
            before: Some(before),
            record: None,
            made: record.map_or_else(Vec::new, |record| record.directories),
            place,
        }))
    }

    /// Forgets what was kept for the undo of a connection that is not there any more.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub fn forget(&self, agent: Agent, scope: Scope) -> Result<()> {
        self.forget_record(&self.places.place(agent, scope)?)
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
            let text = format!("{:#}\n", json!(record));
            let file = record_file(&self.data, place);
            // First: without its record, the file would stay.
            files::replace(&file, text.as_bytes(), 0o600, Durable::Yes)?;
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

/// A file that we created, for its undo.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    path: PathBuf,
    /// The directories that were created for it, the outermost first.
    directories: Vec<PathBuf>,
}

impl Record {
    /// The record of a place. One that cannot be read is none: then only our entries are taken away.
    pub fn read(data: &Path, place: &Place) -> Option<Self> {
        let file = record_file(data, place);
        let bytes = files::read_capped(&file, limits::CONFIG_FILE).ok()?;
        let record: Self = serde_json::from_slice(&bytes).ok()?;
        (record.path == place.path).then_some(record)
    }
}

/// Named by the agent, the scope and the path: every project has one of its own.
fn record_file(data: &Path, place: &Place) -> PathBuf {
    let path = format!(
        "{:x}",
        Sha256::digest(place.path.as_os_str().as_encoded_bytes())
    );
    let name = format!("{}-{}-{}.json", place.agent, place.scope, &path[..16]);
    data.join(RECORDS).join(name)
}
