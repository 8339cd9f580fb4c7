//! `suggest`: the entries that a skill's list lacks, and applying them for a person: as an
//! addition to the user's configuration, or as a proposal against the skill. They are those that would
//! have let its calls pass, those on record that were refused or let through with a note and the commands
//! in its own text: the engine decides about each call again with them, and only what it then cites as
//! granting is suggested.

use std::cmp::Reverse;

use super::audit::{each_since, since};
use crate::activation::{begin_in, scope_of, why_none_is_added};
use crate::author::{SkillSource, documented, with_entries};
use crate::cli::prelude::*;
use crate::cli::set_up::config::set_in_config;
use crate::cli::write::try_skill;
use crate::host::{Agent, ours};
use crate::policy::{LoggedEvent, OnDisk, audit_file, last_events};
use crate::protocol::tools::propose_change;
use crate::protocol::{BY_TYPING, ProposeSkillUpdate, Request, ToolUse, with_call};
use crate::session::Session;
use crate::skill::unified_diff;

/// Suggest entries that are missing from a skill's list of tools
#[derive(Debug, clap::Args)]
pub struct SuggestArgs {
    /// The skill's name, or its directory
    #[arg(value_name = "NAME")]
    pub skill: String,
    /// Start of the period for refused calls: 2h, 7d, 2026-11-21
    #[arg(long)]
    pub since: Option<String>,
    /// Propose them for the skill itself
    #[arg(long, conflicts_with = "local")]
    pub apply: bool,
    /// Add them to your configuration, which an update keeps
    #[arg(long)]
    pub local: bool,
}

/// Characters of an example that are shown.
const EXAMPLE: usize = 100;

impl SuggestArgs {
    /// Shows the entries, and applies them if a person asks for it.
    pub fn run(&self, call: CliCall) -> Answer {
        let skill = try_skill::find(call.facts, &self.skill)
            .or_else(|error| self.last_activated(call.facts).ok_or(error))?;
        let since = since(self.since.as_deref())?;
        let (_, restriction) = restriction_of(&call.facts.run, &skill);
        let is_restricted = restriction.allowed().is_some();
        let found = if is_restricted {
            Suggestions::new(call.facts, &skill, since)?
        } else {
            Suggestions::default()
        };
        let (name, is_empty) = (skill.name.as_str(), found.entries.is_empty());
        let why = match (is_restricted, found.left_out.is_empty()) {
            (false, _) => "no list of tools restricts it",
            (true, true) => "its refused calls and the commands in its text pass today",
            (true, false) => "no narrow entry would let the refused calls pass",
        };
        let none = is_empty.then(|| format!("nothing to suggest for `{name}`: {why}"));
        let shown = shown(name, &found, none.as_deref(), call.screen);
        if self.apply || self.local {
            let applied = match none {
                Some(none) => Ok(none + "\n"),
                None => self.applied(call, &skill, &found, &shown),
            };
            return Outcomes::of_one(call, name, applied);
        }
        let policies = call.facts.policies();
        let counts = policies.is_ok_and(|all| all.forbids_added_entries().is_none());
        let mut ways = vec![
            ("--local", "adds them to your configuration"),
            ("--apply", "proposes them for the skill"),
        ];
        ways.retain(|(flag, _)| !is_empty && (counts || *flag != "--local"));
        let command = |(flag, _): &(&str, &str)| format!("agent-skills {}", self.command(flag));
        let next: Vec<String> = ways.iter().map(command).collect();
        let left = |(why, (calls, example)): (&LeftOutReason, &(usize, String))| {
            let (reason, message) = why.code_and_reason();
            json!({"reason": reason, "message": message, "calls": calls, "example": example})
        };
        let value = json!({
            "name": name,
            "path": skill.dir.display().to_string(),
            "entries": found.entries,
            "left_out": found.left_out.iter().map(left).collect::<Vec<_>>(),
            "recorded": found.recorded,
            "documented": found.documented,
            // Why nothing is suggested.
            "message": none,
            // The commands that apply them.
            "next": next,
        });
        let next = next.iter().zip(ways).map(|(command, (_, meaning))| {
            let line = format!("`{command}` {meaning}");
            call.screen.hanging("next: ", &line, 6)
        });
        Ok(call.answer(&value, || shown + &next.collect::<String>())?)
    }

    /// The skill of this name that was last activated: other agents find skills where the catalog
    /// does not look.
    fn last_activated(&self, facts: &Facts) -> Option<Skill> {
        let name = SkillName::from_written(&self.skill)?;
        let is_its = |line: &LoggedEvent| {
            line.text("event") == "activate" && line.text("skill") == name.as_str()
        };
        let (lines, _) = last_events(&audit_file(facts.state()), 1, is_its).ok()?;
        let skill = Skill::load(Path::new(lines.first()?.text("path"))).ok()?;
        (skill.name == name).then_some(skill)
    }

    fn applied(
        &self,
        call: CliCall,
        skill: &Skill,
        found: &Suggestions,
        shown: &str,
    ) -> Result<String> {
        type Apply = fn(&Facts, &Skill, &Suggestions, bool) -> Result<String>;
        let (apply, question): (Apply, _) = if self.local {
            (add_to_configuration, "Add them to the configuration?")
        } else {
            (propose, "Propose them?")
        };
        // Whether it is possible is known before anybody is asked.
        let would = apply(call.facts, skill, found, true)?;
        if call.common.dry_run {
            return Ok(format!("{shown}{would}"));
        }
        if !call.to_decide(shown, question)? {
            return Ok("nothing was changed\n".to_owned());
        }
        apply(call.facts, skill, found, false)
    }

    /// This command with a flag, to be copied.
    fn command(&self, flag: &str) -> String {
        let since = self.since.iter().flat_map(|since| ["--since", since]);
        let words = ["suggest", self.skill.as_str()].into_iter().chain(since);
        shell_command(&words.chain([flag]).collect::<Vec<_>>())
    }
}

/// The entries for people, or why there are `none`; then what was left out, and what they change.
fn shown(name: &str, found: &Suggestions, none: Option<&str>, screen: Screen) -> String {
    let mut text = if let Some(none) = none {
        screen.hanging("", &one_line(none), 0)
    } else {
        let entries = counted(found.entries.len(), "entry", "entries");
        format!("{entries} would let `{name}` do what was refused:\n")
    };
    for one in &found.entries {
        let entry = screen.paint(&one_line(&one.entry), Paint::Bold);
        let _ = writeln!(text, "  {entry}");
        for (label, value) in [
            ("needed by", one.needed()),
            ("opens", one.opens.clone()),
            ("example", brief(&one.example, EXAMPLE)),
        ] {
            let first = format!("    {label:11}");
            text += &screen.hanging(&first, &one_line(&value), first.len());
        }
    }
    for (why, (calls, example)) in &found.left_out {
        let calls = counted(*calls, "call is", "calls are");
        let (why, example) = (why.code_and_reason().1, brief(example, EXAMPLE));
        let line = format!("{calls} left out: {why} (`{example}`)");
        text += &screen.hanging("", &one_line(&line), 2);
    }
    let of = &found.documented;
    if of.calls > 0 && none.is_none() {
        let commands = counted(of.calls, "command", "commands");
        let (passing, with) = (counted(of.pass, "passes", "pass"), of.pass_with);
        let line = format!("Of {commands} in its text {passing} now, {with} with these entries.");
        text += &screen.hanging("", &line, 2);
    }
    text
}

/// Adds the entries to the user's configuration.
///
/// # Errors
/// When they would not count there, or it cannot be written.
fn add_to_configuration(
    facts: &Facts,
    skill: &Skill,
    found: &Suggestions,
    dry_run: bool,
) -> Result<String> {
    let name = skill.name.as_str();
    if let Some(why) = why_none_is_added(facts, &skill.dir) {
        let text = format!("an addition for `{name}` would be ignored: {why}");
        return Err(Error::new(text).hint("`--apply` proposes the entries for the skill itself"));
    }
    let own = facts.own_config()?.added_entries(name).to_vec();
    let entries = distinct(own.into_iter().chain(found.written()));
    let value = entries.iter().collect::<toml_edit::Array>().to_string();
    let key = ["skills", name, "allow"].map(str::to_owned);
    set_in_config(facts, &key, &value, dry_run)?;
    let key = format!("skills.{name}.allow");
    let entries = counted(found.entries.len(), "entry", "entries");
    if dry_run {
        return Ok(format!(
            "would add {entries} to `{key}` in the configuration\n"
        ));
    }
    Ok(format!(
        "added {entries} to `{key}` in the configuration; `agent-skills config unset {key}` removes them all\n"
    ))
}

/// Proposes to add the entries to the skill's own list.
///
/// # Errors
/// When it cannot be changed with certainty, or by a proposal.
fn propose(facts: &Facts, skill: &Skill, found: &Suggestions, dry_run: bool) -> Result<String> {
    let diff = diff(skill, &found.written())?;
    let entries = counted(found.entries.len(), "entry", "entries");
    if dry_run {
        return Ok(format!("would propose {entries} for `{}`\n", skill.name));
    }
    let reasons = found.entries.iter().map(|one| {
        let (entry, opens) = (&one.entry, &one.opens);
        format!("{entry}: needed by {}; {opens}", one.needed())
    });
    let reasons = reasons.collect::<Vec<_>>().join("\n");
    let proposed = json!({
        "skill": skill.name,
        "diff": diff,
        "justification": format!("`agent-skills suggest`: its list lacks {entries} that its calls need"),
        "evidence": shorten(&reasons, limits::PROPOSAL_TEXT / 4),
    });
    let proposed: ProposeSkillUpdate = serde_json::from_value(proposed)
        .map_err(|error| Error::caused("the proposal cannot be written", error))?;
    propose_change(facts, &proposed).map(|text| text + "\n")
}

/// The change to the skill's file as a diff.
fn diff(skill: &Skill, entries: &[String]) -> Result<String> {
    let bytes = files::read_capped(&skill.file, limits::SKILL_FILE);
    let bytes = bytes.map_err(|error| Error::io("read", &skill.file, &error))?;
    // A diff leaves line ends as they are.
    let text = String::from_utf8(bytes).map(|text| text.replace("\r\n", "\n"));
    let text = text.ok().filter(|text| !text.contains('\r'));
    let changed = text.as_deref();
    let changed = changed.and_then(|text| with_entries(&skill.dir, text, entries));
    let (Some(before), Some(after)) = (text.as_deref(), changed) else {
        let file = one_line(&skill.file.display().to_string());
        let text = format!("the list in `{file}` cannot be edited automatically");
        let entries = entries.join(", ");
        return Err(Error::new(text).hint(format!("add by hand: {entries}; or use `--local`")));
    };
    let file = skill.file.file_name().unwrap_or_default().to_string_lossy();
    let names = (format!("a/{file}"), format!("b/{file}"));
    Ok(unified_diff((&names.0, &names.1), before, &after))
}

impl SuggestedEntry {
    /// By how many calls it is needed.
    pub fn needed(&self) -> String {
        let recorded = (self.recorded > 0).then(|| count(self.recorded, "refused call"));
        let documented = (self.documented > 0)
            .then(|| counted(self.documented, "command", "commands") + " in its text");
        let both: Vec<String> = recorded.into_iter().chain(documented).collect();
        both.join(", ")
    }
}

/// After so many entries no more are looked for: nobody reads them all.
const ENTRIES: usize = 100;

/// How suggested entries are cited while they are tried.
const SUGGESTED: &str = "suggested";

/// A suggested entry, in the format that `--json` documents.
#[derive(Debug, Serialize)]
struct SuggestedEntry {
    /// The entry.
    entry: String,
    /// How many refused calls on record need it.
    recorded: usize,
    /// How many commands in the skill's text need it.
    documented: usize,
    /// One of these calls.
    example: String,
    /// What it opens, as a clause.
    opens: String,
}

/// How many calls pass.
#[derive(Debug, Default, Serialize)]
struct PassCounts {
    /// All of them.
    calls: usize,
    /// Those that pass under the skill's list as it is.
    pass: usize,
    /// Those that pass with what is suggested.
    pass_with: usize,
}

/// What is suggested for a skill.
#[derive(Debug, Default)]
struct Suggestions {
    /// Most needed first.
    entries: Vec<SuggestedEntry>,
    /// The calls for which nothing is suggested.
    left_out: LeftOutCalls,
    /// The calls on record.
    recorded: PassCounts,
    /// The commands in the skill's text.
    documented: PassCounts,
}

impl Suggestions {
    /// Works out what to suggest for the skill from its calls since then.
    fn new(facts: &Facts, skill: &Skill, since: UnixMillis) -> Result<Self> {
        let calls = ObservedCalls::gather(facts, skill, since)?;
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
            place.or_insert_with(|| scope_in(facts, agent, (&config, &policies, &session)));
        }
        let dir = skill.dir.display().to_string();
        let mut new = Self {
            left_out: calls.left_out,
            ..Self::default()
        };
        let mut known: Vec<String> = Vec::new();
        let mut open = Vec::new();
        for found in &calls.found {
            let scope = &by_agent[&found.agent];
            let searched = with(facts, &session, scope, found, |call| {
                let decide =
                    |entries: &[String]| decide(&scope.adding(SUGGESTED, entries), call, &OnDisk);
                let wanted = EntryRequest {
                    call: *call,
                    tool: &found.tool,
                    places: &scope.places,
                    skill_dir: &dir,
                };
                if passes(&decide(&[])) {
                    Ok(None)
                } else if known.len() < ENTRIES {
                    let searched = entries_for(&wanted, &known, &decide);
                    searched.map(Some).map_err(LeftOutReason::Obstacle)
                } else {
                    let passes = passes(&decide(&known));
                    passes.then(|| Some(Vec::new())).ok_or(LeftOutReason::More)
                }
            });
            let searched = searched.unwrap_or(Err(LeftOutReason::Gone));
            new.count(found, searched == Ok(None), searched.is_ok());
            match searched {
                Ok(None) => {}
                Ok(Some(entries)) => {
                    known.extend(entries);
                    open.push(found);
                }
                Err(why) => {
                    let all = found.recorded + found.documented;
                    leave_out(&mut new.left_out, why, all, &found.example);
                }
            }
        }
        let mut entries: BTreeMap<String, SuggestedEntry> = BTreeMap::new();
        for found in open {
            let scope = by_agent[&found.agent].adding(SUGGESTED, &known);
            let decide = |call: &ToolCall| decide(&scope, call, &OnDisk);
            let decision = with(facts, &session, &scope, found, decide)?;
            let cited = decision.granting().into_iter();
            for rule in cited.filter(|rule| rule.source == SUGGESTED) {
                let unneeded = || SuggestedEntry {
                    entry: rule.rule.clone(),
                    recorded: 0,
                    documented: 0,
                    example: found.example.clone(),
                    opens: describe_entry(&rule.rule),
                };
                let one = entries.entry(rule.rule.clone()).or_insert_with(unneeded);
                one.recorded += found.recorded;
                one.documented += found.documented;
            }
        }
        // Those that are needed equally stay sorted by their text.
        new.entries = entries.into_values().collect();
        new.entries
            .sort_by_key(|one| Reverse((one.recorded, one.documented)));
        Ok(new)
    }

    /// The suggested entries, as they are written into a list.
    fn written(&self) -> Vec<String> {
        self.entries.iter().map(|one| one.entry.clone()).collect()
    }

    fn count(&mut self, found: &ObservedCall, passes: bool, passes_with: bool) {
        for (count, number) in [
            (&mut self.recorded, found.recorded),
            (&mut self.documented, found.documented),
        ] {
            count.calls += number;
            count.pass += number * usize::from(passes);
            count.pass_with += number * usize::from(passes_with);
        }
    }
}

/// What decides the calls of this agent, begun in the project.
fn scope_in(
    facts: &Facts,
    agent: Option<Agent>,
    (config, policies, session): (&Config, &Policies, &Session),
) -> RestrictionInputs {
    let Some(agent) = agent else {
        return scope_of(facts, config, policies, session);
    };
    let facts = in_agent(facts, agent);
    let mut scope = scope_of(&facts, config, policies, session);
    let persists = agent.table().shell.persists;
    begin_in(&mut scope, &facts.run.env.cwd, persists);
    scope
}

/// Hands a found call to `then`, as its host would decide about it.
fn with<T>(
    facts: &Facts,
    session: &Session,
    scope: &RestrictionInputs,
    found: &ObservedCall,
    then: impl FnOnce(&ToolCall) -> T,
) -> Result<T> {
    let Some(_) = found.agent else {
        let request = Request::of_chibi(facts, found.used.clone()).usable()?;
        return Ok(with_call(facts, session, scope, &request, then));
    };
    let ours = found.activates.as_deref().map(|name| OurTool::Skill {
        name,
        dir: Path::new(""),
    });
    let call = ToolCall {
        ours,
        ..ToolCall::new(&found.used.tool, &found.used.arguments)
    };
    Ok(then(&call))
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
struct ObservedCall {
    /// The call, in the terms of rules.
    used: ToolUse,
    /// The agent whose call it was, if it was not chibi's.
    agent: Option<Agent>,
    /// What authors call its tool, if the host does not know it.
    tool: String,
    /// Whether an MCP server has the tool.
    is_mcp: bool,
    /// The skill that an agent's tool for skills would have activated.
    activates: Option<String>,
    /// Calls on record that were refused, or would have been but for `enforce = "warn"`.
    recorded: usize,
    /// Places in the skill's text.
    documented: usize,
    /// The command as written, or the tool with its argument.
    example: String,
}

/// Why nothing is suggested for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LeftOutReason {
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

/// Calls for which nothing is suggested, by reason: how many, and one of them.
type LeftOutCalls = BTreeMap<LeftOutReason, (usize, String)>;

/// The calls of a skill, in the order in which they were found.
#[derive(Debug, Default)]
struct ObservedCalls {
    /// Each different call once.
    found: Vec<ObservedCall>,
    /// Those that cannot be decided about again.
    left_out: LeftOutCalls,
}

impl ObservedCall {
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
}

impl LeftOutReason {
    /// A stable name, and the reason as a clause.
    fn code_and_reason(self) -> (&'static str, &'static str) {
        match self {
            Self::Obstacle(obstacle) => obstacle.code_and_reason(),
            Self::Incomplete => ("incomplete", "the audit log does not have all of it"),
            Self::Gone => ("gone", "it names a skill that does not exist"),
            Self::Typed => (
                "typed",
                "no entry allows a program into which an agent could type commands unseen",
            ),
            Self::More => (
                "more",
                "there are too many entries to read; apply these first",
            ),
        }
    }
}

/// Counts a call for which nothing is suggested.
fn leave_out(left_out: &mut LeftOutCalls, why: LeftOutReason, count: usize, example: &str) {
    let entry = left_out.entry(why).or_insert((0, example.to_owned()));
    entry.0 += count;
}

impl ObservedCalls {
    /// What is known of the skill's calls since then.
    fn gather(facts: &Facts, skill: &Skill, since: UnixMillis) -> Result<Self> {
        let mut calls = Self::default();
        let name = skill.name.as_str();
        each_since(facts, since, &mut |line| {
            if is_refused(line, name) {
                calls.record(line);
            }
            Ok(())
        })?;
        let source = SkillSource::read(skill.clone());
        for one in documented(&source, &is_known_program) {
            let arguments = json!({"command": one.command});
            let mut found = ObservedCall::new(None, "shell_exec", arguments, one.written);
            found.documented = 1;
            calls.add(found);
        }
        Ok(calls)
    }

    fn record(&mut self, line: &LoggedEvent) {
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
            return leave_out(&mut self.left_out, LeftOutReason::Incomplete, 1, &example);
        }
        if line.text("by") == BY_TYPING {
            return leave_out(&mut self.left_out, LeftOutReason::Typed, 1, &example);
        }
        let mut found = ObservedCall::new(agent, tool, Value::Object(arguments), example);
        found.recorded = 1;
        if let Some(table) = agent.map(Agent::table).filter(|_| !agent_tool.is_empty()) {
            match table.tool(agent_tool) {
                Some(its) if its.does == Capability::Skill => {
                    let name = tool.strip_prefix(ours::SKILL);
                    let name = name.and_then(|name| name.strip_prefix('_'));
                    found.activates = name.map(str::to_owned);
                }
                Some(_) => {}
                None => {
                    let written = table.vocabulary.mcp.written(agent_tool);
                    found.is_mcp = written.is_some();
                    found.tool = written.unwrap_or_else(|| agent_tool.to_owned());
                }
            }
        }
        self.add(found);
    }

    fn add(&mut self, found: ObservedCall) {
        let is_same = |one: &&mut ObservedCall| {
            one.agent == found.agent
                && one.used.tool == found.used.tool
                && one.used.arguments == found.used.arguments
        };
        if let Some(known) = self.found.iter_mut().find(is_same) {
            known.recorded += found.recorded;
            known.documented += found.documented;
        } else if self.found.len() < CALLS {
            self.found.push(found);
        }
    }
}

/// Whether the event is a call that this skill's list refused, or would have refused.
fn is_refused(line: &LoggedEvent, skill: &str) -> bool {
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

    fn line(value: Value) -> LoggedEvent {
        LoggedEvent {
            time: UnixMillis(0),
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
        let mut calls = ObservedCalls::default();
        for command in ["curl -u *** x", "curl xxxx…", "curl x", "curl x"] {
            let event = json!({"tool": "shell_exec", "arguments": {"command": command}});
            calls.record(&line(event));
        }
        assert_eq!(calls.left_out[&LeftOutReason::Incomplete].0, 2);
        assert_eq!(calls.found.len(), 1);
        assert_eq!(calls.found[0].recorded, 2);
    }
}
