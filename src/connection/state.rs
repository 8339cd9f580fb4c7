//! To which agents this program is connected, what is missing there or switches hooks off, and which
//! of their files decide about that.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::change::Record;
use super::file;
use super::json::Json;
use super::place::Connector;
use crate::error::Error;
use crate::host::agent::table::Off;
use crate::host::agent::{Agent, Mode, Scope};
use crate::run_context::RunContext;
use crate::sys::{Moment, files, limits, millis};

/// What one configuration file of an agent has of ours.
#[derive(Debug)]
pub struct Found {
    /// For whom.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
    /// Whether the agent asks us before each tool call.
    pub is_connected: bool,
    /// The mode that the entry itself names.
    pub mode: Option<Mode>,
    /// What is wrong.
    pub missing: Vec<Lack>,
    /// The commands that its entries run, but for those whose program is gone.
    pub commands: Vec<Vec<String>>,
}

impl Connector {
    /// What the files of an agent have of ours; nothing of a file without an entry. A file that cannot be
    /// read counts if it has been connected, by our records or by what is left in it.
    pub fn found(&self, agent: Agent) -> Vec<Found> {
        let scopes = Scope::ALL.into_iter();
        let mut all: Vec<Found> = Vec::new();
        for found in scopes.filter_map(|scope| self.found_in(agent, scope)) {
            // In the home itself, the project's file is the user's.
            if all.iter().all(|other| other.path != found.path) {
                all.push(found);
            }
        }
        all
    }

    fn found_in(&self, agent: Agent, scope: Scope) -> Option<Found> {
        let place = self.place(agent, scope).ok()?;
        let path = place.path.clone();
        let shown = path.display();
        let add = format!("`agent-skills hosts add {agent} --scope {scope}`");
        let unreadable = |why: Error| Found {
            scope,
            path: path.clone(),
            is_connected: false,
            mode: None,
            missing: vec![Lack {
                what: format!("whether it asks is not known: {why}"),
                next: format!("correct that file, or move it away and run {add}"),
            }],
            commands: Vec::new(),
        };
        let text = match place.read() {
            Ok(content) => content?.text,
            Err(error) => return Some(unreadable(error)),
        };
        let (entries, is_changed) = match file::entries(&place, &text) {
            Ok(found) => found,
            // Nothing of ours was ever in it.
            Err(_)
                if !text.contains("agent-skills") && Record::read(&self.data, &place).is_none() =>
            {
                return None;
            }
            Err(error) => {
                return Some(unreadable(
                    error.context(format!("`{shown}` cannot be read")),
                ));
            }
        };
        let mode = entries.first()?.ours.mode;
        let mut missing = Vec::new();
        let mut lacks = |what: String, next: String| missing.push(Lack { what, next });
        let again = format!("run {add} again");
        let has = |event: &str| entries.iter().any(|entry| entry.event == event);
        let is_plugin = agent.table().is_plugin;
        let lacking: Vec<&str> = agent
            .registered()
            .map(|(event, _)| event)
            .filter(|event| !is_plugin && !has(event))
            .collect();
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
        if scope != Scope::Managed {
            missing.extend(switched_off(self, agent));
        }
        let there = entries.into_iter();
        let there = there.filter(|entry| Path::new(&entry.ours.program).is_file());
        Some(Found {
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
pub fn last_seen(state: &Path, agent: Agent) -> Option<Moment> {
    let metadata = seen_file(state, agent).metadata().ok()?;
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH);
    since.ok().map(|since| Moment(millis(since)))
}

/// The file beside the state whose modification says when an agent's hook was called last.
pub fn seen_file(state: &Path, agent: Agent) -> PathBuf {
    state.join("hosts").join(format!("{agent}.seen"))
}

/// Every file and directory, in every scope, from which any agent reads hooks, permissions or plugins:
/// whether it exists or not, and whether the agent is connected or not. `holders` are the project's
/// directories. Reads nothing.
pub fn watched(run: &RunContext, holders: &[PathBuf]) -> Vec<PathBuf> {
    let places = Connector::of(run);
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
pub fn switched_off(places: &Connector, agent: Agent) -> Vec<Lack> {
    let table = agent.table();
    let mut lacks = Vec::new();
    for (key, off) in table.switches {
        let home = table.home.directory(&places.env).into_iter();
        let users = home.flat_map(|home| table.switched_in.iter().map(move |file| home.join(file)));
        let projects = table.switched_in_project.iter();
        let projects = projects.map(|file| places.project.join(file));
        for file in users.chain(projects) {
            let shown = file.display();
            match read(&file) {
                Ok(Some(value)) if is_off(&value, key, *off) => lacks.push(Lack {
                    what: format!("`{shown}` has `{key}`"),
                    next: match off {
                        Off::Is(off) => format!("set it to {}", !off),
                        Off::Names => format!("take `{OURS}` out of it"),
                    },
                }),
                Ok(_) => {}
                Err(why) => lacks.push(Lack {
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
    let read = Json::parse(&text).map_err(|error| error.to_string())?;
    Ok(read.value())
}

fn is_off(settings: &Value, key: &str, off: Off) -> bool {
    let value = key.split('.').try_fold(settings, |at, name| at.get(name));
    match (off, value) {
        (Off::Is(off), Some(Value::Bool(value))) => *value == off,
        (Off::Names, Some(Value::Array(names))) => names.iter().any(|name| name == OURS),
        _ => false,
    }
}

/// What is wrong with a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// What it is, as a sentence fragment.
    pub what: String,
    /// The next step.
    pub next: String,
}

impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.what, self.next)
    }
}
