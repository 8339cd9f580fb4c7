//! The table of hosts: chibi first, then the agents.

use std::path::Path;

use serde::Serialize;

use super::super::doctor::ask::ask;
use super::super::doctor::check::Outcome;
use super::super::doctor::placement;
use crate::cli::prelude::*;
use crate::connection::{Connector, Found, Lack, last_seen};
use crate::host::agent::{Agent, Mode, Scope};
use crate::host::program::PROGRAM;
use crate::host::{Protocol, release, tools};
use crate::script::find_program;
use crate::sys::Moment;

/// A host, in the format that `--json` documents.
#[derive(Serialize)]
struct Row {
    host: &'static str,
    /// Whether its program is on PATH.
    found: bool,
    /// That program.
    program: Option<String>,
    /// What it says its version is; `null` if it says nothing.
    version: Option<String>,
    /// Whether it asks us before each tool call, as far as its files say.
    connected: bool,
    /// Its files with our entries.
    scopes: Vec<ScopeRow>,
    /// When it called us last; `null` if it never did.
    last_seen: Option<String>,
    /// What is missing, and the next step.
    missing: Vec<String>,
    /// The modes that it can carry out.
    modes: Vec<&'static str>,
    /// Calls that it tells no hook of.
    unseen: Vec<&'static str>,
    /// Only of chibi.
    #[serde(flatten)]
    chibi: Option<Value>,
    #[serde(skip)]
    seen: Option<Moment>,
}

#[derive(Serialize)]
struct ScopeRow {
    scope: &'static str,
    file: String,
    connected: bool,
    /// The mode in the entry; `null` if the configuration decides.
    mode: Option<&'static str>,
}

/// Every host.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn show(call: Call) -> Result<String> {
    let connector = Connector::of(&call.facts.run);
    // Each program takes a moment to say its version.
    let versions: Vec<Asked> = std::thread::scope(|scope| {
        let env = &call.facts.run.env;
        let asked = Agent::ALL.map(|agent| {
            scope.spawn(move || {
                let settings = agent.settings();
                let mut names = settings.programs.iter().chain(&settings.editor);
                let program = names.find_map(|name| find_program(name, env))?;
                let version = ask(&program, "--version", env).ok();
                Some((program.display().to_string(), version))
            })
        });
        let answers = asked.into_iter().map(|thread| thread.join().ok().flatten());
        answers.collect()
    });
    let agents = Agent::ALL.into_iter().zip(versions);
    let rows: Vec<Row> = std::iter::once(chibi(call.facts))
        .chain(agents.map(|(agent, asked)| row(call.facts, &connector, agent, asked)))
        .collect();
    if call.common.json {
        return json::bare(&rows);
    }
    Ok(table(&rows).render(call.screen))
}

type Asked = Option<(String, Option<String>)>;

fn row(facts: &Facts, connector: &Connector, agent: Agent, asked: Asked) -> Row {
    let (program, version) = asked.unzip();
    let version = version.flatten();
    let all = connector.found(agent);
    let connected = all.iter().any(|found| found.is_connected);
    let seen = last_seen(facts.state(), agent);
    let lacks = all.iter().flat_map(|found| &found.missing);
    let mut missing: Vec<String> = lacks.map(Lack::to_string).collect();
    let settings = agent.settings();
    let is_own = |found: &Found| found.is_connected && found.scope != Scope::Managed;
    if settings.trust.is_some() && seen.is_none() && all.iter().any(is_own) {
        missing.push(format!("not yet seen: trust it in {agent} with /hooks"));
    }
    let config = facts.config().unwrap_or_default();
    let set = config.hosts.get(&agent).and_then(|host| host.mode);
    let of = |found: &Found| found.mode.or(set.filter(|_| found.is_connected));
    for mode in all.iter().filter_map(of) {
        let less = agent.lacks(mode);
        missing.extend(less.map(|less| format!("`{mode}`: {less}")));
    }
    let modes = Mode::ALL
        .into_iter()
        .filter(|mode| agent.lacks(*mode).is_none());
    let scopes = all.iter().map(|found| ScopeRow {
        scope: found.scope.as_str(),
        file: found.path.display().to_string(),
        connected: found.is_connected,
        mode: of(found).map(Mode::as_str),
    });
    Row {
        host: agent.as_str(),
        found: program.is_some(),
        program,
        version: version.as_deref().and_then(first_line),
        connected,
        scopes: scopes.collect(),
        last_seen: seen.map(|seen| seen.to_string()),
        missing,
        modes: modes.map(Mode::as_str).collect(),
        unseen: settings.unseen.to_vec(),
        chibi: None,
        seen,
    }
}

fn first_line(version: &str) -> Option<String> {
    let line = version.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned)
}

fn chibi(facts: &Facts) -> Row {
    let program = find_program(PROGRAM, &facts.run.env);
    let version = program
        .as_ref()
        .and_then(|program| ask(program, "--version", &facts.run.env).ok());
    let protocol = version.as_deref().and_then(release).and_then(Protocol::of);
    let dir = &placement::plugin_dir(&facts.run);
    let mut checks = placement::of_plugin(&facts.run);
    let worst = checks.iter().map(|check| check.outcome).max();
    checks.retain(|check| Some(check.outcome) == worst);
    let worst = checks.into_iter().next();
    let connected = worst
        .as_ref()
        .is_some_and(|check| check.outcome != Outcome::Fail);
    let home = dir.ancestors().nth(2).unwrap_or(dir);
    let shown = |path: &Path| path.display().to_string();
    let state = worst.as_ref().map(|check| check.message.clone());
    let remedy = worst.and_then(|check| Some(format!("{}: {}", check.message, check.remedy?)));
    Row {
        host: PROGRAM,
        found: program.is_some(),
        program: program.as_deref().map(shown),
        version: version.map(|version| version.trim().to_owned()),
        connected,
        scopes: Vec::new(),
        last_seen: None,
        // A machine without chibi lacks nothing.
        missing: remedy.filter(|_| program.is_some()).into_iter().collect(),
        modes: vec![Mode::Restrict.as_str()],
        unseen: Vec::new(),
        chibi: Some(json!({
            // How it passes data, if that is known.
            "protocol": protocol.map(Protocol::as_str),
            // Where it looks for plugins.
            "home": shown(home),
            // Where agent-skills is, or has to be, and what was found there.
            "plugin": shown(&dir.join("agent-skills")),
            "state": state.unwrap_or_default(),
            "tools": protocol.map(tools::of).unwrap_or_default(),
        })),
        seen: None,
    }
}

fn table(rows: &[Row]) -> Table {
    let columns = vec![
        Column::new("HOST", 0),
        Column::new("FOUND", 12),
        Column::new("CONNECTED", 12),
        Column::new("LAST CALL", 0),
    ];
    let mut table = Table::new(columns, &["LAST CALL", "FOUND"]);
    for row in rows {
        let found = match (row.found, &row.version) {
            (false, _) => Cell::new("not found").paint(Paint::Dim),
            (true, None) => Cell::new("of unknown version"),
            (true, Some(version)) => Cell::new(one_line(version)),
        };
        let scopes = row.scopes.iter().filter(|scope| scope.connected);
        let scopes = scopes.map(|scope| match scope.mode {
            Some(mode) => format!("{} ({mode})", scope.scope),
            None => scope.scope.to_owned(),
        });
        let scopes: Vec<String> = scopes.collect();
        let connected = match (row.connected, scopes.as_slice()) {
            (false, _) if row.missing.is_empty() => Cell::new("no").paint(Paint::Dim),
            (false, _) => Cell::new("no").paint(Paint::Bad),
            (true, []) => Cell::new("yes").paint(Paint::Good),
            (true, scopes) => Cell::new(scopes.join(", ")).paint(Paint::Good),
        };
        let last = match row.seen {
            Some(seen) => Cell::new(seen.local()),
            None if row.connected && row.chibi.is_none() => Cell::new("never"),
            None => Cell::new(""),
        };
        let missing = row.missing.iter();
        let below = missing.map(|line| Cell::new(one_line(line)).paint(Paint::Warn));
        table.row(
            vec![Cell::new(row.host), found, connected, last],
            below.collect(),
        );
    }
    table
}
