//! `jobs`: scripts and installs that continue after the call that started them.

use std::io::Write;

use crate::cli::prelude::*;
use crate::script;
use crate::sys::Shown;

/// List scripts and installs that continue as jobs; follow one
#[derive(Debug, clap::Args)]
pub struct JobsArgs {
    /// Follow this job's output
    #[arg(long, value_name = "ID")]
    pub follow: Option<String>,
}

impl JobsArgs {
    /// Lists the jobs, or streams one job's output to `live`.
    pub fn run(&self, call: CliCall, live: &mut dyn Write) -> Answer {
        match &self.follow {
            Some(id) => follow(&call.facts.run, id, live),
            None => Ok(list(call)?),
        }
    }
}

fn list(call: CliCall) -> Result<String> {
    let jobs = script::Jobs::of(&call.facts.run).list();
    let none = "No jobs. A script that outlasts its call becomes a job.\n";
    call.answers_or("jobs", &jobs, none, || {
        let line = |job: &script::JobSummary| {
            let skill = job.skill.as_ref().map(|skill| format!(" of {skill}"));
            let exit = job.exit_code.map(|code| format!(", exit code {code}"));
            let (exit, skill) = (exit.unwrap_or_default(), skill.unwrap_or_default());
            let (seconds, label) = (job.duration_ms / 1000, one_line(&job.label));
            let (id, state, owner) = (&job.id, &job.state, one_line(&job.owner));
            format!("{id}  {state}{exit} after {seconds} s  {label}{skill}  ({owner})\n")
        };
        jobs.iter().map(line).collect()
    })
}

/// Streams one job's output from its beginning until it ends.
fn follow(run: &RunContext, id: &str, out: &mut dyn Write) -> Answer {
    let outcome = script::Jobs::of(run)
        .find_any(id)?
        .follow(out, &mut Shown::new(std::io::stderr().lock()))?;
    Failure::unless(outcome.exit_code() == Some(0), String::new())
}
