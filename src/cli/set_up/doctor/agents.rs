//! Checks that connected agents ask us: when each did last, and whether the command in its
//! configuration answers when it is run as the agent would run it. No agent is started.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::ask::answer;
use super::check::Check;
use crate::connection::{Found, Places, Run, found, last_seen, seen_file};
use crate::facts::Facts;
use crate::host::agent::table::{Does, Moment};
use crate::host::agent::{Agent, Scope};
use crate::sys::{Env, files};

/// The checks of this area: none for an agent that is not connected.
pub fn checks(facts: &Facts) -> Vec<Check> {
    let places = Places::of(&facts.run);
    let of_each = Agent::ALL.into_iter().map(|agent| {
        let found = found(&places, &facts.run.dirs.plugin, agent);
        let mut commands: Vec<(Scope, Run)> = Vec::new();
        for (found, run) in found
            .iter()
            .flat_map(|it| it.commands.iter().map(move |run| (it, run)))
        {
            if !commands.iter().any(|(_, known)| known == run) {
                commands.push((found.scope, run.clone()));
            }
        }
        Connected {
            agent,
            found,
            commands,
        }
    });
    let connected: Vec<Connected> = of_each.filter(|it| !it.found.is_empty()).collect();
    let proofs = proofs(facts, &connected);
    let each = connected.iter().zip(proofs);
    each.flat_map(|(connected, proofs)| connected.checks(facts, proofs))
        .collect()
}

/// What the files of an agent have of ours.
struct Connected {
    agent: Agent,
    found: Vec<Found>,
    commands: Vec<(Scope, Run)>,
}

/// Whether a command answers, and else why it does not.
type Proof = Result<(), String>;

impl Connected {
    fn checks(&self, facts: &Facts, proofs: Vec<Proof>) -> Vec<Check> {
        let agent = self.agent;
        let mut checks = Vec::new();
        for found in &self.found {
            let (scope, path) = (found.scope, found.path.display());
            for lack in &found.missing {
                let text = format!("{agent} ({scope}): {}", lack.what);
                checks.push(Check::fail("agent-entry", text, &lack.next));
            }
            if found.is_connected {
                let text = format!("{agent} is connected ({scope}) in `{path}`");
                checks.push(Check::ok("agent", text));
            }
        }
        let settings = agent.settings();
        let own = self.found.iter().any(|it| it.scope != Scope::Managed);
        checks.push(match last_seen(facts.state(), agent) {
            Some(seen) => Check::ok(
                "agent-seen",
                format!("{agent} asked last at {}", seen.local()),
            ),
            None => Check::warn(
                "agent-never-seen",
                format!("{agent} has never asked, as far as is recorded here"),
                match settings.trust.filter(|_| own) {
                    Some(trust) => trust.to_owned(),
                    None => format!("start {agent} anew, have it use a tool, and look again"),
                },
            ),
        });
        for ((scope, _), proof) in self.commands.iter().zip(proofs) {
            let text = format!("what {agent} runs ({scope})");
            checks.push(match proof {
                Ok(()) => Check::ok("agent-command", format!("{text} answers")),
                Err(why) => Check::fail(
                    "agent-command",
                    format!("{text} does not answer: {why}"),
                    format!("`agent-skills hosts add {agent} --scope {scope}` writes it anew"),
                ),
            });
        }
        for unseen in settings.unseen {
            checks.push(Check::warn(
                "agent-unseen",
                format!("{agent} tells no hook of {unseen}"),
                format!(
                    "what no hook sees, nothing here judges: limit it in {agent}'s own settings if it matters"
                ),
            ));
        }
        checks
    }
}

/// Whether the commands of each agent answer. All run at once, since each may use up the time that it
/// is given.
fn proofs(facts: &Facts, connected: &[Connected]) -> Vec<Vec<Proof>> {
    let project = &facts.run.project_dir();
    let env = &facts.run.env;
    // Our own question must not count as the agent's.
    let seen = connected.iter().map(|it| {
        let file = seen_file(facts.state(), it.agent);
        let at = file.metadata().and_then(|found| found.modified()).ok();
        (file, at)
    });
    let seen: Vec<(PathBuf, Option<SystemTime>)> = seen.collect();
    let proofs = std::thread::scope(|scope| {
        let start = |it: &'_ Connected| {
            let payload = harmless(it.agent, &project.display().to_string()).to_string();
            let runs = it.commands.iter().map(|(_, run)| {
                let (run, payload) = (run.clone(), payload.clone());
                scope.spawn(move || proved(&run, &payload, project, env))
            });
            runs.collect::<Vec<_>>()
        };
        let started: Vec<_> = connected.iter().map(start).collect();
        let ended = started.into_iter().map(|of_agent| {
            let proof = |thread: std::thread::ScopedJoinHandle<Proof>| {
                let ended = thread.join();
                ended.unwrap_or_else(|_| Err("it could not be run".to_owned()))
            };
            of_agent.into_iter().map(proof).collect()
        });
        ended.collect()
    });
    for (file, at) in seen {
        let _ = match at {
            None => files::remove(&file),
            Some(at) => files::open_regular(&file).and_then(|file| file.set_modified(at)),
        };
    }
    proofs
}

/// Runs the command with a harmless call and sees whether it answers.
fn proved(run: &Run, payload: &str, project: &Path, env: &Env) -> Proof {
    let mut command = match run {
        Run::Words(words) => {
            let (program, rest) = words.split_first().ok_or("it is empty")?;
            let mut command = Command::new(program);
            command.args(rest);
            command
        }
        Run::Shell(line) => {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", line]);
            command
        }
    };
    command.current_dir(project);
    let said = answer(&mut command, payload, env)?;
    let is_answer = said.trim().is_empty()
        || serde_json::from_str::<Value>(&said).is_ok_and(|value| value.is_object());
    if is_answer {
        return Ok(());
    }
    Err("its answer is not the JSON that the agent reads".to_owned())
}

/// A call that nothing forbids, as the agent would send it.
fn harmless(agent: Agent, directory: &str) -> Value {
    let table = agent.table();
    let keys = &table.keys;
    let is_gate = |event: &&(&str, Moment)| event.1 == Moment::BeforeTool;
    let event = table.events.iter().find(is_gate).map(|event| event.0);
    let nothing = |does: Does| matches!(does, Does::Todo | Does::Harmless);
    let mut tools = table.tools.iter();
    let (tool, arguments) = match tools.clone().find(|tool| nothing(tool.does)) {
        Some(tool) => (tool.name, json!({})),
        None => tools
            .find_map(|tool| match tool.does {
                Does::Read(keys) => Some((tool.name, json!({*keys.first()?: "/dev/null"}))),
                _ => None,
            })
            .unwrap_or(("none", json!({}))),
    };
    let mut payload = Map::new();
    for (key, value) in [
        (keys.event, json!(event)),
        (keys.session, json!("agent-skills-doctor")),
        (keys.prompt, json!("agent-skills-doctor")),
        (keys.cwd, json!(directory)),
        (keys.tool, json!(tool)),
        (keys.arguments, arguments),
    ] {
        if !key.is_empty() {
            payload.insert(key.to_owned(), value);
        }
    }
    Value::Object(payload)
}
