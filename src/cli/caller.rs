//! How it is known who runs a command, and how a command can fail.

use crate::cli::prelude::*;

use crate::host::ours;
use crate::host::program::agent_of;
use crate::sys::process::ProcessId;
use skill_text::visible;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// It was attempted and failed.
    Failed(Error),
    /// It succeeded, but the answer is negative; it still goes to standard output.
    Answered(String),
    /// It succeeded and has changed something, where a program wants to tell that from finding
    /// nothing to do.
    Changed(String),
    /// The words are not a command: what is wrong with them, and the usage.
    Misused(String),
}

/// What a command says on standard output, or why it failed.
pub type Answer = Result<String, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Failure {
    /// The same with another text on standard output.
    #[must_use]
    pub fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Answered(text) => Self::Answered(change(text)),
            Self::Changed(text) => Self::Changed(change(text)),
            other => other,
        }
    }

    /// The answer; a failure unless it `is_good`.
    ///
    /// # Errors
    /// [`Failure::Answered`].
    pub fn unless(is_good: bool, answer: String) -> Answer {
        if is_good {
            Ok(answer)
        } else {
            Err(Self::Answered(answer))
        }
    }
}

/// An agent's process of which this one is a descendant.
#[derive(Debug)]
pub struct AncestorAgent {
    name: String,
    process: ProcessId,
}

/// The nearest agent below which this process runs: an ancestor that is the host of a live session, or
/// that runs an agent's program (docs/administration.md#below-an-agent). Nothing else is known of
/// processes. The host of a call is the direct parent and does not count: above it, another agent may
/// have started it.
pub fn ancestor_agent(call: CliCall) -> Option<AncestorAgent> {
    let (facts, is_person) = (call.facts, call.caller != Caller::Host);
    let is_hosts_own = !is_person && facts.run.env.os(ours::BY_HOST).is_none();
    let above: Vec<ProcessId> = ProcessId::ancestors().skip(is_hosts_own.into()).collect();
    let host = facts.store().host_among(&above);
    above.into_iter().find_map(|process| {
        let image = process.image();
        let name = match agent_of(&image, is_person) {
            Some(name) => name.to_owned(),
            None if host == Some(process) => visible(&image.comm),
            None => return None,
        };
        Some(AncestorAgent { name, process })
    })
}

/// Whether a model may have typed the command.
pub fn may_be_model(call: CliCall) -> bool {
    call.caller == Caller::Host || ancestor_agent(call).is_some()
}

/// Refuses the command unless a person requests it: at a terminal below no agent. In scripts, where
/// nobody sits, the user's configuration says so.
///
/// # Errors
/// When the caller is, or could be, somebody else.
pub fn require_person(call: CliCall) -> Result<()> {
    let agent = ancestor_agent(call);
    if call.caller == Caller::Host || agent.is_some() {
        return Err(people_only(agent.as_ref(), call));
    }
    if std::io::stdin().is_terminal() {
        return Ok(());
    }
    let command = call.command();
    let text = format!("only a person at a terminal can run `agent-skills {command}`");
    // Read only where it decides: what is read is not read again after a change.
    let config = call.facts.config().map_err(|unreadable| {
        unreadable.context(format!("{text}, and whether a script may is not known"))
    })?;
    if config.unattended {
        return Ok(());
    }
    Err(Error::new(text).hint(format!(
        "run it in a terminal; to allow scripts, set `unattended = true` in {} by hand and give `--yes` where it would ask",
        call.facts.run.config_path().display()
    )))
}

/// The refusal of a command that only the user may run.
pub fn people_only(agent: Option<&AncestorAgent>, call: CliCall) -> Error {
    let command = call.command();
    let text = format!("only a person at their own terminal can run `agent-skills {command}`");
    let Some(AncestorAgent { name, process }) = agent else {
        return Error::new(text).hint(
            "run `agent-skills` itself in a terminal, not through `chibi -p`: a model's call looks the same there",
        );
    };
    let pid = process.pid;
    let text = format!("{text}, and this runs below `{name}` (process {pid})");
    Error::new(text).hint(format!(
        "run it in a terminal that `{name}` did not start; a model has to ask its user"
    ))
}

/// A command as it is typed to the host of this call.
pub fn host_command(run: &RunContext, command: &str) -> String {
    let typed = format!("chibi -p agent-skills \"{}\"", quotable(command));
    match run.protocol {
        Some(Protocol::Environment) => format!("{typed} (chibi 0.4: -P)"),
        _ => typed,
    }
}

/// A command to be copied between double quotes. A model wrote part of it, so it must not make a
/// shell do more than run that command.
fn quotable(command: &str) -> String {
    let does_more = |c: &char| c.is_control() || "\"'`$\\;&|<>()!".contains(*c);
    let kept = command.chars().filter(|c| !does_more(c));
    kept.take(200).collect()
}
