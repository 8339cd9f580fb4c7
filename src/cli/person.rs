//! The one function that asks whether who wants something done may have it done (see `decisions`),
//! and how a process shows that it is the user's.

use std::io::IsTerminal;

use super::args::Verb;
use super::decisions::{Who, decision};
use super::model_install::{ModelInstall, model_may, safe};
use super::run::Caller;
use crate::app::{App, snapshot};
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::skill::one_line;

/// Variables of a call of the host's, which what the call starts inherits.
const OF_A_CALL: [&str; 4] = [
    "CHIBI_HOOK",
    "CHIBI_HOOK_DATA",
    "CHIBI_TOOL_NAME",
    "CHIBI_TOOL_ARGS",
];

/// Tells a process that does what the host was asked for that it is one.
pub const BY_HOST: &str = "AGENT_SKILLS_BY_HOST";

/// Whether the host asked, here or in the process that started this one for it: then it can have been
/// the model.
pub fn is_by_host(app: &App, caller: Caller) -> bool {
    caller == Caller::Host || app.env.os(BY_HOST).is_some()
}

/// Lets `verb`, which `words` are, be done by whoever wants it, or refuses.
///
/// # Errors
/// When it is somebody else's to decide.
pub fn may(app: &App, caller: Caller, verb: &Verb, words: &[String]) -> Result<()> {
    let decision = decision(verb);
    match (decision.who, verb) {
        (Who::Anyone, _) => Ok(()),
        (Who::Remover, Verb::Remove { name, .. })
            if caller == Caller::Host && !is_below_a_host(app, caller) =>
        {
            may_take_away(app, caller, name, &decision.command)
        }
        (Who::Person | Who::Remover, _) => decided_by_a_person(app, caller, &decision.command),
        // What a model asks of the host was judged by `pre_tool`; a direct call is its user's.
        (Who::Installer, _) if !is_below_a_host(app, caller) => Ok(()),
        (Who::Installer, _) => match model_may(app, words) {
            ModelInstall::Allowed => Ok(()),
            ModelInstall::AllowedAs(reference) => {
                let text = format!(
                    "`{}` can be understood in several ways",
                    one_line(&words.join(" "))
                );
                Err(Error::new(text).hint(format!("write `agent-skills install {reference}`")))
            }
            ModelInstall::Refused(_) => Err(of_their_own(app, &decision.command)),
        },
    }
}

/// Refuses to do `command` unless a person asks for it: not the host, by way of which it could be the
/// model; not a process below a host; and at a terminal, at which no model types, or where the user's
/// configuration says that nobody sits there.
///
/// # Errors
/// When it is, or could be, somebody else.
pub fn decided_by_a_person(app: &App, caller: Caller, command: &str) -> Result<()> {
    if is_by_host(app, caller) || is_below_a_host(app, caller) {
        return Err(of_their_own(app, command));
    }
    let unattended = || app.config().is_ok_and(|config| config.unattended);
    if std::io::stdin().is_terminal() || unattended() {
        return Ok(());
    }
    let text = format!("only a person at a terminal can decide to {command}");
    Err(Error::new(text).hint(
        "run it in a terminal; `agent-skills config set unattended true`, run in one, permits it without",
    ))
}

fn of_their_own(app: &App, command: &str) -> Error {
    let text = format!("only a person at a shell of their own can decide to {command}");
    if let Err((file, unreadable)) = app.store().health() {
        let text = format!(
            "{text}, and whether this is one is not known: `{}` cannot be read ({})",
            file.display(),
            unreadable.reason
        );
        return Error::new(text).hint("`agent-skills doctor` says how to repair it");
    }
    Error::new(text).hint(format!(
        "in a terminal, run: agent-skills {} (a model asks its user to)",
        safe(command)
    ))
}

/// With an unreadable record nobody knows what is above. The host itself is right above its calls: a
/// call that has one further up was made by a process below that, which only looks like a host.
fn is_below_a_host(app: &App, caller: Caller) -> bool {
    if caller == Caller::Host {
        return app.store().is_below_a_host(true).unwrap_or(true);
    }
    let in_a_call = OF_A_CALL.iter().any(|name| app.env.os(name).is_some());
    in_a_call || app.store().is_below_a_host(false).unwrap_or(true)
}

/// As [`decided_by_a_person`] for what takes the skill `written` away, if that restricts something or
/// the configuration has it always on: what it denies would be allowed.
fn may_take_away(app: &App, caller: Caller, written: &str, command: &str) -> Result<()> {
    let catalog = app.catalog_naming(written);
    let is_meant = |entry: &&Entry| {
        entry.name() == written || entry.dir.file_name().is_some_and(|dir| dir == written)
    };
    let named = catalog.by_name(written).into_iter();
    let mut meant = catalog.entries().iter().filter(is_meant).chain(named);
    if meant.any(|entry| restricts(entry) || is_always_on(app, entry)) {
        return decided_by_a_person(app, caller, command);
    }
    Ok(())
}

fn restricts(entry: &Entry) -> bool {
    let skill = entry.disclosed();
    skill.is_some_and(|skill| snapshot(skill, "").is_restricted())
}

/// In any context, also where this one does not see it. Doubt counts as yes.
fn is_always_on(app: &App, entry: &Entry) -> bool {
    app.config().map_or(true, |config| {
        let is_it = |name: &str| {
            let catalog = app.catalog_naming(name);
            let qualified = catalog.by_qualified_name(name);
            let named = qualified.or_else(|| catalog.by_name(name));
            named.is_some_and(|named| named.dir == entry.dir)
        };
        config.uses_skills.names().any(is_it)
    })
}
