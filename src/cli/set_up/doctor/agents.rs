//! Checks that connected agents ask us: when each did last, and whether the command in its
//! configuration answers when it is run as the agent would run it. No agent is started.

use std::process::Command;
use std::time::SystemTime;

use super::check::{Check, answer};
use crate::cli::prelude::*;
use crate::connection::{ConnectionState, Connections, last_seen, seen_file};
use crate::host::agent::ConnectionScope;
use crate::host::agent::table::EventKind;

/// The checks of this area: none for an agent that is not connected.
pub fn checks(facts: &Facts) -> Vec<Check> {
    let connector = Connections::of(&facts.run);
    let of_each = Agent::ALL.map(|agent| (agent, connector.found(agent)));
    let connected = of_each.iter().filter(|(_, found)| !found.is_empty());
    let connected: Vec<_> = connected.collect();
    let proofs = proofs(facts, &connected);
    let each = connected.into_iter();
    each.flat_map(|(agent, found)| of_agent(facts, *agent, found, &proofs))
        .collect()
}

/// For whom a command of an agent is; whether it answers, and else why it does not.
type HookTest = (Agent, ConnectionScope, Result<(), String>);

fn of_agent(
    facts: &Facts,
    agent: Agent,
    found: &[ConnectionState],
    proofs: &[HookTest],
) -> Vec<Check> {
    let mut checks = Vec::new();
    for found in found {
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
    let settings = agent.table();
    checks.push(if let Some(seen) = last_seen(facts.state(), agent) {
        let text = format!("{agent} last called the hook at {}", seen.local());
        Check::ok("agent-seen", text)
    } else {
        let text = format!("no call of the hook by {agent} is recorded");
        let own = found.iter().any(|it| it.scope != ConnectionScope::Managed);
        let anew =
            || format!("restart {agent}, have it use a tool, then run `agent-skills doctor` again");
        let trust = settings.trust.filter(|_| own).map(str::to_owned);
        Check::warn("agent-never-seen", text, trust.unwrap_or_else(anew))
    });
    for (_, scope, proof) in proofs.iter().filter(|(its, ..)| *its == agent) {
        let text = format!("what {agent} runs ({scope})");
        checks.push(if let Err(why) = proof {
            let text = format!("{text} gives no valid answer: {why}");
            let remedy = format!("`agent-skills hosts add {agent} --scope {scope}` rewrites it");
            Check::fail("agent-command", text, remedy)
        } else {
            Check::ok("agent-command", format!("{text} answers"))
        });
    }
    checks.extend(settings.unseen.iter().map(|unseen| {
        let text =
            format!("{agent} calls no hook for {unseen}, so only its own settings limit that");
        Check::ok("agent-unseen", text)
    }));
    checks
}

/// Whether the commands of each agent answer. All run at once, since each may use up the time that it
/// is given.
fn proofs(facts: &Facts, connected: &[&(Agent, Vec<ConnectionState>)]) -> Vec<HookTest> {
    let mut runs: Vec<(Agent, ConnectionScope, &[String])> = Vec::new();
    for (agent, found) in connected {
        for found in found {
            for run in &found.commands {
                let is_known = runs
                    .iter()
                    .any(|(its, _, known)| its == agent && *known == run);
                if !is_known {
                    runs.push((*agent, found.scope, run));
                }
            }
        }
    }
    // Our own question must not count as the agent's.
    let seen = connected.iter().map(|(agent, _)| {
        let file = seen_file(facts.state(), *agent);
        let at = file.metadata().and_then(|found| found.modified()).ok();
        (file, at)
    });
    let seen: Vec<(PathBuf, Option<SystemTime>)> = seen.collect();
    let (project, env) = (&facts.run.project_dir(), &facts.run.env);
    let proofs = std::thread::scope(|threads| {
        let start = |(agent, scope, run): (Agent, ConnectionScope, &[String])| {
            let (payload, run) = (harmless(agent, project).to_string(), run.to_vec());
            let thread = threads.spawn(move || proved(&run, &payload, project, env));
            (agent, scope, thread)
        };
        let started: Vec<_> = runs.into_iter().map(start).collect();
        let ended = started.into_iter().map(|(agent, scope, thread)| {
            let ended = thread.join();
            let proof = ended.unwrap_or_else(|_| Err("it could not be run".to_owned()));
            (agent, scope, proof)
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
fn proved(run: &[String], payload: &str, project: &Path, env: &Env) -> Result<(), String> {
    let (program, rest) = run.split_first().ok_or("it is empty")?;
    let mut command = Command::new(program);
    command.args(rest).current_dir(project);
    let said = answer(&mut command, payload, env)?;
    let is_answer = said.trim().is_empty()
        || serde_json::from_str::<Value>(&said).is_ok_and(|value| value.is_object());
    if is_answer {
        return Ok(());
    }
    Err("its answer is not the JSON that the agent reads".to_owned())
}

/// A call that nothing forbids, as the agent would send it.
fn harmless(agent: Agent, directory: &Path) -> Value {
    let table = agent.table();
    let keys = &table.keys;
    let is_gate = |event: &&(&str, EventKind)| event.1 == EventKind::BeforeTool;
    let event = table.events.iter().find(is_gate).map(|event| event.0);
    let nothing = |does: Capability| matches!(does, Capability::Todo | Capability::Harmless);
    let mut tools = table.vocabulary.tools.iter();
    let harmless = tools.clone().find(|tool| nothing(tool.does));
    let reading = || {
        let reads = tools.find(|tool| tool.does == Capability::ReadFile)?;
        Some((reads.names[0], json!({*reads.keys.first()?: "/dev/null"})))
    };
    let call = harmless
        .map(|tool| (tool.names[0], json!({})))
        .or_else(reading);
    let (tool, arguments) = call.unwrap_or(("none", json!({})));
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
