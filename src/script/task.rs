//! One program from its start to its end, or until its caller has waited long enough and it becomes
//! a job. It knows neither skills nor interpreters.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::job::{JobId, JobRecord, Jobs, Origin, Owner};
use super::outcome::{Outcome, State};
use super::pump::{Pump, Reports};
use super::report::Failure;
use super::spec::{Conditions, ProcessSpec};
use super::supervisor::Release;
use crate::error::{Error, Result};
use crate::sys::limits;
use crate::sys::process::ProcessId;

/// The conditions under which something runs.
#[derive(Debug, Clone, Copy)]
pub struct RunLimits<'a> {
    /// How long it may take altogether.
    pub limit: Duration,
    /// How long its caller waits before it becomes a job: zero for at once, `None` to wait until
    /// the end.
    pub wait: Option<Duration>,
    /// Where the job is stored.
    pub jobs: &'a Jobs,
    /// The owner of the job.
    pub owner: &'a Owner,
    /// The process with which it ends unless it becomes a job; `None` for a person's own command.
    pub host: Option<ProcessId>,
}

/// A program about to run.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// What to execute.
    pub image: &'a ProcessSpec,
    /// How the caller wrote it.
    pub label: &'a str,
    /// The script it is; `None` for one of our own commands.
    pub origin: Option<&'a Origin>,
    /// Its standard input; empty means none.
    pub stdin: &'a [u8],
    /// The job it may become.
    pub id: &'a JobId,
    /// The conditions under which it runs.
    pub terms: RunLimits<'a>,
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

/// Why a program never ran.
#[derive(Debug)]
pub enum NotRun {
    /// Reported by its process.
    Failed(Failure),
    /// It was not started, or it was lost.
    Error(Error),
}

/// Runs a program until it ends, reaches its limit, or becomes a job.
///
/// # Errors
/// When it cannot be started, or something killed its supervisor. A program that fails is an
/// outcome, not an error.
pub fn carry_out(task: &Task) -> Result<Ran, NotRun> {
    let began = Instant::now();
    let failed =
        |source: io::Error| NotRun::Error(Error::io("run", Path::new(task.label), &source));
    let RunLimits {
        limit, wait, host, ..
    } = task.terms;
    let conditions = Conditions {
        limit,
        at_once: wait == Some(Duration::ZERO),
        host,
    };
    let mut pump = Pump::start(task.image, conditions, task.stdin).map_err(failed)?;
    let run = Run { task, began };
    let until = wait.map_or(run.backstop(), |wait| run.backstop().min(began + wait));
    pump.run(until, never).map_err(failed)?;
    run.settle(pump)
}

struct Run<'a> {
    task: &'a Task<'a>,
    began: Instant,
}

impl Run<'_> {
    fn backstop(&self) -> Instant {
        self.began + self.task.terms.limit + limits::REAP + SLACK
    }

    /// Handles a program that ended or was waited for long enough.
    fn settle(&self, mut pump: Pump) -> Result<Ran, NotRun> {
        let mut notes = Vec::new();
        if pump.reports().is_open() && Instant::now() < self.backstop() {
            match self.become_job(&mut pump) {
                Ok(true) => {
                    let (running, [stdout, stderr]) = pump.leave();
                    let state = State::Running(self.task.id.clone());
                    return Ok(Ran {
                        outcome: self.outcome([stdout, stderr], state, notes),
                        release: running.leave(),
                    });
                }
                Ok(false) => self.task.terms.jobs.remove(self.task.id),
                // It has not begun, and ends unless it is handed over.
                Err(error) if pump.reports().script.is_none() => return Err(NotRun::Error(error)),
                Err(error) => {
                    pump.end();
                    let waited = self.began.elapsed().as_secs_f64();
                    notes.push(format!(
                        "stopped after {waited:.1} s: it could not go on as a job: {error}"
                    ));
                }
            }
            // The result is in the reports.
            let _ = pump.run(Instant::now() + limits::REAP + SLACK, never);
        }
        if let Some(failure) = pump.reports().failure {
            return Err(NotRun::Failed(failure));
        }
        if pump.reports().ended.is_none() {
            pump.abandon();
        }
        let (reports, [stdout, stderr]) = pump.finish();
        match reports.ended {
            Some(ended) => Ok(Ran {
                outcome: self.outcome([stdout, stderr], State::Ended(ended), notes),
                release: None,
            }),
            None => Err(NotRun::Error(self.lost(stdout.total() + stderr.total()))),
        }
    }

    fn become_job(&self, pump: &mut Pump) -> Result<bool> {
        let Task {
            label,
            id,
            origin,
            terms,
            ..
        } = self.task;
        let waited = self.began.elapsed();
        let facts = JobRecord::of_now(terms.owner, label, *origin, waited, terms.limit);
        let facts = facts.kept_by(Some(pump.supervisor()).filter(|keeper| keeper.start > 0));
        let spools = terms.jobs.create(id, &facts, pump.captured())?;
        pump.hand_over(&spools, Instant::now() + SLACK)
            .map_err(|source| Error::io("run", Path::new(label), &source))
    }

    fn outcome(
        &self,
        [stdout, stderr]: [super::Captured; 2],
        state: State,
        notes: Vec<String>,
    ) -> Outcome {
        Outcome {
            stdout,
            stderr,
            state,
            limit: self.task.terms.limit,
            duration: self.began.elapsed(),
            notes,
        }
    }

    fn lost(&self, bytes: u64) -> Error {
        let text = format!(
            "`{}` was stopped because its supervisor was killed or stopped, after {bytes} bytes \
             of output",
            self.task.label
        );
        Error::new(text).hint("a script must not signal its parent process")
    }
}

fn never(_: &Reports) -> bool {
    false
}
