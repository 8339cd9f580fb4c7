//! `jobs`: scripts and installs that continue after the call that started them.

use std::fmt::Write as _;
use std::io::Write;

use super::caller::Failure;
use super::json;
use crate::run_context::RunContext;
use crate::skill::one_line;
use crate::sys::Shown;

/// All jobs.
pub fn list(ctx: &RunContext, as_json: bool) -> Result<String, Failure> {
    let jobs = ctx.jobs().list();
    if as_json {
        return Ok(json::list("jobs", &jobs)?);
    }
    if jobs.is_empty() {
        return Ok("No jobs. A script that outlasts its call becomes one.\n".to_owned());
    }
    let mut text = String::new();
    for job in jobs {
        let skill = job
            .skill
            .as_deref()
            .map(|skill| format!(" of {skill}"))
            .unwrap_or_default();
        let exit = job
            .exit_code
            .map(|code| format!(", exit code {code}"))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "{}  {}{exit} after {} s  {}{skill}  ({})",
            job.id,
            job.state,
            job.duration_ms / 1000,
            one_line(&job.label),
            one_line(&job.owner)
        );
    }
    Ok(text)
}

/// Streams one job's output from its beginning until it ends.
pub fn follow(ctx: &RunContext, id: &str, out: &mut dyn Write) -> Result<String, Failure> {
    let outcome = ctx
        .jobs()
        .find_any(id)?
        .follow(out, &mut Shown::new(std::io::stderr().lock()))?;
    match outcome.exit_code() {
        Some(0) => Ok(String::new()),
        _ => Err(Failure::Answered(String::new())),
    }
}
