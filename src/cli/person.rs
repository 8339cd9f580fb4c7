//! The single function that checks whether the caller may run a command (see `decisions`), and how
//! a process proves that the user started it.

use std::io::IsTerminal;

use super::args::Verb;
use super::decisions::{Who, decision};
use super::model_install::{model_may, safe};
use super::run::Caller;
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::host::ours;
use crate::protocol::ModelInstall;
use crate::run_context::RunContext;
use crate::session::snapshot;
use crate::skill::one_line;

/// Variables of a host call, inherited by its child processes.
const OF_A_CALL: [&str; 4] = [
    "CHIBI_HOOK",
    "CHIBI_HOOK_DATA",
    "CHIBI_TOOL_NAME",
    "CHIBI_TOOL_ARGS",
];

/// Whether the call came through the host, here or in the parent process; then it may come from the
/// model.
pub fn is_by_host(app: &RunContext, caller: Caller) -> bool {
    caller == Caller::Host || app.env.os(ours::BY_HOST).is_some()
}

/// Allows the caller to run `verb`, whose words are `words`, or refuses.
///
/// # Errors
/// When somebody else has to decide it.
pub fn may(app: &RunContext, caller: Caller, verb: &Verb, words: &[String]) -> Result<()> {
    let decision = decision(verb);
    match (decision.who, verb) {
        (Who::Anyone, _) => Ok(()),
        (Who::Remover, Verb::Remove { name, .. })
            if caller == Caller::Host && !is_below_a_host(app, caller) =>
        {
            may_take_away(app, caller, name, &decision.command)
        }
        (Who::Person | Who::Remover, _) => decided_by_a_person(app, caller, &decision.command),
        // `pre_tool` has judged what a model asks of the host; a direct call comes from its user.
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

/// Refuses `command` unless a person requests it: not the host, because the model may be behind it;
/// not a process below a host. It must come from a terminal, which no model uses, unless the user's
/// configuration says that nobody sits there.
///
/// # Errors
/// When the caller is, or could be, somebody else.
pub fn decided_by_a_person(app: &RunContext, caller: Caller, command: &str) -> Result<()> {
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

fn of_their_own(app: &RunContext, command: &str) -> Error {
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

/// If the record is unreadable, the answer is yes. The host itself is the direct parent of its
/// calls; a call with a host further up was made by a process below it that only imitates the host.
fn is_below_a_host(app: &RunContext, caller: Caller) -> bool {
    if caller == Caller::Host {
        return app.store().is_below_a_host(true).unwrap_or(true);
    }
    let in_a_call = OF_A_CALL.iter().any(|name| app.env.os(name).is_some());
    in_a_call || app.store().is_below_a_host(false).unwrap_or(true)
}

/// Like [`decided_by_a_person`], for removing the skill `written`, but only if it restricts
/// something or is always on: removal would allow what it denies.
fn may_take_away(app: &RunContext, caller: Caller, written: &str, command: &str) -> Result<()> {
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

/// In any context, even if invisible from this one. Doubt counts as yes.
fn is_always_on(app: &RunContext, entry: &Entry) -> bool {
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
