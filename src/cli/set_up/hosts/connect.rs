//! `hosts add` and `hosts remove`: what would change is shown and asked about.

use std::fmt::Write as _;

use crate::cli::agents::{connected, line, lines, share_installed};
use crate::cli::prelude::*;
use crate::connection::{Change, Connector, Found, Invocation};
use crate::host::agent::{Agent, Scope};
use crate::marketplace::listed_name;
use crate::sharing::Shared;
use crate::skill::unified_diff;

/// The layers whose skills are this user's.
const OWN: [Layer; 2] = [Layer::Plugin, Layer::Personal];

/// Connects or disconnects each of these agents.
pub fn each(
    call: Call,
    agents: &[Agent],
    change: impl Fn(&Connecting, Agent) -> Result<String>,
) -> Answer {
    let connecting = Connecting {
        connector: Connector::of(&call.facts.run),
        call,
    };
    let mut outcomes = Outcomes::new(call);
    for agent in agents {
        outcomes.push(agent.as_str(), change(&connecting, *agent));
    }
    outcomes.answer()
}

/// What connects agents, and asks before that.
pub struct Connecting<'a> {
    call: Call<'a>,
    connector: Connector,
}

impl Connecting<'_> {
    /// Has the agent ask us, and find the installed skills: by the links that `install` makes for agents
    /// that are connected already.
    pub fn add(&self, agent: Agent, scope: Scope, wanted: &Invocation) -> Result<String> {
        let change = self.connector.add(agent, scope, wanted)?;
        let path = one_line(&change.path().display().to_string());
        let links = match scope {
            Scope::User => self.share(agent, &OWN, true)?,
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
        if self.call.common.dry_run {
            return Ok(format!(
                "would connect {agent} for {}:\n{shown}",
                whom(scope)
            ));
        }
        let words = ("Connect", "connected");
        self.apply((&change, &shown), (agent, scope), words)?;
        let all = self.connector.found(agent).into_iter();
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
            Scope::User => said += &self.share(agent, &OWN, false)?,
            // Those links are part of the project.
            Scope::Project if !self.share(agent, &[Layer::Project], true)?.is_empty() => {
                let _ = writeln!(
                    said,
                    "Next: `agent-skills install --layer project --for {agent}` has it find the \
                     project's skills."
                );
            }
            Scope::Project | Scope::Managed => {}
        }
        if !self.call.asks() {
            said += &notes;
        }
        if let Some(trust) = settings.trust.filter(|_| scope != Scope::Managed) {
            let _ = writeln!(said, "Next: {trust}.");
        }
        Ok(said)
    }

    /// Takes away what [`Connecting::add`] wrote.
    pub fn remove(&self, agent: Agent, scope: Option<Scope>) -> Result<String> {
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
        let rest = self.connector.found(agent).into_iter();
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
            if !self.call.common.dry_run {
                self.connector.forget(agent, scope)?;
            }
            return self.lose(agent, scope, self.call.common.dry_run);
        };
        let path = one_line(&change.path().display().to_string());
        let how = if change.is_exact {
            "it is as it was before"
        } else {
            "only what `hosts add` wrote goes, since the file was changed after that"
        };
        let links = self.lose(agent, scope, true)?;
        let shown = format!("{}{how}\n{links}", diff(&change));
        if self.call.common.dry_run {
            let whom = whom(scope);
            return Ok(format!("would disconnect {agent} for {whom}:\n{shown}"));
        }
        let words = ("Disconnect", "disconnected");
        self.apply((&change, &shown), (agent, scope), words)?;
        let whom = whom(scope);
        let mut said = format!("disconnected {agent} for {whom}: `{path}`; {how}\n");
        said += &self.lose(agent, scope, false)?;
        Ok(said)
    }

    /// Asks, and makes a change: with the question and what was done in words.
    fn apply(
        &self,
        (change, shown): (&Change, &str),
        (agent, scope): (Agent, Scope),
        (question, done): (&str, &str),
    ) -> Result<()> {
        let question = format!("{question} {agent} for {}?", whom(scope));
        let undone = format!("{agent} was not {done}");
        self.call.to_agree(shown, &question, &undone)?;
        let applied = self.connector.apply(change);
        applied.map_err(|error| match scope {
            Scope::Managed => error.hint("an administrator writes there: run it as root"),
            Scope::User | Scope::Project => error,
        })
    }

    /// Has the agent find what is installed in these layers; returns each link that was made, or
    /// something else in its place, a line each. A dry run makes none.
    fn share(&self, agent: Agent, layers: &[Layer], dry_run: bool) -> Result<String> {
        let mut text = String::new();
        for layer in layers {
            let links = share_installed(self.call.facts, *layer, &[agent], dry_run)?;
            text.extend(links.iter().map(|it| line(it, dry_run)));
        }
        Ok(text)
    }

    /// The links that go with the user's connection, a line each: none that another connected agent
    /// needs, and none if an administrator connected the agent too.
    fn lose(&self, agent: Agent, scope: Scope, dry_run: bool) -> Result<String> {
        let stays = |found: &Found| found.scope == Scope::Managed && found.is_connected;
        if scope != Scope::User || self.connector.found(agent).iter().any(stays) {
            return Ok(String::new());
        }
        let mut others = connected(&self.call.facts.run);
        others.retain(|other| *other != agent);
        let mut text = String::new();
        for shared in OWN
            .iter()
            .filter_map(|layer| Shared::of(self.call.facts, *layer))
        {
            text += &lines(
                &shared.disconnect(agent, &others, listed_name, dry_run)?,
                dry_run,
            );
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
