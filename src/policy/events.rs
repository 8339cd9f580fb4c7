//! Which events are recorded, with what fields, and when they are written. The writer masks
//! secrets.

use std::cell::{LazyCell, RefCell};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::facts::Facts;
use crate::host::program;
use crate::host::tools::{self, Argument};
use crate::permission::{Call, CitedRule, Decision, Outcome, Reason, Refusal, Scope};
use crate::policy::event::unique;
use crate::policy::{Audit, Event, last_heard};
use crate::session::{End, Ended};
use crate::skill::Skill;
use crate::sys::Moment;
use crate::sys::process;

/// One audit log before it is rotated; 10 MiB are about 25,000 events.
const AUDIT_FILE: u64 = 10 * 1024 * 1024;

/// Events of a host's call, which are written after its answer is sent.
#[derive(Debug, Default)]
struct HeldBack(RefCell<Vec<Event>>);

impl Facts {
    /// The path of the log, for reading it.
    pub fn audit_file(&self) -> PathBuf {
        self.store().dir().join("audit.jsonl")
    }

    /// Records an event of this session.
    pub fn record(&self, event: Event) {
        let key = self.session();
        let agent = self.run.agent.as_ref();
        let chibi = self.run.protocol.is_some().then_some(program::PROGRAM);
        let name = agent.map(|it| it.agent.as_str());
        let event = event
            .with("session", key.as_str())
            .with("context", self.context())
            .with("agent", name)
            .with("host", name.or(chibi))
            .with("host_version", agent.and_then(|it| it.version.as_deref()))
            .with("model", agent.and_then(|it| it.model.as_deref()));
        self.write_down(event.with("host_pid", std::os::unix::process::parent_id()));
    }

    /// Records that a skill became active.
    pub fn record_activation(&self, skill: &Skill) {
        let event = Event::new("activate")
            .with("skill", skill.name.as_str())
            .with("path", skill.dir.display().to_string())
            .with("digest", skill.digest.as_str());
        self.record(event);
    }

    /// Records that activations, of this or other sessions, have ended. Nobody sees when a host
    /// process ends, so its activations end at the time of its last event, if that is still in the
    /// log.
    pub fn record_ends(&self, ended: Vec<Ended>) {
        let now = Moment::now();
        let heard = LazyCell::new(|| last_heard(&self.audit_file()));
        for end in ended {
            let session = end.session.as_deref();
            let pid = session
                .and_then(|key| key.split_once('-'))
                .and_then(|(pid, _)| pid.parse::<u32>().ok());
            let unseen = matches!(end.why, End::HostGone | End::NextStart);
            let last = session
                .filter(|_| unseen)
                .and_then(|key| heard.get(key).copied())
                .filter(|last| last.0 >= end.began);
            let until = if unseen { last } else { Some(now) };
            let lasted = until.map(|until| until.since(Moment(end.began)));
            let event = Event::new("end")
                .with("skill", end.skill)
                .with("reason", json!(end.why))
                .with("duration_ms", lasted)
                .with("last_seen", last.map(|last| last.to_string()))
                .with("session", end.session)
                .with("context", end.context)
                .with("host_pid", pid);
            self.write_down(event);
        }
    }

    /// The user's name, as the environment has it.
    pub fn user(&self) -> Option<String> {
        self.run
            .env
            .text("USER")
            .or_else(|| self.run.env.text("LOGNAME"))
    }

    fn write_down(&self, event: Event) {
        // If the configuration is unreadable, the defaults apply.
        let own = self.own_config().unwrap_or_default();
        let config = &own.0;
        let event = event
            .with("event_id", unique())
            .with("machine", process::machine())
            .with("user", self.user())
            .with("uid", process::effective_user())
            .with("project", self.run.project_dir().display().to_string())
            .with("tenant", config.tenant.clone())
            .with("environment", config.environment.clone());
        // The host is waiting, so the log must not delay the answer.
        if self.run.protocol.is_some() {
            self.once(HeldBack::default).0.borrow_mut().push(event);
        } else {
            self.audit().write(&event);
        }
    }

    /// Takes over the events that another context of this call holds back.
    pub fn take_events(&self, other: &Self) {
        if let Some(held_back) = other.known::<HeldBack>() {
            let events = held_back.0.take();
            self.once(HeldBack::default).0.borrow_mut().extend(events);
        }
    }

    /// Writes the events held back until the answer was sent, after `complete` has added what the host
    /// would have waited for.
    pub fn write_events(&self, complete: impl Fn(Event) -> Event) {
        let Some(held_back) = self.known::<HeldBack>() else {
            return;
        };
        let events = held_back.0.take();
        let audit = self.audit();
        for event in events {
            audit.write(&complete(event));
        }
    }

    fn audit(&self) -> Audit {
        Audit {
            file: self.audit_file(),
            max: AUDIT_FILE,
            copies: self.policies().unwrap_or_default().audit_copies(),
        }
    }
}

/// A call as recorded in an event: the arguments that rules look at, without file contents.
fn call_summary(call: &Call) -> Value {
    const OF_A_TOOL: [Argument; 4] = [
        Argument::Command,
        Argument::Path,
        Argument::Url,
        Argument::Source,
    ];
    const OF_OURS: [&str; 6] = [
        "skill",
        "script",
        "path",
        "action",
        "skill_ref",
        "skill_name",
    ];
    let keys: Vec<&str> = match tools::find(call.tool) {
        Some(tool) => tool.keys(&OF_A_TOOL).collect(),
        None if call.ours.is_some() => OF_OURS.to_vec(),
        None => Vec::new(),
    };
    let text = |key: &str| Some((key.to_owned(), Value::from(call.text(key)?)));
    Value::Object(keys.into_iter().filter_map(text).collect())
}

/// The event for a call that was decided on: "allowed", "warned" or "blocked", and by what.
pub fn call_event(call: &Call, decision: &str, by: &str) -> Event {
    Event::new("tool")
        .with("tool", call.tool)
        .with("arguments", call_summary(call))
        .with("decision", decision)
        .with("by", by)
}

/// The event for the decision about a call, with the rule that decided.
pub fn decision_of(scope: &Scope, call: &Call, decision: &Decision) -> Event {
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
fn refused(call: &Call, decision: &Decision) -> &'static str {
    let has = |meant: Argument| {
        let tool = tools::find(call.tool);
        tool.is_some_and(|tool| tool.keys(&[meant]).any(|key| call.text(key).is_some()))
    };
    match &decision.outcome {
        Outcome::Blocked(refusal) if matches!(refusal.reason(), Reason::Protected { .. }) => "path",
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
