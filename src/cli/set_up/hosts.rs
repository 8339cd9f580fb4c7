//! `hosts`: which hosts this machine has and how agent-skills is connected to each; connecting them
//! and the undo. What would change is shown and asked about.

use super::doctor::check::{CheckStatus, ask};
use super::doctor::placement;
use crate::cli::prelude::*;
use crate::connection::{
    ConnectionChange, ConnectionFault, ConnectionState, Connections, Invocation, last_seen, program,
};
use crate::host::agent::{ConnectionScope, HookMode};
use crate::host::{release, tools};
use crate::sharing::SharedSkills;
use crate::skill::unified_diff;

/// The layers whose skills are this user's.
const OWN: [Layer; 2] = [Layer::Plugin, Layer::Personal];

/// Show the hosts on this machine, and connect or disconnect them
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct HostsArgs {
    /// What to do; without it, they are shown
    #[command(subcommand)]
    pub change: Option<HostAction>,
}

/// What `hosts` can change.
#[derive(Debug, Subcommand)]
pub enum HostAction {
    /// Connect agents: each asks agent-skills before every tool call
    Add {
        /// claude-code, codex, copilot, gemini, qwen-code, opencode or cursor
        #[arg(required = true, value_name = "HOST")]
        hosts: Vec<Agent>,
        /// For whom: user (in every project), project (this one) or managed (every user; root)
        #[arg(long, default_value_t = ConnectionScope::User)]
        scope: ConnectionScope,
        /// restrict, grant, both or ask; without it, the configuration decides
        #[arg(long)]
        mode: Option<HookMode>,
    },
    /// Disconnect agents: remove what `add` wrote, and nothing else
    Remove {
        /// Their names
        #[arg(required = true, value_name = "HOST")]
        hosts: Vec<Agent>,
        /// Only for user, project or managed; without it, for the user and this project
        #[arg(long)]
        scope: Option<ConnectionScope>,
    },
}

impl HostsArgs {
    /// Shows the hosts, or connects or disconnects some.
    pub fn run(&self, call: CliCall) -> Answer {
        let each = |hosts: &[Agent], change: &dyn Fn(Agent) -> Result<String>| {
            let mut outcomes = Outcomes::new(call);
            for agent in hosts {
                outcomes.push(agent.as_str(), change(*agent));
            }
            outcomes.answer()
        };
        match &self.change {
            None => Ok(show(call)?),
            Some(HostAction::Add { hosts, scope, mode }) => {
                let program = program(&call.facts.run.env)?;
                let mode = *mode;
                let wanted = Invocation { program, mode };
                each(hosts, &|agent| add(call, agent, *scope, &wanted))
            }
            Some(HostAction::Remove { hosts, scope }) => {
                each(hosts, &|agent| remove(call, agent, *scope))
            }
        }
    }
}

/// Has the agent ask us, and find the installed skills: by the links that `install` makes for agents
/// that are connected already.
fn add(call: CliCall, agent: Agent, scope: ConnectionScope, wanted: &Invocation) -> Result<String> {
    let change = Connections::of(&call.facts.run).add(agent, scope, wanted)?;
    let path = one_line(&change.path().display().to_string());
    let links = match scope {
        ConnectionScope::User => make_links(call, agent, &OWN, true)?,
        ConnectionScope::Project | ConnectionScope::Managed => String::new(),
    };
    if change.is_nothing() && links.is_empty() {
        return Ok(format!("{agent} is connected already: `{path}`\n"));
    }
    let settings = agent.table();
    let mut notes = String::new();
    if scope == ConnectionScope::Project {
        let _ = writeln!(notes, "Note: {}.", settings.project_note);
    }
    if let Some((mode, less)) = wanted.mode.and_then(|it| Some((it, agent.lacks(it)?))) {
        let _ = writeln!(notes, "Note: `{mode}` in {agent}: {less}.");
    }
    for unseen in settings.unseen {
        let _ = writeln!(notes, "Note: {agent} calls no hook for {unseen}.");
    }
    let shown = format!("{}{links}{notes}", diff(&change));
    if call.common.dry_run {
        let whom = in_words(scope);
        return Ok(format!("would connect {agent} for {whom}:\n{shown}"));
    }
    let words = ("Connect", "connected");
    apply(call, (&change, &shown), (agent, scope), words)?;
    let all = Connections::of(&call.facts.run).found(agent).into_iter();
    let missing = all.filter(|found| found.scope == scope);
    let missing = missing.flat_map(|found| found.missing);
    let missing: Vec<String> = missing.map(|lack| lack.to_string()).collect();
    let outcome = if missing.is_empty() {
        "from its next start it asks agent-skills before each tool call".to_owned()
    } else {
        format!("but it does not call the hook yet: {}", missing.join("; "))
    };
    let whom = in_words(scope);
    let mut said = format!("connected {agent} for {whom}: `{path}`; {outcome}\n");
    match scope {
        ConnectionScope::User => said += &make_links(call, agent, &OWN, false)?,
        // Those links are part of the project.
        ConnectionScope::Project
            if !make_links(call, agent, &[Layer::Project], true)?.is_empty() =>
        {
            let _ = writeln!(
                said,
                "Next: `agent-skills install --layer project --for {agent}` has it find the \
                 project's skills."
            );
        }
        ConnectionScope::Project | ConnectionScope::Managed => {}
    }
    if !call.asks() {
        said += &notes;
    }
    if let Some(trust) = settings.trust.filter(|_| scope != ConnectionScope::Managed) {
        let _ = writeln!(said, "Next: {trust}.");
    }
    Ok(said)
}

/// Takes away what [`add`] wrote.
fn remove(call: CliCall, agent: Agent, scope: Option<ConnectionScope>) -> Result<String> {
    let scopes = match scope {
        Some(scope) => vec![scope],
        None => vec![ConnectionScope::User, ConnectionScope::Project],
    };
    let mut said = String::new();
    for each in &scopes {
        said += &remove_from(call, agent, *each)?;
    }
    if said.is_empty() {
        let of: Vec<&str> = scopes.into_iter().map(in_words).collect();
        said = format!("{agent} is not connected for {}\n", of.join(" or for "));
    }
    let rest = Connections::of(&call.facts.run).found(agent).into_iter();
    let rest = rest.filter(|found| found.scope == ConnectionScope::Managed && scope.is_none());
    for found in rest {
        let _ = writeln!(
            said,
            "Note: an administrator connected it for every user, in `{}`.",
            found.path.display()
        );
    }
    Ok(said)
}

/// What was done; empty if there was nothing to do.
fn remove_from(call: CliCall, agent: Agent, scope: ConnectionScope) -> Result<String> {
    let Some(change) = Connections::of(&call.facts.run).remove(agent, scope)? else {
        if !call.common.dry_run {
            Connections::of(&call.facts.run).forget(agent, scope)?;
        }
        return unlink(call, agent, scope, call.common.dry_run);
    };
    let path = one_line(&change.path().display().to_string());
    let how = if change.is_exact {
        "as it was before `hosts add`"
    } else {
        "only what `hosts add` wrote is removed, since the file was changed after that"
    };
    let links = unlink(call, agent, scope, true)?;
    let shown = format!("{}{how}\n{links}", diff(&change));
    if call.common.dry_run {
        let whom = in_words(scope);
        return Ok(format!("would disconnect {agent} for {whom}:\n{shown}"));
    }
    let words = ("Disconnect", "disconnected");
    apply(call, (&change, &shown), (agent, scope), words)?;
    let whom = in_words(scope);
    let mut said = format!("disconnected {agent} for {whom}: `{path}`; {how}\n");
    said += &unlink(call, agent, scope, false)?;
    Ok(said)
}

/// Asks, and makes a change: with the question and what was done in words.
fn apply(
    call: CliCall,
    (change, shown): (&ConnectionChange, &str),
    (agent, scope): (Agent, ConnectionScope),
    (question, done): (&str, &str),
) -> Result<()> {
    let question = format!("{question} {agent} for {}?", in_words(scope));
    let undone = format!("{agent} was not {done}");
    call.to_agree(shown, &question, &undone)?;
    let applied = Connections::of(&call.facts.run).apply(change);
    applied.map_err(|error| match scope {
        ConnectionScope::Managed => error.hint("an administrator writes there: run it as root"),
        ConnectionScope::User | ConnectionScope::Project => error,
    })
}

/// Has the agent find what is installed in these layers; returns each link that was made, or
/// something else in its place, a line each. A dry run makes none.
fn make_links(call: CliCall, agent: Agent, layers: &[Layer], dry_run: bool) -> Result<String> {
    let mut text = String::new();
    for layer in layers {
        let links = share_installed(call.facts, *layer, &[agent], dry_run)?;
        text.extend(links.iter().map(|it| link_line(it, dry_run)));
    }
    Ok(text)
}

/// The links that go with the user's connection, a line each: none that another connected agent
/// needs, and none if an administrator connected the agent too.
fn unlink(call: CliCall, agent: Agent, scope: ConnectionScope, dry_run: bool) -> Result<String> {
    let stays =
        |found: &ConnectionState| found.scope == ConnectionScope::Managed && found.is_connected;
    let found = Connections::of(&call.facts.run).found(agent);
    if scope != ConnectionScope::User || found.iter().any(stays) {
        return Ok(String::new());
    }
    let mut others = connected(&call.facts.run);
    others.retain(|other| *other != agent);
    let mut text = String::new();
    let shared = |layer| SharedSkills::of(call.facts, layer);
    for shared in OWN.into_iter().filter_map(shared) {
        let gone = shared.disconnect(agent, &others, listed_name, dry_run)?;
        text += &removed_links(&gone, dry_run);
        if shared.all().any(|(_, link)| link.agents.contains(&agent)) && !dry_run {
            let _ = writeln!(
                text,
                "Note: {agent} still finds skills by links that others need or made; nothing \
                 restricts them there now."
            );
        }
    }
    Ok(text)
}

fn in_words(scope: ConnectionScope) -> &'static str {
    match scope {
        ConnectionScope::User => "you",
        ConnectionScope::Project => "this project",
        ConnectionScope::Managed => "every user",
    }
}

fn diff(change: &ConnectionChange) -> String {
    let path = one_line(&change.path().display().to_string());
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    let name = |text: Option<&str>| text.map_or("/dev/null", |_| &path).to_owned();
    let names = (name(before), name(after));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    unified_diff((&names.0, &names.1), before, after)
}

/// A host as `hosts` lists it, in the format that `--json` documents.
#[derive(Serialize)]
struct Row {
    host: &'static str,
    /// Whether its program is on PATH.
    found: bool,
    program: Option<String>,
    version: Option<String>,
    /// Whether it asks us before each tool call, as far as its files say.
    connected: bool,
    scopes: Vec<Value>,
    last_seen: Option<String>,
    /// What is missing, and the next step.
    missing: Vec<String>,
    /// The modes that it can carry out, and calls that it tells no hook of.
    modes: Vec<&'static str>,
    unseen: &'static [&'static str],
    /// What is said only of chibi.
    #[serde(flatten)]
    more: Value,
    /// How it is connected, and when it called last, for people.
    #[serde(skip)]
    shown: (String, String),
}

/// A program and what it says its version is.
type Asked = Option<(String, Option<String>)>;

fn ask_version(names: &[&str], env: &Env) -> Asked {
    let program = names.iter().find_map(|name| find_program(name, env))?;
    let version = ask(&program, "--version", env).ok();
    Some((program.display().to_string(), version))
}

/// Every host: chibi first, then the agents.
fn show(call: CliCall) -> Result<String> {
    let connector = Connections::of(&call.facts.run);
    // Each program takes a moment to say its version.
    let versions: Vec<Asked> = std::thread::scope(|scope| {
        let env = &call.facts.run.env;
        let asked = Agent::ALL.map(|agent| {
            scope.spawn(move || {
                let settings = agent.table();
                let names = settings.programs.iter().chain(&settings.editor);
                ask_version(&names.copied().collect::<Vec<_>>(), env)
            })
        });
        let answers = asked.into_iter().map(|thread| thread.join().ok().flatten());
        answers.collect()
    });
    let mut hosts = vec![chibi(call.facts)];
    let agents = Agent::ALL.into_iter().zip(versions);
    hosts.extend(agents.map(|(agent, asked)| of_agent(call.facts, &connector, agent, asked)));
    if call.common.json {
        return json::bare(&hosts);
    }
    let columns = [
        ("HOST", 0),
        ("FOUND", 12),
        ("CONNECTED", 12),
        ("LAST CALL", 0),
    ];
    let mut table = Table::new(&columns, "LAST CALL, FOUND");
    for host in hosts {
        let missing = host.missing.iter();
        let below = missing.map(|line| Cell::new(one_line(line)).paint(Paint::Warn));
        let found = match &host.version {
            _ if !host.found => Cell::new("not found").paint(Paint::Dim),
            None => Cell::new("of unknown version"),
            Some(version) => Cell::new(one_line(version)),
        };
        let (how, last) = host.shown;
        let connected = match host.connected {
            true => Cell::new(how).paint(Paint::Good),
            false if host.missing.is_empty() => Cell::new("no").paint(Paint::Dim),
            false => Cell::new("no").paint(Paint::Bad),
        };
        let cells = vec![Cell::new(host.host), found, connected, Cell::new(last)];
        table.row(cells, below.collect());
    }
    Ok(table.render(call.screen))
}

fn of_agent(facts: &Facts, connector: &Connections, agent: Agent, asked: Asked) -> Row {
    let first_line = |version: String| {
        let line = version.lines().map(str::trim).find(|line| !line.is_empty());
        line.map(str::to_owned)
    };
    let (program, version) = asked.unzip();
    let all = connector.found(agent);
    let is_connected = all.iter().any(|found| found.is_connected);
    let seen = last_seen(facts.state(), agent);
    let lacks = all.iter().flat_map(|found| &found.missing);
    let mut missing: Vec<String> = lacks.map(ConnectionFault::to_string).collect();
    let settings = agent.table();
    let is_own =
        |found: &ConnectionState| found.is_connected && found.scope != ConnectionScope::Managed;
    if settings.trust.is_some() && seen.is_none() && all.iter().any(is_own) {
        missing.push(format!("not yet seen: trust it in {agent} with /hooks"));
    }
    let config = facts.config().unwrap_or_default();
    let set = config.hosts.get(&agent).and_then(|host| host.mode);
    let of = |found: &ConnectionState| found.mode.or(set.filter(|_| found.is_connected));
    for mode in all.iter().filter_map(of) {
        let less = agent.lacks(mode);
        missing.extend(less.map(|less| format!("`{mode}`: {less}")));
    }
    let (mut scopes, mut named) = (Vec::new(), Vec::new());
    for found in &all {
        let (scope, mode) = (found.scope.as_str(), of(found).map(HookMode::as_str));
        // The file with our entries; without a mode in them, the configuration decides.
        scopes.push(json!({
            "scope": scope,
            "file": found.path.display().to_string(),
            "connected": found.is_connected,
            "mode": mode,
        }));
        let mode = mode.map_or_else(String::new, |mode| format!(" ({mode})"));
        named.extend(found.is_connected.then(|| format!("{scope}{mode}")));
    }
    let modes = HookMode::ALL.into_iter();
    let modes = modes.filter(|mode| agent.lacks(*mode).is_none());
    let never = if is_connected { "never" } else { "" };
    Row {
        host: agent.as_str(),
        found: program.is_some(),
        program,
        version: version.flatten().and_then(first_line),
        connected: is_connected,
        scopes,
        last_seen: seen.map(|seen| seen.to_string()),
        missing,
        modes: modes.map(HookMode::as_str).collect(),
        unseen: settings.unseen,
        more: json!({}),
        shown: (
            named.join(", "),
            seen.map_or_else(|| never.to_owned(), UnixMillis::local),
        ),
    }
}

fn chibi(facts: &Facts) -> Row {
    let (program, version) = ask_version(&[PROGRAM], &facts.run.env).unzip();
    let version = version.flatten().map(|version| version.trim().to_owned());
    let protocol = version.as_deref().and_then(release).and_then(Protocol::of);
    let dir = &placement::plugin_dir(&facts.run);
    let checks = placement::of_plugin(&facts.run).into_iter().rev();
    // Of several that are equally bad, the first.
    let worst = checks.max_by_key(|check| check.outcome);
    let is_connected = worst.as_ref();
    let is_connected = is_connected.is_some_and(|check| check.outcome != CheckStatus::Fail);
    let shown = |path: &Path| path.display().to_string();
    let state = worst.as_ref().map(|check| check.message.clone());
    let remedy = worst.and_then(|check| Some(format!("{}: {}", check.message, check.remedy?)));
    Row {
        host: PROGRAM,
        found: program.is_some(),
        // A machine without chibi lacks nothing.
        missing: remedy.filter(|_| program.is_some()).into_iter().collect(),
        program,
        version,
        connected: is_connected,
        scopes: Vec::new(),
        last_seen: None,
        modes: vec![HookMode::Restrict.as_str()],
        unseen: &[],
        more: json!({
            // How it passes data, if that is known.
            "protocol": protocol.map(Protocol::as_str),
            // Where it looks for plugins.
            "home": shown(dir.ancestors().nth(2).unwrap_or(dir)),
            // Where agent-skills is, or has to be, and what was found there.
            "plugin": shown(&dir.join("agent-skills")),
            "state": state.unwrap_or_default(),
            "tools": protocol.map(tools::of).unwrap_or_default(),
        }),
        shown: ("yes".to_owned(), String::new()),
    }
}
