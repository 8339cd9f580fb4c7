//! To which agents this program is connected, what is missing there, and which of their files decide
//! about that.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::file::{self, Run};
use super::place::Places;
use crate::host::agent::settings::Format;
use crate::host::agent::{Agent, Mode, Scope};
use crate::run_context::RunContext;
use crate::sys::{Moment, millis};

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
    /// What is wrong, and the next step.
    pub missing: Vec<String>,
}

/// What the files of an agent have of ours; nothing of a file without an entry.
pub fn found(places: &Places, agent: Agent) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for found in Scope::ALL
        .into_iter()
        .filter_map(|scope| found_in(places, agent, scope))
    {
        // In the home itself, the project's file is the user's.
        if all.iter().all(|other| other.path != found.path) {
            all.push(found);
        }
    }
    all
}

fn found_in(places: &Places, agent: Agent, scope: Scope) -> Option<Found> {
    let place = places.place(agent, scope).ok()?;
    let path = place.path().to_owned();
    let unreadable = |why: String| Found {
        scope,
        path: path.clone(),
        is_connected: false,
        mode: None,
        missing: vec![why],
    };
    let text = match place.read() {
        Ok(content) => content?.text,
        Err(error) => return Some(unreadable(error.to_string())),
    };
    let entries = match file::entries(&place, &text) {
        Ok(entries) => entries,
        // Nothing of ours was ever in it.
        Err(_) if !text.contains("agent-skills") => return None,
        Err(error) => {
            let shown = path.display();
            return Some(unreadable(format!("`{shown}` cannot be read: {error}")));
        }
    };
    let first = &entries.all.first()?.ours;
    let mut missing = Vec::new();
    let again = format!("run `agent-skills hosts add {agent} --scope {scope}` again");
    let has = |event: &str| entries.all.iter().any(|entry| entry.event == event);
    let is_plugin = matches!(agent.settings().format, Format::Plugin);
    let lacking: Vec<&str> = agent
        .registered()
        .map(|(event, _)| event)
        .filter(|event| !is_plugin && !has(event))
        .collect();
    if !lacking.is_empty() {
        missing.push(format!("no entry for {}: {again}", lacking.join(", ")));
    }
    let mut programs = entries.all.iter().map(|entry| &entry.ours.program);
    if let Some(gone) = programs.find(|program| !Path::new(program).is_file()) {
        missing.push(format!("there is no `{gone}`: {again}"));
    }
    if entries.disabled {
        let shown = path.display();
        missing.push(format!("`{shown}` has `disableAllHooks`: set it to false"));
    }
    Some(Found {
        scope,
        path,
        is_connected: missing.is_empty(),
        mode: first.mode,
        missing,
    })
}

/// When an agent's hook was called last; `None` if it never was.
pub fn last_seen(ctx: &RunContext, agent: Agent) -> Option<Moment> {
    let metadata = seen_file(ctx, agent).metadata().ok()?;
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH);
    since.ok().map(|since| Moment(millis(since)))
}

/// The file whose modification says when an agent's hook was called last.
pub fn seen_file(ctx: &RunContext, agent: Agent) -> PathBuf {
    let dir = ctx.dirs.state(&ctx.env).join("hosts");
    dir.join(format!("{agent}.seen"))
}

/// The commands that the entries of an agent run, each once, and for whom.
pub fn commands(places: &Places, agent: Agent) -> Vec<(Scope, Run)> {
    let mut commands: Vec<(Scope, Run)> = Vec::new();
    for scope in Scope::ALL {
        let Ok(place) = places.place(agent, scope) else {
            continue;
        };
        let text = place.read().ok().flatten().map(|content| content.text);
        let entries = text.and_then(|text| file::entries(&place, &text).ok());
        for entry in entries.unwrap_or_default().all {
            if !commands.iter().any(|(_, known)| *known == entry.command) {
                commands.push((scope, entry.command));
            }
        }
    }
    commands
}

/// Every file and directory, in every scope, from which any agent reads hooks, permissions or plugins:
/// whether it exists or not, and whether the agent is connected or not. Reads nothing.
pub fn watched(ctx: &RunContext) -> Vec<PathBuf> {
    let places = Places::of(ctx);
    let holders = ctx.project_holders(&ctx.env.cwd);
    let mut paths = Vec::new();
    for agent in Agent::ALL {
        let settings = agent.settings();
        let watched = settings.watched;
        let home = places.home(settings.home).into_iter();
        paths.extend(home.flat_map(|home| {
            let files = watched.user.iter().chain([&settings.user]);
            files.map(move |file| home.join(file))
        }));
        let home = places.user_home().into_iter();
        paths.extend(home.flat_map(|home| watched.home.iter().map(move |file| home.join(file))));
        let roots = holders.iter().map(PathBuf::as_path);
        for root in roots.chain([places.project()]) {
            let files = watched.project.iter().chain([&settings.project]);
            paths.extend(files.map(|file| root.join(file)));
        }
        let machine = watched.machine.iter().chain(settings.managed.iter());
        paths.extend(machine.map(|file| places.machine(file)));
    }
    paths.sort();
    // What is below another of them is protected with it; sorted, that comes right before.
    paths.dedup_by(|path, before| path.starts_with(before));
    paths
}
