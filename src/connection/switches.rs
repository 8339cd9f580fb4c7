//! What a connection lacks, and what in an agent's settings switches its hooks off, ours among them.
//! Only told, never changed.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::json::Json;
use super::place::Places;
use crate::host::agent::Agent;
use crate::host::agent::settings::{Off, Switch};
use crate::sys::{files, limits};

/// The name that our entries have where an agent gives them one.
const OURS: &str = "agent-skills";

/// Each switch of the agent that is off in some file of this user or project, and each such file that
/// cannot be read.
pub fn switched_off(places: &Places, agent: Agent) -> Vec<Lack> {
    let settings = agent.settings();
    let mut lacks = Vec::new();
    for Switch {
        user,
        project,
        key,
        off,
    } in settings.switches
    {
        let home = places.home(settings.home).into_iter();
        let users = home.flat_map(|home| user.iter().map(move |file| home.join(file)));
        let projects = project.iter().map(|file| places.project().join(file));
        for file in users.chain(projects) {
            let shown = file.display();
            match read(&file) {
                Ok(Some(value)) if is_off(&value, key, *off) => lacks.push(Lack {
                    what: format!("`{shown}` has `{}`", key.join(".")),
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

fn is_off(settings: &Value, key: &[&str], off: Off) -> bool {
    let value = key.iter().try_fold(settings, |at, name| at.get(name));
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
