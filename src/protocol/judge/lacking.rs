//! What is missing without which only reading is allowed: skills that are always on in chibi and not in
//! force, and skills that a policy requires and another agent has not found.

use crate::catalog::Catalog;
use crate::error::Error;
use crate::facts::Facts;
use crate::policy::{Event, Missing, MissingSkill, may_have_always_on};
use crate::session::{Seen, Session, Unreadable};
use crate::sys::EntryName;

/// What is missing.
#[derive(Debug)]
pub struct Lack {
    /// What that means, as a clause.
    pub what: &'static str,
    /// Which, and why.
    pub error: Error,
}

/// What is missing for calls of this host in this session.
pub fn lack(facts: &Facts, session: &Result<Session, Unreadable>) -> Option<Lack> {
    let missing = if facts.run.agent.is_none() {
        let what = "what is always on is not in force";
        let session = session.as_ref().ok();
        let error = session.and_then(|it| lacks_always_on(facts, it));
        error.map(|error| Lack { what, error })
    } else {
        let what = "a required skill is missing";
        required_and_missing(facts).map(|error| Lack { what, error })
    };
    // A mistake in the configuration could hide what a policy requires.
    missing.or_else(|| {
        let requires = facts.policies().is_ok_and(|all| all.require_any());
        let error = requires.then(|| facts.config().err())??;
        let what = "the configuration cannot be read";
        Some(Lack { what, error })
    })
}

/// Why skills that are always on here (`uses_skills`) are not in force, if so: a call is decided
/// with them or not at all. No project has a say in it, so its configuration is not read.
pub fn lacks_always_on(facts: &Facts, session: &Session) -> Option<Error> {
    if session.has_always {
        return None;
    }
    let policies = facts.policies().unwrap_or_default();
    let required = policies.always_on(false).next().is_some();
    let own = match facts.own_config() {
        Ok(own) => own,
        // A mistake in it would hide what a policy requires, too.
        Err(error) => {
            let may_use = || may_have_always_on(&facts.run.config_path());
            let lacks = policies.require_any() || may_use();
            return lacks.then_some(error);
        }
    };
    let context = session.context.as_deref().unwrap_or_default();
    let names = own.uses_skills.names_for(context);
    // Those of the context that was left do not count here.
    let uses = |names: Vec<&String>| !names.is_empty() || !session.always.is_empty();
    if !required && !names.is_some_and(uses) {
        return None;
    }
    let unreadable = facts.config().err();
    Some(unreadable.unwrap_or_else(|| {
        let blocking = policies.always_on(true).next();
        let more = blocking
            .map(|name| format!(" (`agent-skills policy explain {name}` says what is required)"));
        let more = more.unwrap_or_default();
        Error::new(format!("no prompt has put them in force{more}"))
    }))
}

/// The missing skill without which a policy allows only reading, if there is one.
fn required_and_missing(facts: &Facts) -> Option<Error> {
    let policies = facts.policies().ok()?;
    policies.always_on(true).next()?;
    let is_needed = |one: &MissingSkill| {
        let mut always = policies.always_on(true);
        one.missing == Missing::Block && always.any(|name| *name == one.name)
    };
    let missing = Catalog::disclosed(facts).missing;
    let found = missing.into_iter().find(is_needed)?;
    Some(Error::new(found.to_string()))
}

const MISSING: EntryName = EntryName::from_static("missing");

/// Records each skill that a policy requires and that is missing, once in each session, and returns
/// them. Without such a policy, nothing is looked at.
pub fn record_missing(facts: &Facts) -> Vec<MissingSkill> {
    let requires = facts.policies().is_ok_and(|all| all.require_any());
    let seen = Seen::at(facts.state(), MISSING);
    let session = facts.key().as_str().to_owned();
    if !requires || seen.before(&session) {
        return Vec::new();
    }
    let missing = Catalog::disclosed(facts).missing;
    for one in &missing {
        let event = Event::new("missing")
            .with("skill", one.name.as_str())
            .with("by", one.file.display().to_string())
            .with("reason", one.why.as_str());
        facts.record(event);
    }
    missing
}
