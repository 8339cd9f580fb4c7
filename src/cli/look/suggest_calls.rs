//! The calls for which `suggest` looks for entries: those on record that were refused or let through
//! with a note, and the commands in the skill's own text.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::audit::each_since;
use crate::author::{Source, documented};
use crate::error::Result;
use crate::host::agent::table::Does;
use crate::host::tools::{self, Argument};
use crate::host::{Agent, ours};
use crate::permission::{Obstacle, is_known_program};
use crate::policy::Line;
use crate::protocol::ToolUse;
use crate::protocol::agents::BY_TYPING;
use crate::run_context::RunContext;
use crate::skill::Skill;
use crate::sys::Moment;

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
    /// A secret in it was masked when it was recorded.
    Masked,
    /// It was cut when it was recorded.
    Cut,
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
    /// A stable name.
    pub fn code(self) -> &'static str {
        match self {
            Self::Obstacle(Obstacle::Denied) => "denied",
            Self::Obstacle(Obstacle::Protected) => "protected",
            Self::Obstacle(Obstacle::Unreadable) => "unreadable",
            Self::Obstacle(Obstacle::ForPeople) => "for-people",
            Self::Obstacle(Obstacle::TooWide) => "too-wide",
            Self::Masked => "masked",
            Self::Cut => "cut",
            Self::Gone => "gone",
            Self::Typed => "typed",
            Self::More => "more",
        }
    }

    /// The reason as a clause.
    pub fn text(self) -> &'static str {
        match self {
            Self::Obstacle(Obstacle::Denied) => "a denial covers it, which no entry overrules",
            Self::Obstacle(Obstacle::Protected) => "it would change a protected place",
            Self::Obstacle(Obstacle::Unreadable) => "it cannot be read as commands",
            Self::Obstacle(Obstacle::ForPeople) => "only people may run it",
            Self::Obstacle(Obstacle::TooWide) => "only an entry that opens far more would grant it",
            Self::Masked => "a secret in it is masked in the audit log",
            Self::Cut => "the audit log has only its beginning",
            Self::Gone => "it names a skill that is not there",
            Self::Typed => {
                "no entry lets an agent start what it could then type commands into unseen"
            }
            Self::More => "there are more entries than anybody reads; apply these first",
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
    pub fn gather(ctx: &RunContext, skill: &Skill, since: Moment) -> Result<Self> {
        let mut calls = Self::default();
        let (name, project) = (skill.name.as_str(), ctx.project_dir());
        each_since(ctx, since, &mut |line| {
            if is_refused(line, name) {
                calls.record(line, &project);
            }
            Ok(())
        })?;
        let source = Source::read(skill.clone());
        for one in documented(&source, &is_known_program) {
            let arguments = json!({"command": one.command});
            calls.add(
                Found::new(None, "shell_exec", arguments, one.written),
                false,
            );
        }
        Ok(calls)
    }

    fn record(&mut self, line: &Line, project: &Path) {
        let tool = line.text("tool");
        let (agent, agent_tool) = (agent_of(line), line.text("agent_tool"));
        let arguments = line.value.get("arguments").and_then(Value::as_object);
        let mut arguments = arguments.cloned().unwrap_or_default();
        let texts = arguments.values().filter_map(Value::as_str);
        let called = if agent_tool.is_empty() {
            tool
        } else {
            agent_tool
        };
        let example = texts.clone().next().unwrap_or(called).to_owned();
        for (why, marks) in [(Why::Masked, MASK), (Why::Cut, "…")] {
            let is_marked = |text: &str| match why {
                Why::Cut => text.ends_with(CUT),
                _ => text.contains(marks),
            };
            if texts.clone().any(is_marked) {
                return leave_out(&mut self.left_out, why, 1, &example);
            }
        }
        if line.text("by") == BY_TYPING {
            return leave_out(&mut self.left_out, Why::Typed, 1, &example);
        }
        relocate(
            tool,
            &mut arguments,
            Path::new(line.text("project")),
            project,
        );
        let mut found = Found::new(agent, tool, Value::Object(arguments), example);
        if let Some(table) = agent.map(Agent::table).filter(|_| !agent_tool.is_empty()) {
            match table.does(agent_tool) {
                Some(Does::Skill(_)) => {
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

/// The agent other than chibi whose event it is.
fn agent_of(line: &Line) -> Option<Agent> {
    let name = line.text("agent");
    Agent::ALL.into_iter().find(|agent| agent.as_str() == name)
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

/// A path in the project of that time means the same one below today's.
fn relocate(tool: &str, arguments: &mut Map<String, Value>, then: &Path, now: &Path) {
    let keys = tools::find(tool).into_iter();
    let paths = [Argument::Path, Argument::Source];
    for key in keys.flat_map(|tool| tool.keys(&paths)) {
        let below = arguments.get(key).and_then(Value::as_str);
        let below = below.and_then(|path| Path::new(path).strip_prefix(then).ok());
        if let Some(below) = below.filter(|_| then.is_absolute()) {
            let moved = now.join(below).display().to_string();
            arguments.insert(key.to_owned(), moved.into());
        }
    }
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
    fn what_is_masked_or_cut_is_left_out_and_paths_move() {
        let mut calls = Calls::default();
        for (tool, arguments) in [
            ("shell_exec", json!({"command": "curl -u *** x"})),
            ("shell_exec", json!({"command": "curl xxxx…"})),
            ("write_file", json!({"path": "/then/out/a"})),
            ("write_file", json!({"path": "/now/out/a"})),
        ] {
            let event = json!({"tool": tool, "arguments": arguments, "project": "/then"});
            calls.record(&line(event), Path::new("/now"));
        }
        let why: Vec<Why> = calls.left_out.keys().copied().collect();
        assert_eq!(why, [Why::Masked, Why::Cut]);
        assert_eq!(calls.found.len(), 1);
        assert_eq!(calls.found[0].recorded, 2);
        assert_eq!(calls.found[0].used.arguments, json!({"path": "/now/out/a"}));
    }
}
