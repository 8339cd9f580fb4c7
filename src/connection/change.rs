//! Connecting an agent and its undo: what would change, changing it, and what is kept for the undo. And
//! to which agents this program is connected, what is missing there or switches hooks off, and which of
//! their files decide about that.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::config_file::{ConfigFile, Connections, HookEntry};
use super::entry::Invocation;
use super::json::JsonHooks;
use crate::error::{Error, Result};
use crate::host::agent::table::HooksOffValue;
use crate::host::agent::{Agent, ConnectionScope, HookMode};
use crate::run_context::RunContext;
use crate::sys::{Base, Durable, EntryName, UnixMillis, files, limits, millis};

/// The directory of records, and the lock in it.
const RECORDS: &str = "hosts";
const LOCK: EntryName = EntryName::from_static("lock");

/// A change to one file that was worked out and not made yet.
#[derive(Debug)]
pub struct ConnectionChange {
    file: ConfigFile,
    /// The file's text; `None` if there is no file.
    pub before: Option<String>,
    /// The text that the file gets; `None` if it goes.
    pub after: Option<String>,
    /// What is kept for the undo; `None` if this is the undo.
    record: Option<ConnectionRecord>,
    /// Directories that we created for the file.
    made: Vec<PathBuf>,
    /// Whether the undo leads to exactly what was there before us.
    pub is_exact: bool,
}

impl ConnectionChange {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Whether the file stays as it is.
    pub fn is_nothing(&self) -> bool {
        self.before == self.after
    }
}

impl Connections {
    /// What connecting an agent would change.
    ///
    /// # Errors
    /// When the agent has no such scope, or its file cannot be read or is not in its format.
    pub fn add(
        &self,
        agent: Agent,
        scope: ConnectionScope,
        wanted: &Invocation,
    ) -> Result<ConnectionChange> {
        let file = self.file(agent, scope)?;
        let before = file.read()?;
        let unchanged = |error| untouched(&file, error);
        let after = file.with_entries(before.as_deref(), wanted);
        let after = after.map_err(unchanged)?;
        let known = ConnectionRecord::read(&self.data, &file);
        let known =
            known.filter(|record| before.as_deref().map(digest).as_ref() == Some(&record.after));
        let (original, made) = match (known, &before) {
            (Some(record), _) => (record.before, record.directories),
            (None, None) => (None, Vec::new()),
            (None, Some(text)) => {
                let original = match file.without_entries(text).map_err(unchanged)? {
                    None => Some(text.clone()),
                    // An earlier entry of ours is nothing to return to.
                    Some(rest) => (!rest.is_empty).then_some(rest.text),
                };
                (original, Vec::new())
            }
        };
        let record = ConnectionRecord {
            path: file.path.clone(),
            before: original,
            after: digest(&after),
            directories: [made, file.missing()].concat(),
        };
        Ok(ConnectionChange {
            file,
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
    pub fn remove(&self, agent: Agent, scope: ConnectionScope) -> Result<Option<ConnectionChange>> {
        let file = self.file(agent, scope)?;
        let Some(before) = file.read()? else {
            return Ok(None);
        };
        let record = ConnectionRecord::read(&self.data, &file);
        let (after, is_exact) = match &record {
            Some(record) if record.after == digest(&before) => (record.before.clone(), true),
            _ => {
                let rest = file.without_entries(&before);
                let Some(rest) = rest.map_err(|error| untouched(&file, error))? else {
                    return Ok(None);
                };
                // A file that others had before us stays, however little is in it.
                let is_ours = record.as_ref().is_none_or(|record| record.before.is_none());
                ((!rest.is_empty || !is_ours).then_some(rest.text), false)
            }
        };
        Ok(Some(ConnectionChange {
            file,
            before: Some(before),
            after,
            record: None,
            made: record.map_or_else(Vec::new, |record| record.directories),
            is_exact,
        }))
    }

    /// Forgets what was kept for the undo of a connection that is not there any more.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub fn forget(&self, agent: Agent, scope: ConnectionScope) -> Result<()> {
        self.forget_record(&self.file(agent, scope)?)
    }

    /// Makes the change. A kill leaves the file as it was or as it will be.
    ///
    /// # Errors
    /// When the file was changed meanwhile, or cannot be written; it is as it was then.
    pub fn apply(&self, change: &ConnectionChange) -> Result<()> {
        let records = Base::own(self.data.join(RECORDS)).make()?;
        let _lock = records.lock(&LOCK, limits::INSTALL_LOCK)?;
        let file = &change.file;
        if file.read()? != change.before {
            let text = format!("`{}` was changed meanwhile", file.path.display());
            return Err(Error::new(text).hint("the same command looks at it again"));
        }
        if let Some(record) = &change.record {
            let text = serde_json::to_string_pretty(record)
                .map_err(|error| Error::caused("the record cannot be written", error))?;
            let kept = record_file(&self.data, file);
            // First: an entry without its record could only be undone roughly.
            files::replace(&kept, (text + "\n").as_bytes(), 0o600, Durable::Yes)?;
        }
        match &change.after {
            _ if change.is_nothing() => {}
            Some(text) => file.write(text)?,
            None => file.remove(&change.made)?,
        }
        if change.record.is_none() {
            self.forget_record(file)?;
        }
        Ok(())
    }

    fn forget_record(&self, of: &ConfigFile) -> Result<()> {
        let file = record_file(&self.data, of);
        let removed = files::if_there(files::remove(&file)).map(drop);
        removed.map_err(|error| Error::io("remove", &file, &error))
    }
}

fn untouched(file: &ConfigFile, error: Error) -> Error {
    let (path, agent) = (file.path.display(), file.agent);
    let hint = format!("correct it, or move it away: {agent} may not read it either");
    let error = error.context(format!("`{path}` was left as it is"));
    error.or_hint(hint)
}

/// One connection of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ConnectionRecord {
    /// The file.
    pub path: PathBuf,
    /// Its text without us; `None` if it did not exist.
    pub before: Option<String>,
    /// The digest of its text with us.
    pub after: String,
    /// The directories that were created for it, the outermost first.
    pub directories: Vec<PathBuf>,
}

impl ConnectionRecord {
    /// The record of a file. One that cannot be read is none: then only our
    /// entries are taken away.
    fn read(data: &Path, of: &ConfigFile) -> Option<Self> {
        // A byte of the file may take six in JSON.
        let bytes = files::read_capped(&record_file(data, of), 7 * limits::CONFIG_FILE).ok()?;
        let record: Self = serde_json::from_slice(&bytes).ok()?;
        (record.path == of.path).then_some(record)
    }
}

/// The digest by which a text is recognised.
fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

/// Named by the agent, the scope and the path: every project has one of its own.
fn record_file(data: &Path, of: &ConfigFile) -> PathBuf {
    let path = digest(&of.path.to_string_lossy());
    let name = format!("{}-{}-{}.json", of.agent, of.scope, &path[..16]);
    data.join(RECORDS).join(name)
}

/// What one configuration file of an agent has of ours.
#[derive(Debug)]
pub struct ConnectionState {
    /// For whom.
    pub scope: ConnectionScope,
    /// The file.
    pub path: PathBuf,
    /// Whether the agent asks us before each tool call.
    pub is_connected: bool,
    /// The mode that the entry itself names.
    pub mode: Option<HookMode>,
    /// What is wrong.
    pub missing: Vec<ConnectionFault>,
    /// The commands that its entries run, but for those whose program is gone.
    pub commands: Vec<Vec<String>>,
}

impl Connections {
    /// What the files of an agent have of ours; nothing of a file without an entry. A file that cannot be
    /// read counts if it has been connected, by our records or by what is left in it.
    pub fn found(&self, agent: Agent) -> Vec<ConnectionState> {
        let scopes = ConnectionScope::ALL.into_iter();
        let mut all: Vec<ConnectionState> = Vec::new();
        for found in scopes.filter_map(|scope| self.found_in(agent, scope)) {
            // In the home itself, the project's file is the user's.
            if all.iter().all(|other| other.path != found.path) {
                all.push(found);
            }
        }
        all
    }

    fn found_in(&self, agent: Agent, scope: ConnectionScope) -> Option<ConnectionState> {
        let file = self.file(agent, scope).ok()?;
        let path = file.path.clone();
        let shown = path.display();
        let add = format!("`agent-skills hosts add {agent} --scope {scope}`");
        let unreadable = |why: Error| ConnectionState {
            scope,
            path: path.clone(),
            is_connected: false,
            mode: None,
            missing: vec![ConnectionFault {
                what: format!("it is not known whether it calls the hook: {why}"),
                next: format!("correct that file, or move it away and run {add}"),
            }],
            commands: Vec::new(),
        };
        let text = match file.read() {
            Ok(text) => text?,
            Err(error) => return Some(unreadable(error)),
        };
        let (entries, is_changed) = match file.entries(&text) {
            Ok(found) => found,
            Err(error) => {
                let was_connected = text.contains("agent-skills")
                    || ConnectionRecord::read(&self.data, &file).is_some();
                let error = error.context(format!("`{shown}` cannot be read"));
                return was_connected.then(|| unreadable(error));
            }
        };
        let mode = entries.first()?.ours.mode;
        let mut missing = Vec::new();
        let mut lacks = |what: String, next: String| missing.push(ConnectionFault { what, next });
        let again = format!("run {add} again");
        let has = |event: &str| entries.iter().any(|entry| entry.event == event);
        let is_plugin = agent.table().is_plugin;
        let lacking = agent.registered().map(|(event, _)| event);
        let lacking = lacking.filter(|event| !is_plugin && !has(event));
        let lacking: Vec<&str> = lacking.collect();
        if !lacking.is_empty() {
            let events = lacking.join(", ");
            lacks(format!("no entry for {events}"), again.clone());
        }
        let mut programs = entries.iter().map(|entry| &entry.ours.program);
        if let Some(gone) = programs.find(|program| !Path::new(program).is_file()) {
            lacks(format!("there is no `{gone}`"), again.clone());
        }
        if is_changed && lacking.is_empty() {
            lacks("its entries are not as they were written".to_owned(), again);
        }
        // Nothing switches an administrator's hooks off.
        if scope != ConnectionScope::Managed {
            missing.extend(switched_off(self, agent));
        }
        let is_there = |entry: &HookEntry| Path::new(&entry.ours.program).is_file();
        let there = entries.into_iter().filter(is_there);
        Some(ConnectionState {
            scope,
            path: path.clone(),
            is_connected: missing.is_empty(),
            mode,
            missing,
            commands: there.map(|entry| entry.command).collect(),
        })
    }
}

/// When an agent's hook was called last, to the minute; `None` if it never was.
pub fn last_seen(state: &Path, agent: Agent) -> Option<UnixMillis> {
    let metadata = seen_file(state, agent).metadata().ok()?;
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH);
    since.ok().map(|since| UnixMillis(millis(since)))
}

/// The file beside the state whose modification says when an agent's hook was called last.
pub fn seen_file(state: &Path, agent: Agent) -> PathBuf {
    state.join("hosts").join(format!("{agent}.seen"))
}

/// Every file and directory, in every scope, from which any agent reads hooks, permissions or plugins:
/// whether it exists or not, and whether the agent is connected or not. `holders` are the project's
/// directories. Reads nothing.
pub fn watched(run: &RunContext, holders: &[PathBuf]) -> Vec<PathBuf> {
    let places = Connections::of(run);
    let mut paths = Vec::new();
    for agent in Agent::ALL {
        let table = agent.table();
        // Where a variable moves it, and where it is for an agent that is started without it.
        let moved = table.home.directory(&places.env);
        let usual = places.env.home();
        let usual = usual.map(|home| home.join(table.home.below_home));
        for home in moved.into_iter().chain(usual) {
            let files = table.watched.iter().chain([table.user]);
            paths.extend(files.map(|file| home.join(file)));
        }
        let of_user = table.watched_home.iter();
        paths.extend(of_user.flat_map(|file| places.of_user(table.home, file)));
        for root in holders.iter().chain([&places.project]) {
            let files = table.watched_project.iter().chain([table.project]);
            paths.extend(files.map(|file| root.join(file)));
        }
        let machine = table.managed.into_iter().chain([table.watched_machine]);
        paths.extend(machine.map(|file| places.machine(file)));
    }
    // By their bytes: this is done at every decision, and to compare paths part by part takes longer
    // than all the rest of it.
    paths.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    // What is below another of them is protected with it.
    paths.dedup_by(|path, before| {
        fn bytes(path: &Path) -> &[u8] {
            path.as_os_str().as_encoded_bytes()
        }
        let rest = bytes(path).strip_prefix(bytes(before));
        rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    });
    paths
}

/// The name that our entries have where an agent gives them one.
const OURS: &str = "agent-skills";

/// Each switch of the agent that is off in some file of this user or project, and each such file that
/// cannot be read.
pub fn switched_off(places: &Connections, agent: Agent) -> Vec<ConnectionFault> {
    let table = agent.table();
    let mut lacks = Vec::new();
    for (key, off) in table.off_switches {
        let home = table.home.directory(&places.env).into_iter();
        let users = home.flat_map(|home| table.switched_in.iter().map(move |file| home.join(file)));
        let projects = table.switched_in_project.iter();
        for file in users.chain(projects.map(|file| places.project.join(file))) {
            let shown = file.display();
            match read(&file) {
                Ok(Some(value)) if is_off(&value, key, *off) => lacks.push(ConnectionFault {
                    what: format!("`{shown}` has `{key}`"),
                    next: match off {
                        HooksOffValue::Is(off) => format!("set it to {}", !off),
                        HooksOffValue::Names => format!("take `{OURS}` out of it"),
                    },
                }),
                Ok(_) => {}
                Err(why) => lacks.push(ConnectionFault {
                    what: format!("`{shown}` cannot be read: {why}"),
                    next: "correct it".to_owned(),
                }),
            }
        }
    }
    lacks.dedup();
    lacks
}

/// The content of a settings file; `None` if there is none.
fn read(file: &Path) -> Result<Option<Value>, String> {
    let read = |file: &Path| files::read_capped(file, limits::CONFIG_FILE);
    let bytes = files::unless_missing(file, read).map_err(|error| error.to_string())?;
    let Some(bytes) = bytes else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&bytes);
    if file.extension().is_some_and(|end| end == "toml") {
        let read = toml::from_str(&text);
        return read.map(Some).map_err(|error| error.message().to_owned());
    }
    let read = JsonHooks::parse(&text).map_err(|error| error.to_string())?;
    Ok(read.value())
}

fn is_off(settings: &Value, key: &str, off: HooksOffValue) -> bool {
    let value = key.split('.').try_fold(settings, |at, name| at.get(name));
    match (off, value) {
        (HooksOffValue::Is(off), Some(Value::Bool(value))) => *value == off,
        (HooksOffValue::Names, Some(Value::Array(names))) => names.iter().any(|name| name == OURS),
        _ => false,
    }
}

/// What is wrong with a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionFault {
    /// What it is, as a sentence fragment.
    pub what: String,
    /// The next step.
    pub next: String,
}

impl fmt::Display for ConnectionFault {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.what, self.next)
    }
}
