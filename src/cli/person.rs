//! What only the user decides, and how a process shows that it is the user's. It knows no decision.

use std::io::IsTerminal;

use super::run::Caller;
use crate::app::App;
use crate::error::{Error, Result};

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
