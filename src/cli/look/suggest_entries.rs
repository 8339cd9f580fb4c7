//! Works out the entries that would have let a skill's calls pass: the engine decides about each call
//! again with them, and only what it then cites as granting is suggested.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::suggest_calls::{Calls, Found, LeftOut, Why, leave_out};
use crate::activation::Enforcement;
use crate::cli::report::session_with;
use crate::error::Result;
use crate::facts::Facts;
use crate::host::Agent;
use crate::permission::{
    Call, Decision, Enforce, OurTool, Outcome, Scope, Wanted, decide, entries_for, opens,
};
use crate::policy::{Config, OnDisk, Policies};
use crate::protocol::{Request, with_call};
use crate::run_context::Calling;
use crate::session::Session;
use crate::skill::Skill;
use crate::sys::Moment;

/// After so many entries no more are looked for: nobody reads them all.
const ENTRIES: usize = 100;

/// How suggested entries are cited while they are tried.
const SUGGESTED: &str = "suggested";

/// A suggested entry, in the format that `--json` documents.
#[derive(Debug, Serialize)]
pub struct Suggested {
    /// The entry.
    pub entry: String,
    /// How many refused calls on record need it.
    pub recorded: usize,
    /// How many commands in the skill's text need it.
    pub documented: usize,
    /// One of these calls.
    pub example: String,
    /// What it opens, as a clause.
    pub opens: String,
}

/// How many calls pass.
#[derive(Debug, Default, Serialize)]
pub struct Count {
    /// All of them.
    pub calls: usize,
    /// Those that pass under the skill's list as it is.
    pub pass: usize,
    /// Those that pass with what is suggested.
    pub pass_with: usize,
}

/// What is suggested for a skill.
#[derive(Debug, Default)]
pub struct Suggestions {
    /// Most needed first.
    pub entries: Vec<Suggested>,
    /// The calls for which nothing is suggested.
    pub left_out: LeftOut,
    /// The calls on record.
    pub recorded: Count,
    /// The commands in the skill's text.
    pub documented: Count,
}

impl Suggestions {
    /// Works out what to suggest for the skill from its calls since then.
    pub fn new(facts: &Facts, skill: &Skill, since: Moment) -> Result<Self> {
        let calls = Calls::gather(facts, skill, since)?;
        let mut session = session_with(skill);
        let of_servers = calls.found.iter().filter(|found| found.is_mcp);
        session.mcp_tools = of_servers.map(|found| found.used.tool.clone()).collect();
        let mut config = (*facts.config()?).clone();
        // What its list does not grant counts, whatever becomes of such calls.
        config.enforce = Enforce::Restrict;
        let policies = facts.policies()?;
        // Each agent has a shell of its own.
        let mut by_agent = BTreeMap::new();
        for agent in calls.found.iter().map(|found| found.agent) {
            let place = by_agent.entry(agent);
            place.or_insert_with(|| enforcement_in(facts, agent, (&config, &policies, &session)));
        }
        let dir = skill.dir.display().to_string();
        let mut new = Self {
            left_out: calls.left_out,
            ..Self::default()
        };
        let mut known: Vec<String> = Vec::new();
        let mut open = Vec::new();
        for found in &calls.found {
            let enforcement = &by_agent[&found.agent];
            let searched = with(facts, &session, enforcement, found, |scope, call| {
                let decide = |entries: &[String]| {
                    decide(
                        &enforcement.adding(SUGGESTED, entries).scope(),
                        call,
                        &OnDisk,
                    )
                };
                let wanted = Wanted {
                    call: *call,
                    tool: &found.tool,
                    places: scope.places,
                    skill_dir: &dir,
                };
                if passes(&decide(&[])) {
                    Ok(None)
                } else if known.len() < ENTRIES {
                    let searched = entries_for(&wanted, &known, &decide);
                    searched.map(Some).map_err(Why::Obstacle)
                } else {
                    let passes = passes(&decide(&known));
                    passes.then(|| Some(Vec::new())).ok_or(Why::More)
                }
            });
            let searched = searched.unwrap_or(Err(Why::Gone));
            new.count(found, searched == Ok(None), searched.is_ok());
            match searched {
                Ok(None) => {}
                Ok(Some(entries)) => {
                    known.extend(entries);
                    open.push(found);
                }
                Err(why) => leave_out(&mut new.left_out, why, found.total(), &found.example),
            }
        }
        for found in open {
            let enforcement = by_agent[&found.agent].adding(SUGGESTED, &known);
            let decision = with(facts, &session, &enforcement, found, |scope, call| {
                decide(scope, call, &OnDisk)
            })?;
            new.cite(found, &decision);
        }
        new.entries.sort_by(|a, b| {
            let needed = |one: &Suggested| (one.recorded, one.documented);
            needed(b)
                .cmp(&needed(a))
                .then_with(|| a.entry.cmp(&b.entry))
        });
        Ok(new)
    }

    /// The suggested entries, as they are written into a list.
    pub fn written(&self) -> Vec<String> {
        self.entries.iter().map(|one| one.entry.clone()).collect()
    }

    fn count(&mut self, found: &Found, passes: bool, passes_with: bool) {
        let counts = [
            (&mut self.recorded, found.recorded),
            (&mut self.documented, found.documented),
        ];
        for (count, number) in counts {
            count.calls += number;
            count.pass += if passes { number } else { 0 };
            count.pass_with += if passes_with { number } else { 0 };
        }
    }

    /// Counts the suggested entries that grant parts of a call.
    fn cite(&mut self, found: &Found, decision: &Decision) {
        let cited = decision.granting().into_iter();
        for rule in cited.filter(|rule| rule.source == SUGGESTED) {
            let place = self.entries.iter().position(|one| one.entry == rule.rule);
            let at = place.unwrap_or_else(|| {
                self.entries.push(Suggested {
                    entry: rule.rule.clone(),
                    recorded: 0,
                    documented: 0,
                    example: found.example.clone(),
                    opens: opens(&rule.rule),
                });
                self.entries.len() - 1
            });
            self.entries[at].recorded += found.recorded;
            self.entries[at].documented += found.documented;
        }
    }
}

/// What decides the calls of this agent, begun in the project.
fn enforcement_in(
    facts: &Facts,
    agent: Option<Agent>,
    (config, policies, session): (&Config, &Policies, &Session),
) -> Enforcement {
    let Some(agent) = agent else {
        return Enforcement::for_session(facts, config, policies, session);
    };
    let calling = Calling {
        agent,
        session: String::new(),
        mode: None,
        plugins: Vec::new(),
        model: None,
        version: None,
    };
    let facts = Facts::of_agent(facts.run.env.clone(), calling);
    let persists = agent.table().shell.persists;
    Enforcement::for_session(&facts, config, policies, session)
        .begun_in(facts.run.env.cwd.clone(), persists)
}

/// Hands a found call to `then`, as its host would decide about it.
fn with<T>(
    facts: &Facts,
    session: &Session,
    enforcement: &Enforcement,
    found: &Found,
    then: impl FnOnce(&Scope, &Call) -> T,
) -> Result<T> {
    let Some(_) = found.agent else {
        let request = Request::of_chibi(facts, found.used.clone()).usable()?;
        let scope = enforcement.scope();
        let decided = with_call(facts, session, &scope, &request, |call| then(&scope, call));
        return Ok(decided);
    };
    let ours = found.activates.as_deref().map(|name| OurTool::Skill {
        name,
        dir: Path::new(""),
    });
    let call = Call {
        tool: &found.used.tool,
        arguments: &found.used.arguments,
        ours,
        meant: &[],
    };
    Ok(then(&enforcement.scope(), &call))
}

fn passes(decision: &Decision) -> bool {
    matches!(
        decision.outcome,
        Outcome::Unrestricted | Outcome::Baseline | Outcome::Granted
    )
}
