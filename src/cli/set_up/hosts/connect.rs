//! `hosts add` and `hosts remove`: what would change is shown and asked about.

use std::fmt::Write as _;

use super::skills;
use crate::cli::caller::pasted;
use crate::cli::consent::Consenting;
use crate::cli::options::{Common, Findings};
use crate::cli::outcome::Outcomes;
use crate::cli::{Answer, Caller};
use crate::connection::{Change, Connector, Found, Invocation, Places, found, program};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::host::agent::{Agent, Mode, Scope};
use crate::skill::{one_line, unified_diff};

/// Connects agents.
pub fn add(
    facts: &Facts,
    common: Common,
    caller: Caller,
    (agents, scope, mode): (&[Agent], Scope, Option<Mode>),
) -> Answer {
    let wanted = Invocation {
        program: program(&facts.run.env)?,
        mode,
    };
    let connecting = Connecting::new(facts, common, caller);
    let mut outcomes = Outcomes::new(common, caller);
    for agent in agents {
        let added = connecting.add(*agent, scope, &wanted);
        outcomes.push(agent.as_str(), added);
    }
    outcomes.answer()
}

/// Disconnects agents; without a scope, for the user and for the project.
pub fn remove(
    facts: &Facts,
    common: Common,
    caller: Caller,
    agents: &[Agent],
    scope: Option<Scope>,
) -> Answer {
    let connecting = Connecting::new(facts, common, caller);
    let mut outcomes = Outcomes::new(common, caller);
    for agent in agents {
        let removed = connecting.remove(*agent, scope);
        outcomes.push(agent.as_str(), removed);
    }
    outcomes.answer()
}

struct Connecting<'a> {
    facts: &'a Facts,
    places: Places,
    connector: Connector,
    consenting: Consenting,
    dry_run: bool,
}

impl<'a> Connecting<'a> {
    fn new(facts: &'a Facts, common: Common, caller: Caller) -> Self {
        let places = Places::of(&facts.run);
        Self {
            connector: Connector::new(places.clone(), &facts.run.dirs.plugin),
            places,
            facts,
            consenting: Consenting::new(facts, common.consent(Findings::default()), caller),
            dry_run: common.dry_run,
        }
    }

    fn found(&self, agent: Agent) -> Vec<Found> {
        found(&self.places, &self.facts.run.dirs.plugin, agent)
    }

    fn add(&self, agent: Agent, scope: Scope, wanted: &Invocation) -> Result<String> {
        let change = self.connector.add(agent, scope, wanted)?;
        let path = one_line(&change.path().display().to_string());
        let links = match scope {
            Scope::User => skills::unfound(self.facts, agent)?,
            Scope::Project | Scope::Managed => String::new(),
        };
        if change.is_nothing() && links.is_empty() {
            return Ok(format!("{agent} is connected already: `{path}`\n"));
        }
        let settings = agent.settings();
        let mut notes = String::new();
        if scope == Scope::Project {
            let _ = writeln!(notes, "Note: {}.", settings.project_note);
        }
        if let Some((mode, less)) = wanted.mode.and_then(|it| Some((it, agent.lacks(it)?))) {
            let _ = writeln!(notes, "Note: `{mode}` in {agent}: {less}.");
        }
        for unseen in settings.unseen {
            let _ = writeln!(notes, "Note: {agent} tells no hook of {unseen}.");
        }
        let shown = format!("{}{links}{notes}", diff(&change));
        if self.dry_run {
            return Ok(format!(
                "would connect {agent} for {}:\n{shown}",
                whom(scope)
            ));
        }
        let scope_flag = format!("--scope={scope}");
        let mut words = vec!["hosts", "add", agent.as_str(), &scope_flag];
        let mode = wanted.mode.map(|mode| format!("--mode={mode}"));
        words.extend(mode.as_deref());
        let question = format!("Connect {agent} for {}?", whom(scope));
        if !self
            .consenting
            .to_decide(&shown, &question, &pasted(&words))?
        {
            return Err(declined(agent, "connected"));
        }
        self.connector
            .apply(&change)
            .map_err(|error| root(error, scope))?;
        let all = self.found(agent).into_iter();
        let missing = all.filter(|found| found.scope == scope);
        let missing = missing.flat_map(|found| found.missing);
        let missing: Vec<String> = missing.map(|lack| lack.to_string()).collect();
        let outcome = if missing.is_empty() {
            "it asks agent-skills before each tool call from its next start on".to_owned()
        } else {
            format!("but it does not ask yet: {}", missing.join("; "))
        };
        let mut said = format!(
            "connected {agent} for {}: `{path}`; {outcome}\n",
            whom(scope)
        );
        match scope {
            Scope::User => said += &skills::find(self.facts, agent)?,
            Scope::Project => said += &skills::of_project(self.facts, agent)?,
            Scope::Managed => {}
        }
        if !self.consenting.asks() {
            said += &notes;
        }
        if let Some(trust) = settings.trust.filter(|_| scope != Scope::Managed) {
            let _ = writeln!(said, "Next: {trust}.");
        }
        Ok(said)
    }

    fn remove(&self, agent: Agent, scope: Option<Scope>) -> Result<String> {
        let scopes = match scope {
            Some(scope) => vec![scope],
            None => vec![Scope::User, Scope::Project],
        };
        let mut said = String::new();
        for each in &scopes {
            said += &self.remove_from(agent, *each)?;
        }
        if said.is_empty() {
            let of: Vec<&str> = scopes.into_iter().map(whom).collect();
            said = format!("{agent} is not connected for {}\n", of.join(" or for "));
        }
        let rest = self.found(agent).into_iter();
        let rest = rest.filter(|found| found.scope == Scope::Managed && scope.is_none());
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
    fn remove_from(&self, agent: Agent, scope: Scope) -> Result<String> {
        let Some(change) = self.connector.remove(agent, scope)? else {
            if !self.dry_run {
                self.connector.forget(agent, scope)?;
            }
            return self.lose(agent, scope, self.dry_run);
        };
        let path = one_line(&change.path().display().to_string());
        let how = if change.is_exact {
            "it is as it was before"
        } else {
            "only what `hosts add` wrote goes, since the file was changed after that"
        };
        let links = self.lose(agent, scope, true)?;
        let shown = format!("{}{how}\n{links}", diff(&change));
        if self.dry_run {
            let whom = whom(scope);
            return Ok(format!("would disconnect {agent} for {whom}:\n{shown}"));
        }
        let scope_flag = format!("--scope={scope}");
        let words = ["hosts", "remove", agent.as_str(), &scope_flag];
        let question = format!("Disconnect {agent} for {}?", whom(scope));
        if !self
            .consenting
            .to_decide(&shown, &question, &pasted(&words))?
        {
            return Err(declined(agent, "disconnected"));
        }
        self.connector
            .apply(&change)
            .map_err(|error| root(error, scope))?;
        let whom = whom(scope);
        let mut said = format!("disconnected {agent} for {whom}: `{path}`; {how}\n");
        said += &self.lose(agent, scope, false)?;
        if scope == Scope::User {
            said += &skills::kept(self.facts, agent);
        }
        Ok(said)
    }

    /// The links that go with the user's connection, unless an administrator connected the agent too.
    fn lose(&self, agent: Agent, scope: Scope, dry_run: bool) -> Result<String> {
        let stays = |found: &Found| found.scope == Scope::Managed && found.is_connected;
        if scope != Scope::User || self.found(agent).iter().any(stays) {
            return Ok(String::new());
        }
        skills::lose(self.facts, agent, dry_run)
    }
}

fn declined(agent: Agent, what: &str) -> Error {
    let text = format!("{agent} was not {what}: you said no");
    Error::new(text).hint("the same command asks again")
}

/// The error of a change that perhaps only an administrator may make.
fn root(error: Error, scope: Scope) -> Error {
    if scope == Scope::Managed {
        return error.hint("an administrator writes there: run it as root");
    }
    error
}

fn whom(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "you",
        Scope::Project => "this project",
        Scope::Managed => "every user",
    }
}

fn diff(change: &Change) -> String {
    let path = one_line(&change.path().display().to_string());
    let (before, after) = change.texts();
    let name = |text: Option<&str>| text.map_or("/dev/null", |_| &path).to_owned();
    let names = (name(before), name(after));
    unified_diff(
        (&names.0, &names.1),
        before.unwrap_or_default(),
        after.unwrap_or_default(),
    )
}
