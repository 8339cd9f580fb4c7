//! Commands that may take longer than the host waits: they run in their own process, which becomes
//! a job when the host's time is up (docs/spec/hosts.md#time-limits).

use std::time::Duration;

use crate::error::{Error, Result};
use crate::host::ours;
use crate::protocol::Response;
use crate::run_context::RunContext;
use crate::script::{self, Command, Ran, RunLimits};
use crate::sys::limits;

/// The verbs that access the network.
const LONG: [&str; 2] = ["install", "update"];

/// The answer of a command that may take long, on a host with a time limit; `None` for any other
/// command or host.
pub fn long_command(ctx: &RunContext, words: &[String]) -> Option<Response> {
    let is_long = words
        .first()
        .is_some_and(|verb| LONG.contains(&verb.as_str()));
    let wait = ctx.script_wait(&ctx.script_settings().ok()?)?;
    is_long.then(|| run(ctx, words, wait).unwrap_or_else(|error| Response::failure(&error)))
}

fn run(ctx: &RunContext, words: &[String], wait: Duration) -> Result<Response> {
    let home = ctx.dirs.plugin.display().to_string();
    let ran = script::run_command(&Command {
        args: words,
        env: &[
            ("AGENT_SKILLS_HOME".to_owned(), home),
            (ours::BY_HOST.to_owned(), "1".to_owned()),
        ],
        terms: RunLimits {
            limit: Duration::from_secs(limits::GIT_SECONDS),
            wait: Some(wait),
            jobs: &ctx.jobs(),
            owner: &ctx.owner(),
            host: ctx.host(),
        },
        base: &ctx.env,
    })?;
    Ok(answer(ran))
}

/// The answer in the form of the command line: the output on success, or one error.
fn answer(ran: Ran) -> Response {
    if let Some(release) = ran.release {
        return Response::text(ran.outcome.text()).once_written(|| release.release());
    }
    match ran.outcome.exit_code() {
        Some(0) => Response::text(ran.outcome.stdout.text()),
        Some(1 | 2) if ran.outcome.stdout.text().is_empty() => {
            Response::failure(&as_error(&ran.outcome.stderr.text()))
        }
        _ => Response::text(ran.outcome.text()),
    }
}

/// What the command wrote to standard error: remarks, and at the end the error and its hint.
fn as_error(stderr: &str) -> Error {
    let (text, hint) = match stderr.rsplit_once("\nhint: ") {
        Some((text, hint)) => (text, Some(hint.trim_end())),
        None => (stderr.trim_end(), None),
    };
    let error = Error::new(text.rsplit("agent-skills: ").next().unwrap_or(text));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_on_standard_error_are_the_error() {
        let error = as_error("agent-skills: reading it as x\nagent-skills: no such y\nhint: z\n");
        assert_eq!(
            (error.to_string().as_str(), error.next_step()),
            ("no such y", Some("z"))
        );
        assert_eq!(as_error("agent-skills: a\n").to_string(), "a");
    }
}
