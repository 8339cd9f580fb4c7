//! What only the user decides, and how a process shows that it is the user's. It knows no decision.

use std::io::IsTerminal;

use super::run::Caller;
use crate::app::App;
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::skill::one_line;

/// Refuses to do `command` unless a person asks for it: not the host, by way of which it could be the
/// model; not a process below a host; and at a terminal, at which no model types, or where the user's
/// configuration says that nobody sits there.
///
/// # Errors
/// When it is, or could be, somebody else.
pub fn decided_by_a_person(app: &App, caller: Caller, command: &str) -> Result<()> {
    let below = || app.store().is_below_a_host();
    // With an unreadable record nobody knows what is above.
    if caller == Caller::Host || below().unwrap_or(true) {
        let text = format!("only a person at a shell of their own can decide to {command}");
        return Err(Error::new(text).hint(format!(
            "ask the user to run `agent-skills {command}` in a terminal"
        )));
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

/// As [`decided_by_a_person`] for what takes the skill `written` away, if the configuration has that
/// always on: what it denies would be allowed.
///
/// # Errors
/// As [`decided_by_a_person`].
pub fn may_take_away(app: &App, caller: Caller, verb: &str, written: &str) -> Result<()> {
    let catalog = app.catalog_naming(written);
    let is_meant = |entry: &&Entry| {
        entry.name() == written || entry.dir.file_name().is_some_and(|dir| dir == written)
    };
    let named = catalog.by_name(written).into_iter();
    let mut meant = catalog.entries().iter().filter(is_meant).chain(named);
    if meant.any(|entry| is_always_on(app, entry)) {
        return decided_by_a_person(app, caller, &format!("{verb} {}", one_line(written)));
    }
    Ok(())
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
