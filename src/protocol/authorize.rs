//! The decision on one call under the active restrictions, for every hook that needs one.

use std::rc::Rc;

use serde_json::Value;

use crate::activation::Enforcement;
use crate::error::Error;
use crate::facts::Facts;
use crate::host::ours;
use crate::permission::{
    Call, Decision, OurTool, Outcome, absolute_arguments, decide, decide_unreadable_state,
};
use crate::policy::{
    Config, Event, OnDisk, Policies, ScriptReads, call_event, decision_of, may_have_always_on,
};
use crate::protocol::{
    Called, ToolUse, call_of, meaning, script_of, script_read, under_denied_name,
};
use crate::session::{Session, Unreadable};

/// The decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It proceeds.
    Allowed,
    /// It proceeds, and this note is added to its result.
    Noted(String),
    /// It is blocked, for this reason.
    Refused(String),
}

/// A decision, and what to record about it.
#[derive(Debug)]
pub struct Authorized {
    /// The decision on the call.
    pub answer: Answer,
    /// The audit event, if a restriction decided; always for a refusal.
    pub event: Option<Event>,
    /// The arguments as they were checked, if they have to replace the call's own.
    pub arguments: Option<Value>,
}

impl From<Answer> for Authorized {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            event: None,
            arguments: None,
        }
    }
}

/// Decides on `used`, which activates the skill `called` if given. If the policy, the session or
/// the configuration is unreadable, only reading is allowed (law 2, docs/spec/README.md#laws).
pub fn authorize(
    facts: &Facts,
    session: &Result<Session, Unreadable>,
    used: &ToolUse,
    called: Option<&Called>,
) -> Authorized {
    // With nothing active, the call need not be matched to a skill's script.
    let active = session
        .as_ref()
        .ok()
        .filter(|session| !session.activated.is_empty());
    let script_of = active.and_then(|session| script_of(facts, used, session));
    let call = call_of(used, called, script_of.as_deref());
    let policies = match facts.policies() {
        Ok(policies) => policies,
        Err(error) => return closed(&call, "the policy cannot be read", &error),
    };
    if let Ok(session) = session
        && let Some(error) = lacks_always_on(facts, session)
    {
        return closed(&call, "what is always on is not in force", &error);
    }
    let session = match session {
        Ok(session)
            if session.activated.is_empty()
                && call.ours != Some(OurTool::Direct)
                && denies_no_tool(&policies) =>
        {
            return Answer::Allowed.into();
        }
        Ok(session) => session,
        Err(why) => {
            let by = format!("unreadable state: {why}");
            return without_rules(&call, answer(&decide_unreadable_state(&call)), &by);
        }
    };
    // Without a readable configuration, the default rules are the least that holds.
    let (config, unreadable) = match facts.config() {
        Ok(config) => (config, None),
        Err(_) if session.activated.is_empty() => (Rc::default(), None),
        Err(error) => (Rc::default(), Some(error)),
    };
    let enforcement =
        Enforcement::for_session(facts, &config, &policies, session).about(&policies, call.ours);
    let scope = enforcement.scope();
    let meant = meaning(facts, &scope, session, (&call, used, called));
    let call = Call {
        meant: &meant,
        ..call
    };
    let call = under_denied_name(&scope, call, used);
    let decision = decide(&scope, &call, &OnDisk);
    let event = decision_of(&scope, &call, &decision);
    if let Some(error) = unreadable {
        return match answer(&decision) {
            Answer::Refused(message) => Authorized {
                event: Some(event),
                ..Answer::Refused(format!("{message} ({error})")).into()
            },
            _ => closed(&call, "the configuration cannot be read", &error),
        };
    }
    let (answer, event) = match (answer(&decision), script_read(facts, session, used)) {
        (Answer::Allowed, Some(advice)) if config.script_reads == ScriptReads::Block => (
            Answer::Refused(format!("Reading it is not allowed: {advice}.")),
            event
                .with("decision", "blocked")
                .with("by", "script_reads")
                .with("refused", "path")
                .with("script_read", true),
        ),
        (Answer::Allowed, Some(advice)) => {
            // Our own tool says so itself.
            let says = (used.tool != ours::READ_FILE).then_some(true);
            (Answer::Noted(advice), event.with("script_read", says))
        }
        (decided, _) => (decided, event),
    };
    Authorized {
        // While no skill is active, a policy that permits a call has decided nothing about a skill.
        event: (!session.activated.is_empty() || answer != Answer::Allowed).then_some(event),
        answer,
        arguments: absolute_arguments(&scope, &call),
    }
}

/// Whether every call of a tool that is not ours is permitted: no skill was activated, so the
/// user's configuration denies nothing either, and no policy denies a tool.
pub fn nothing_is_in_force(facts: &Facts, session: &Result<Session, Unreadable>) -> bool {
    let is_idle = |session: &Session| session.activated.is_empty();
    let is_free = |session: &Session| is_idle(session) && lacks_always_on(facts, session).is_none();
    session.as_ref().is_ok_and(is_free) && facts.policies().is_ok_and(|it| denies_no_tool(&it))
}

/// Why skills that are always on here (`uses_skills`) are not in force, if so: a call is decided
/// with them or not at all. If the configuration has a mistake, what can be known of the user's own
/// counts.
pub fn lacks_always_on(facts: &Facts, session: &Session) -> Option<Error> {
    if session.has_always {
        return None;
    }
    let context = session.context.as_deref().unwrap_or_default();
    let uses = |config: &Config| {
        let names = config.uses_skills.names_for(context);
        // Those of the context that was left do not count here.
        names.is_some_and(|names| !names.is_empty()) || !session.always.is_empty()
    };
    let policies = facts.policies().unwrap_or_default();
    match facts.config() {
        Ok(config) => uses(&config).then(|| {
            let blocking = policies.always_on(true).next().map(|name| {
                format!(" (`agent-skills policy explain {name}` says what is required)")
            });
            let more = blocking.unwrap_or_default();
            Error::new(format!("no prompt has put them in force{more}"))
        }),
        // It would hide what a policy requires, too.
        Err(error) => (policies.required().next().is_some()
            || facts.own_config().map_or_else(
                |_| may_have_always_on(&facts.run.config_path()),
                |own| uses(&own),
            ))
        .then_some(error),
    }
}

fn denies_no_tool(policies: &Policies) -> bool {
    policies.denied_tools().next().is_none()
}

/// Allows reading and those of our own tools that only inform. Using a skill is blocked, because
/// the unreadable file may forbid it.
fn closed(call: &Call, what: &str, error: &Error) -> Authorized {
    let only_tells = match call.ours {
        Some(OurTool::ReadSkillFile { .. }) => true,
        Some(OurTool::Marketplace { action }) => {
            action.is_some_and(|action| !["install", "remove", "update"].contains(&action))
        }
        Some(_) => false,
        None => decide_unreadable_state(call).allows(),
    };
    if only_tells {
        return without_rules(call, Answer::Allowed, what);
    }
    let tool = call.tool;
    let message = format!("`{tool}` is not allowed while {what}: {error}. Tell the user.");
    without_rules(call, Answer::Refused(message), what)
}

fn without_rules(call: &Call, answer: Answer, by: &str) -> Authorized {
    let decision = match answer {
        Answer::Refused(_) => "blocked",
        _ => "allowed",
    };
    Authorized {
        event: Some(call_event(call, decision, by)),
        ..answer.into()
    }
}

fn answer(decision: &Decision) -> Answer {
    match &decision.outcome {
        Outcome::Blocked(refusal) => Answer::Refused(refusal.message(false)),
        Outcome::Warned(refusal) => Answer::Noted(refusal.message(false)),
        Outcome::Unrestricted | Outcome::Baseline | Outcome::Granted => Answer::Allowed,
    }
}
