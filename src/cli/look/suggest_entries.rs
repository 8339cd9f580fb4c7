//! Works out the entries that would have let a skill's calls pass, those on record that were refused
//! or let through with a note and the commands in the skill's own text: the engine decides about each call
//! again with them, and only what it then cites as granting is suggested.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::audit::each_since;
use crate::activation::Enforcement;
use crate::author::{Source, documented};
use crate::cli::prelude::*;
use crate::cli::report::session_with;
use crate::host::agent::table::Does;
use crate::host::{Agent, ours};
use crate::permission::{
    Call, Decision, Enforce, Obstacle, OurTool, Outcome, Scope, Wanted, decide, entries_for,
    is_known_program, opens,
};
use crate::policy::{Config, Line, OnDisk, Policies};
use crate::protocol::{BY_TYPING, Request, ToolUse, with_call};
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
                    let adding = enforcement.adding(SUGGESTED, entries);
                    decide(&adding.scope(), call, &OnDisk)
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
        let needed = |one: &Suggested| Reverse((one.recorded, one.documented));
        new.entries
            .sort_by(|a, b| (needed(a), &a.entry).cmp(&(needed(b), &b.entry)));
        Ok(new)
    }

    /// The suggested entries, as they are written into a list.
    pub fn written(&self) -> Vec<String> {
        self.entries.iter().map(|one| one.entry.clone()).collect()
    }

    fn count(&mut self, found: &Found, passes: bool, passes_with: bool) {
        for (count, number) in [
            (&mut self.recorded, found.recorded),
            (&mut self.documented, found.documented),
        ] {
            count.calls += number;
            count.pass += number * usize::from(passes);
            count.pass_with += number * usize::from(passes_with);
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
    let facts = Facts::of_agent(facts.run.env.clone(), Calling::of(agent));
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

/// Different calls that are looked at; more would not change what is suggested.
const CALLS: usize = 2000;
/// What stands for a secret in the audit log.
const MASK: &str = "***";
/// What ends a text that was cut for the audit log.
const CUT: char = '…';

/// A call, and how often it was found.
#[derive(Debug)]
pub struct Found {
    /// The call, in the terms of rules.
    pub used: ToolUse,
    /// The agent whose call it was, if it was not chibi's.
    pub agent: Option<Agent>,
    /// What authors call its tool, if the host does not know it.
    pub tool: String,
    /// Whether an MCP server has the tool.
    pub is_mcp: bool,
    /// The skill that an agent's tool for skills would have activated.
    pub activates: Option<String>,
    /// Calls on record that were refused, or would have been but for `enforce = "warn"`.
    pub recorded: usize,
    /// Places in the skill's text.
    pub documented: usize,
    /// The command as written, or the tool with its argument.
    pub example: String,
}

/// Why nothing is suggested for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The engine says so.
    Obstacle(Obstacle),
    /// A secret in it was masked, or it was cut, when it was recorded.
    Incomplete,
    /// It names a skill that is not there.
    Gone,
    /// It starts what its agent could type commands into.
    Typed,
    /// Enough entries are suggested for others.
    More,
}

/// What makes calls the same: the agent, the tool, its arguments.
type Key = ((Option<Agent>, String), String);

/// Calls for which nothing is suggested, by reason: how many, and one of them.
pub type LeftOut = BTreeMap<Why, (usize, String)>;

/// The calls of a skill, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Calls {
    /// Each different call once.
    pub found: Vec<Found>,
    /// Those that cannot be decided about again.
    pub left_out: LeftOut,
    /// Where in `found` each is.
    places: BTreeMap<Key, usize>,
}

impl Found {
    fn new(agent: Option<Agent>, tool: &str, arguments: Value, example: String) -> Self {
        let used = ToolUse {
            tool: tool.to_owned(),
            arguments,
        };
        Self {
            used,
            agent,
            tool: tool.to_owned(),
            is_mcp: false,
            activates: None,
            recorded: 0,
            documented: 0,
            example,
        }
    }

    /// How often it was found.
    pub fn total(&self) -> usize {
        self.recorded + self.documented
    }
}

impl Why {
    /// A stable name, and the reason as a clause.
    pub fn told(self) -> (&'static str, &'static str) {
        match self {
            Self::Obstacle(obstacle) => obstacle.told(),
            Self::Incomplete => ("incomplete", "the audit log does not have all of it"),
            Self::Gone => ("gone", "it names a skill that is not there"),
            Self::Typed => (
                "typed",
                "no entry lets an agent start what it could then type commands into unseen",
            ),
            Self::More => (
                "more",
                "there are more entries than anybody reads; apply these first",
            ),
        }
    }
}

/// Counts a call for which nothing is suggested.
pub fn leave_out(left_out: &mut LeftOut, why: Why, count: usize, example: &str) {
    let entry = left_out.entry(why).or_insert((0, example.to_owned()));
    entry.0 += count;
}

impl Calls {
    /// What is known of the skill's calls since then.
    pub fn gather(facts: &Facts, skill: &Skill, since: Moment) -> Result<Self> {
        let mut calls = Self::default();
        let name = skill.name.as_str();
        each_since(facts, since, &mut |line| {
            if is_refused(line, name) {
                calls.record(line);
            }
            Ok(())
        })?;
        let source = Source::read(skill.clone());
        for one in documented(&source, &is_known_program) {
            let arguments = json!({"command": one.command});
            let found = Found::new(None, "shell_exec", arguments, one.written);
            calls.add(found, false);
        }
        Ok(calls)
    }

    fn record(&mut self, line: &Line) {
        let tool = line.text("tool");
        // Chibi is none.
        let agent: Option<Agent> = line.text("agent").parse().ok();
        let agent_tool = line.text("agent_tool");
        let arguments = line.value.get("arguments").and_then(Value::as_object);
        let arguments = arguments.cloned().unwrap_or_default();
        let texts = arguments.values().filter_map(Value::as_str);
        let called = if agent_tool.is_empty() {
            tool
        } else {
            agent_tool
        };
        let example = texts.clone().next().unwrap_or(called).to_owned();
        let is_incomplete = |text: &str| text.contains(MASK) || text.ends_with(CUT);
        if texts.clone().any(is_incomplete) {
            return leave_out(&mut self.left_out, Why::Incomplete, 1, &example);
        }
        if line.text("by") == BY_TYPING {
            return leave_out(&mut self.left_out, Why::Typed, 1, &example);
        }
        let mut found = Found::new(agent, tool, Value::Object(arguments), example);
        if let Some(table) = agent.map(Agent::table).filter(|_| !agent_tool.is_empty()) {
            match table.tool(agent_tool) {
                Some(its) if its.does == Does::Skill => {
                    let name = tool.strip_prefix(ours::SKILL);
                    let name = name.and_then(|name| name.strip_prefix('_'));
                    found.activates = name.map(str::to_owned);
                }
                Some(_) => {}
                None => {
                    let written = table.mcp.written(agent_tool);
                    found.is_mcp = written.is_some();
                    found.tool = written.unwrap_or_else(|| agent_tool.to_owned());
                }
            }
        }
        self.add(found, true);
    }

    fn add(&mut self, found: Found, is_recorded: bool) {
        let key = (found.agent, found.used.tool.clone());
        let key = (key, found.used.arguments.to_string());
        let at = match self.places.get(&key) {
            Some(at) => *at,
            None if self.found.len() >= CALLS => return,
            None => {
                self.places.insert(key, self.found.len());
                self.found.push(found);
                self.found.len() - 1
            }
        };
        let found = &mut self.found[at];
        found.recorded += usize::from(is_recorded);
        found.documented += usize::from(!is_recorded);
    }
}

/// Whether the event is a call that this skill's list refused, or would have refused.
fn is_refused(line: &Line, skill: &str) -> bool {
    let decision = line.text("decision");
    let by = line.text("by").strip_suffix(": no entry");
    // Of several skills in force, another one may have been the last.
    let is_its = line.text("skill") == skill || by == Some(skill);
    // A skill that may not become active lacks no entry.
    let is_activation = line.text("by") == "failed activation";
    let is_stopped = ["blocked", "warned", "asked"].contains(&decision);
    line.text("event") == "tool" && is_stopped && is_its && !is_activation
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: Value) -> Line {
        Line {
            time: Moment(0),
            value,
        }
    }

    #[test]
    fn refusals_of_the_skill_are_its_own() {
        let event = |skill: &str, decision: &str, by: &str| {
            line(json!({"event": "tool", "skill": skill, "decision": decision, "by": by}))
        };
        for (skill, decision, by, is) in [
            ("pdf", "blocked", "pdf: no entry", true),
            ("pdf", "warned", "pdf: no entry", true),
            ("other", "blocked", "pdf: no entry", true),
            ("other", "blocked", "other: no entry", false),
            ("pdf", "allowed", "pdf: Read", false),
            ("pdf", "asked", "pdf: no entry", true),
            ("pdf", "blocked", "failed activation", false),
        ] {
            assert_eq!(
                is_refused(&event(skill, decision, by), "pdf"),
                is,
                "{skill} {by}"
            );
        }
    }

    #[test]
    fn what_is_masked_or_cut_is_left_out() {
        let mut calls = Calls::default();
        for command in ["curl -u *** x", "curl xxxx…", "curl x", "curl x"] {
            let event = json!({"tool": "shell_exec", "arguments": {"command": command}});
            calls.record(&line(event));
        }
        assert_eq!(calls.left_out[&Why::Incomplete].0, 2);
        assert_eq!(calls.found.len(), 1);
        assert_eq!(calls.found[0].recorded, 2);
    }
}
