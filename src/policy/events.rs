//! Which events are recorded, and with what fields. The writer masks secrets.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::policy::{Config, Event, last_heard};
use crate::run_context::RunContext;
use crate::session::{EndReason, EndedActivation};
use crate::skill::Skill;
use crate::sys::{Env, UnixMillis, process};
use skill_permission::explain::{CitedRule, Reason};
use skill_permission::vocabulary::{self, Argument};
use skill_permission::{Decision, Outcome, Refusal, RestrictionInputs, ToolCall};

/// The path of the log beside the state, for reading it.
pub fn audit_file(state: &Path) -> PathBuf {
    state.join("audit.jsonl")
}

/// The user's name, as the environment has it.
pub fn user(env: &Env) -> Option<String> {
    env.text("USER").or_else(|| env.text("LOGNAME"))
}

/// The event with where it happened: on which machine, for whom, and in what project.
pub fn with_origin(event: Event, run: &RunContext, own: &Config) -> Event {
    event
        .with("machine", process::machine())
        .with("user", user(&run.env))
        .with("uid", process::effective_user())
        .with("project", run.project_dir().display().to_string())
        .with("tenant", own.tenant.clone())
        .with("environment", own.environment.clone())
}

/// The event that a skill became active.
pub fn activation_event(skill: &Skill) -> Event {
    Event::new("activate")
        .with("skill", skill.name.as_str())
        .with("path", skill.dir.display().to_string())
        .with("digest", skill.digest.as_str())
}

/// The events that activations have ended. Nobody sees when a host process ends, so its activations
/// end at the time of its last event, if that is still in the log.
pub fn end_events(ended: Vec<EndedActivation>, log: &Path) -> impl Iterator<Item = Event> {
    let now = UnixMillis::now();
    let heard = LazyCell::new(|| last_heard(log));
    ended.into_iter().map(move |end| {
        let session = end.session.as_deref();
        let pid = session
            .and_then(|key| key.split_once('-'))
            .and_then(|(pid, _)| pid.parse::<u32>().ok());
        let unseen = matches!(end.why, EndReason::HostGone | EndReason::NextStart);
        let last = session
            .filter(|_| unseen)
            .and_then(|key| heard.get(key).copied())
            .filter(|last| last.0 >= end.began);
        let until = if unseen { last } else { Some(now) };
        let lasted = until.map(|until| until.since(UnixMillis(end.began)));
        Event::new("end")
            .with("skill", end.skill)
            .with("reason", json!(end.why))
            .with("duration_ms", lasted)
            .with("last_seen", last.map(|last| last.to_string()))
            .with("session", end.session)
            .with("context", end.context)
            .with("host_pid", pid)
    })
}

/// The event for a call that was decided on: "allowed", "warned" or "blocked", and by what. Of the
/// arguments it has those that rules look at, without file contents.
pub fn call_event(call: &ToolCall, decision: &str, by: &str) -> Event {
    const OF_OURS: &str = "skill script stdin_file path action skill_ref skill_name";
    use Argument::{Command, Path, Source, Url};
    let keys: Vec<&str> = match vocabulary::find_tool(call.tool) {
        Some(tool) => tool.keys(&[Command, Path, Url, Source]).collect(),
        None if call.ours.is_some() => OF_OURS.split(' ').collect(),
        None => Vec::new(),
    };
    let text = |key: &str| Some((key.to_owned(), Value::from(call.text(key)?)));
    let arguments = keys.into_iter().filter_map(text);
    Event::new("tool")
        .with("tool", call.tool)
        .with("arguments", Value::Object(arguments.collect()))
        .with("decision", decision)
        .with("by", by)
}

/// The event for the decision about a call, with the rule that decided.
pub fn decision_of(scope: &RestrictionInputs, call: &ToolCall, decision: &Decision) -> Event {
    let skill = scope.restrictions.last().map(|one| one.source.as_str());
    let (outcome, by) = match &decision.outcome {
        Outcome::Unrestricted => ("allowed", "nothing restricts".to_owned()),
        Outcome::Baseline => ("allowed", "always allowed".to_owned()),
        Outcome::Granted => ("allowed", granting(decision)),
        Outcome::Warned(refusal) => ("warned", reason(refusal)),
        Outcome::Blocked(refusal) => ("blocked", reason(refusal)),
    };
    let refused = matches!(decision.outcome, Outcome::Blocked(_)).then(|| refused(call, decision));
    let event = call_event(call, outcome, &by).with("skill", skill);
    event.with("refused", refused)
}

/// What a refused call was about: `path`, `command`, `url` or `tool`.
fn refused(call: &ToolCall, decision: &Decision) -> &'static str {
    let has = |meant: Argument| {
        let tool = vocabulary::find_tool(call.tool);
        tool.is_some_and(|tool| tool.keys(&[meant]).any(|key| call.text(key).is_some()))
    };
    match &decision.outcome {
        Outcome::Blocked(refusal)
            if matches!(refusal.reason(), Reason::Protected { .. })
                || call.ours.is_some() && refusal.is_about("path") =>
        {
            "path"
        }
        _ if has(Argument::Command) => "command",
        _ if has(Argument::Path) => "path",
        _ if has(Argument::Url) || has(Argument::Source) => "url",
        _ => "tool",
    }
}

/// The entries that granted a call: `SKILL: ENTRY, ENTRY; SKILL: ENTRY`.
fn granting(decision: &Decision) -> String {
    let granting = decision.granting();
    if granting.is_empty() {
        return "no entry needed".to_owned();
    }
    let of_one_source = granting.chunk_by(|one, other| one.source == other.source);
    let entries = of_one_source.map(|all| {
        let rules: Vec<&str> = all.iter().map(|by| by.rule.as_str()).collect();
        format!("{}: {}", all[0].source, rules.join(", "))
    });
    entries.collect::<Vec<_>>().join("; ")
}

fn reason(refusal: &Refusal) -> String {
    match refusal.reason() {
        Reason::Denied(CitedRule { source, rule }) => format!("{source}: {rule}"),
        Reason::NotGranted { skill, .. } => format!("{skill}: no entry"),
        Reason::Protected { .. } => "protected path".to_owned(),
        Reason::Unclear { why, .. } => why.clone(),
        Reason::ForPeople | Reason::OurProgram => "for people".to_owned(),
        Reason::TooMuchWork => "too much work".to_owned(),
        Reason::UnreadableState => "unreadable state".to_owned(),
    }
}
