//! One program from its start to its end, or until its caller has waited long enough and it becomes
//! a job. It knows neither skills nor interpreters.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::capture::Captured;
use super::job::{JobId, JobRecord, Jobs, Owner};
use super::outcome::{Outcome, State};
use super::report::Failure;
use super::spec::{Conditions, ProcessSpec};
use super::supervisor::{Release, Running};
use crate::error::{Error, Result};
use crate::sys::process::ProcessId;
use crate::sys::{Moment, limits, millis};

/// The conditions under which something runs.
#[derive(Debug, Clone)]
pub struct RunLimits {
    /// How long it may take altogether.
    pub limit: Duration,
    /// How long its caller waits before it becomes a job: zero for at once, `None` to wait until
    /// the end.
    pub wait: Option<Duration>,
    /// Where the job is stored.
    pub jobs: Jobs,
    /// The owner of the job.
    pub owner: Owner,
    /// The process with which it ends unless it becomes a job; `None` for a person's own command.
    pub host: Option<ProcessId>,
}

/// A program about to run.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// What to execute.
    pub process: &'a ProcessSpec,
    /// How the caller wrote it.
    pub label: &'a str,
    /// The script it is; `None` for one of our own commands.
    pub skill: Option<&'a str>,
    /// Its standard input; empty means none.
    pub stdin: &'a [u8],
    /// The job it may become.
    pub id: &'a JobId,
    /// The conditions under which it runs.
    pub limits: &'a RunLimits,
    /// When the call that runs it began.
    pub began: Instant,
}

/// The result of starting or running it.
#[derive(Debug)]
pub struct Ran {
    /// The outcome so far.
    pub outcome: Outcome,
    /// For a new job, which ends unless this is released once its id is known.
    pub release: Option<Release>,
}

/// Time beyond limit and reaping after which a silent supervisor is given up.
const SLACK: Duration = Duration::from_secs(1);

impl Task<'_> {
    /// Runs the program until it ends, reaches its limit, or becomes a job.
    ///
    /// # Errors
    /// When it cannot be started, or something killed its supervisor. A program that fails is an
    /// outcome, not an error.
    pub fn run(&self) -> Result<Ran> {
        let RunLimits {
            limit, wait, host, ..
        } = *self.limits;
        let conditions = Conditions {
            limit,
            at_once: wait == Some(Duration::ZERO),
            host,
        };
        let failed = |source| self.failed("run", &source);
        let mut running = Running::start(self.process, conditions, self.stdin).map_err(failed)?;
        // From now on, as the supervisor counts: what came before may have taken long.
        let backstop = Instant::now() + limit + limits::REAP + SLACK;
        let until = wait.map_or(backstop, |wait| backstop.min(self.began + wait));
        running.run(until).map_err(failed)?;
        self.settle(running, backstop)
    }

    /// Handles a program that ended or was waited for long enough.
    fn settle(&self, mut running: Running, backstop: Instant) -> Result<Ran> {
        let mut notes = Vec::new();
        if running.reports.is_open() && Instant::now() < backstop {
            match self.become_job(&mut running) {
                Ok(true) => {
                    let state = State::Running(self.id.clone());
                    return Ok(Ran {
                        outcome: self.outcome(running.take_captured(), state, notes),
                        release: running.leave(),
                    });
                }
                Ok(false) => self.limits.jobs.remove(self.id),
                // It has not begun, and ends unless it is handed over.
                Err(error) if running.reports.script.is_none() => return Err(error),
                Err(error) => {
                    running.end();
                    let waited = self.began.elapsed().as_secs_f64();
                    notes.push(format!(
                        "stopped after {waited:.1} s: it could not continue as a job: {error}"
                    ));
                }
            }
            // The result is in the reports.
            let _ = running.run(Instant::now() + limits::REAP + SLACK);
        }
        if let Some(failure) = running.reports.failure {
            return Err(self.never_ran(failure));
        }
        if running.reports.ended.is_none() {
            running.abandon();
        }
        let captured = running.take_captured();
        match running.reports.ended {
            Some(ended) => Ok(Ran {
                outcome: self.outcome(captured, State::Ended(ended), notes),
                release: None,
            }),
            None => Err(self.lost(captured.iter().map(Captured::total).sum())),
        }
    }

    fn become_job(&self, running: &mut Running) -> Result<bool> {
        let record = JobRecord {
            owner: self.limits.owner.clone(),
            label: self.label.to_owned(),
            skill: self.skill.map(str::to_owned),
            started: Moment::now().0.saturating_sub(millis(self.began.elapsed())),
            limit: millis(self.limits.limit),
        };
        let jobs = &self.limits.jobs;
        let spools = jobs.create(self.id, &record, running.captured())?;
        let adopted = running.hand_over(&spools, Instant::now() + SLACK);
        adopted.map_err(|source| self.failed("run", &source))
    }

    fn outcome(&self, captured: [Captured; 2], state: State, notes: Vec<String>) -> Outcome {
        let [stdout, stderr] = captured;
        Outcome {
            stdout,
            stderr,
            state,
            limit: self.limits.limit,
            duration: self.began.elapsed(),
            notes,
        }
    }

    fn failed(&self, action: &str, source: &io::Error) -> Error {
        Error::io(action, Path::new(self.label), source)
    }

    fn lost(&self, bytes: u64) -> Error {
        let text = format!(
            "`{}` was stopped because its supervisor was killed or stopped, after {bytes} bytes \
             of output",
            self.label
        );
        Error::new(text).hint("a script must not signal its parent process")
    }

    fn never_ran(&self, failure: Failure) -> Error {
        let label = self.label;
        let reason = |errno| io::Error::from_raw_os_error(errno);
        match failure {
            Failure::NoWorkdir(errno) => {
                Error::io("enter", Path::new(&self.process.workdir), &reason(errno))
            }
            Failure::NotExecuted(libc::E2BIG) => {
                Error::new(format!("the arguments of `{label}` are too long"))
                    .hint("pass large data through `stdin` or a file")
            }
            Failure::NotExecuted(libc::ENOEXEC) => {
                let text = format!("`{label}` is a program for another system or processor");
                Error::new(text).hint("tell the user: its skill needs a build for this machine")
            }
            Failure::NotConfined(errno) => self
                .failed("confine", &reason(errno))
                .hint("tell the user: the setting `sandbox` decides whether it may run unconfined"),
            Failure::HostGone => self.failed("run", &io::Error::other("the host is gone")),
            Failure::NotExecuted(errno) => self.failed("run", &reason(errno)),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn long_preparation_is_not_a_lost_supervisor() {
        let dir = tempfile::tempdir().unwrap();
        let args = ["-c", "exit 3"].map(OsString::from);
        let process = ProcessSpec::new("/bin/sh".as_ref(), args, None, dir.path()).unwrap();
        let task = Task {
            process: &process,
            label: "script.sh",
            skill: None,
            stdin: &[],
            id: &JobId::random().unwrap(),
            limits: &RunLimits {
                limit: Duration::from_secs(5),
                wait: None,
                jobs: Jobs::new(dir.path().to_owned()),
                owner: Owner::session("test"),
                host: None,
            },
            began: Instant::now().checked_sub(Duration::from_mins(1)).unwrap(),
        };
        assert_eq!(task.run().unwrap().outcome.exit_code(), Some(3));
    }
}
