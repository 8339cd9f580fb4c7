//! Commands that may take longer than the host waits: they run in their own process, which becomes
//! a job when the host's time is up (docs/spec/hosts.md#time-limits).

use std::time::Duration;

use crate::error::Result;
use crate::host::ours;
use crate::protocol::Response;
use crate::run_context::RunContext;
use crate::script::{self, RunLimits};
use crate::sys::limits;

/// The verbs that access the network.
const LONG: [&str; 2] = ["install", "update"];

/// The answer of a command that may take long, on a host with a time limit; `None` for any other
/// command or host.
pub fn long_command(ctx: &RunContext, words: &[String]) -> Option<Result<Response>> {
    let verb = words.iter().find(|word| !word.starts_with('-'));
    let is_long = verb.is_some_and(|verb| LONG.contains(&verb.as_str()));
    let wait = ctx.script_wait().ok()??;
    is_long.then(|| run(ctx, words, wait))
}

fn run(ctx: &RunContext, words: &[String], wait: Duration) -> Result<Response> {
    let home = ctx.dirs.plugin.display().to_string();
    let env = [
        ("AGENT_SKILLS_HOME".to_owned(), home),
        (ours::BY_HOST.to_owned(), "1".to_owned()),
    ];
    let limits = RunLimits {
        limit: Duration::from_secs(limits::GIT_SECONDS),
        wait: Some(wait),
        jobs: &ctx.jobs(),
        owner: &ctx.owner(),
        host: ctx.host(),
    };
    let ran = script::run_command(&ctx.env, words, &env, limits)?;
    if let Some(release) = ran.release {
        return Ok(Response::text(ran.outcome.text()).once_written(|| release.release()));
    }
    Ok(Response::text(match ran.outcome.exit_code() {
        // With these, standard output is the answer as the host's call would give it.
        Some(0..=2) => ran.outcome.stdout.text(),
        _ => ran.outcome.text(),
    }))
}
