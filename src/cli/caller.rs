//! Who runs a command, how that is known, and how a command can fail.

use std::io::IsTerminal;

use crate::error::{Error, Result};
use crate::host::ours;
use crate::run_context::RunContext;
use crate::sys::variables::OF_A_CALL;

/// Who runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A person, who can be asked at a terminal.
    Person {
        /// Whether standard input and error are terminals.
        terminal: bool,
    },
    /// The host, which cannot be asked.
    Host,
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// It was attempted and failed.
    Failed(Error),
    /// It succeeded, but the answer is negative; it still goes to standard output.
    Answered(String),
    /// The words are not a command: what is wrong with them, and the usage.
    Misused(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Failure {
    /// The answer; a failure unless it `is_good`.
    ///
    /// # Errors
    /// [`Failure::Answered`].
    pub fn unless(is_good: bool, answer: String) -> Result<String, Self> {
        if is_good {
            Ok(answer)
        } else {
            Err(Self::Answered(answer))
        }
    }
}

impl Caller {
    /// The person who started this process.
    pub fn person() -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self::Person { terminal }
    }
}

/// Whether the call came through the host, in this or the parent process; then it may come from the
/// model.
pub fn is_by_host(ctx: &RunContext, caller: Caller) -> bool {
    caller == Caller::Host || ctx.env.os(ours::BY_HOST).is_some()
}

/// Refuses `command` unless a person requests it. The host is refused, because the model may be
/// behind it, and so is any process below a host. The request must come from a terminal, which no
/// model uses, unless the user's configuration says that nobody sits there.
///
/// # Errors
/// When the caller is, or could be, somebody else.
pub fn decided_by_a_person(ctx: &RunContext, caller: Caller, command: &str) -> Result<()> {
    if is_by_host(ctx, caller) || is_below_a_host(ctx, caller) {
        return Err(only_for_people(ctx, command));
    }
    let unattended = || ctx.config().is_ok_and(|config| config.unattended);
    if std::io::stdin().is_terminal() || unattended() {
        return Ok(());
    }
    let text = format!("only a person at a terminal can decide to {command}");
    Err(Error::new(text).hint(
        "run it in a terminal; `agent-skills config set unattended true`, run in one, permits it without",
    ))
}

/// The refusal of a command that only the user may run.
pub fn only_for_people(ctx: &RunContext, command: &str) -> Error {
    let text = format!("only a person at a shell of their own can decide to {command}");
    if let Err((file, unreadable)) = ctx.store().health() {
        let text = format!(
            "{text}, and whether this is one is not known: `{}` cannot be read ({})",
            file.display(),
            unreadable
        );
        return Error::new(text).hint("`agent-skills doctor` says how to repair it");
    }
    if let Some(name) = ctx.store().without_host() {
        let text = format!(
            "{text}, and whether this is one is not known: an earlier version did not record the \
             host of the session `{}`",
            safe(&name)
        );
        return Error::new(text).hint("the next prompt in that session records it");
    }
    Error::new(text).hint(format!(
        "in a terminal, run: agent-skills {} (a model asks its user to)",
        safe(command)
    ))
}

/// Whether a host runs above this process; yes if the record is unreadable. The host itself is the
/// direct parent of its calls: a call with a host further up was made by a process below it that
/// only imitates the host. So is a command that is only marked as one for the host.
pub fn is_below_a_host(ctx: &RunContext, caller: Caller) -> bool {
    if caller == Caller::Host && ctx.env.os(ours::BY_HOST).is_none() {
        return ctx.store().is_below_a_host(true).unwrap_or(true);
    }
    let in_a_call = OF_A_CALL.iter().any(|name| ctx.env.os(name).is_some());
    in_a_call || ctx.store().is_below_a_host(false).unwrap_or(true)
}

/// A command to be copied from a message. A model wrote part of it, so it must not make a shell do
/// more than run that command.
pub fn safe(command: &str) -> String {
    let does_more = |c: &char| c.is_control() || "\"'`$\\;&|<>()!".contains(*c);
    let kept = command.chars().filter(|c| !does_more(c));
    kept.take(200).collect()
}
