//! One program from its start to its end, or until its caller has waited long enough and it becomes
//! a job: starts a supervisor ([`super::supervise`]), follows its reports, and reads the outputs from
//! the files that it writes. It knows neither skills nor interpreters.

use super::prelude::*;
use super::spool;
use std::process::Child;

use wait_timeout::ChildExt;

use super::supervise;
use crate::sys::process::kill_group;

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
    pub owner: String,
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
pub struct ScriptRun {
    /// The outcome so far.
    pub outcome: ScriptOutcome,
    /// For a new job, which ends unless this is released once its id is known.
    pub release: Option<UnreleasedJob>,
}

/// The lifeline of a job whose id nobody knows yet. Dropping it ends the job.
#[derive(Debug)]
pub struct UnreleasedJob(Lifeline);

impl UnreleasedJob {
    /// Makes the job independent of this process, once its id is known.
    pub fn release(self) {
        self.0.tell(CallMessage::Release);
    }
}

/// Time beyond limit and reaping after which a silent supervisor is given up.
const SLACK: Duration = Duration::from_secs(1);
/// How long a supervisor may take to read its specification, and to exit.
const PATIENCE: Duration = Duration::from_secs(10);

impl Task<'_> {
    /// Runs the program until it ends, reaches its limit, or becomes a job.
    ///
    /// # Errors
    /// When it cannot be started, or something killed its supervisor. A program that fails is an
    /// outcome, not an error.
    pub fn run(&self) -> Result<ScriptRun> {
        let RunLimits {
            limit, wait, host, ..
        } = *self.limits;
        let conditions = Conditions {
            limit,
            at_once: wait == Some(Duration::ZERO),
            host,
        };
        let failed = |source| self.failed("run", &source);
        let mut running =
            SupervisedProgram::start(self.process, conditions, self.stdin).map_err(failed)?;
        // From now on, as the supervisor counts: what came before may have taken long.
        let backstop = Instant::now() + limit + limits::REAP + SLACK;
        let until = wait.map_or(backstop, |wait| backstop.min(self.began + wait));
        running.follow(until).map_err(failed)?;
        let mut notes = Vec::new();
        if running.is_open() && Instant::now() < backstop {
            match self.become_job(&mut running) {
                Ok(Some(captured)) => {
                    let state = ScriptState::Running(self.id.clone());
                    return Ok(ScriptRun {
                        outcome: self.outcome(captured, state, notes),
                        release: running.lifeline.take().map(UnreleasedJob),
                    });
                }
                Ok(None) => {}
                // It has not begun, and ends unless it becomes a job.
                Err(error) if conditions.at_once => return Err(error),
                Err(error) => {
                    running.tell(CallMessage::End);
                    let waited = self.began.elapsed().as_secs_f64();
                    notes.push(format!(
                        "stopped after {waited:.1} s: it could not continue as a job: {error}"
                    ));
                }
            }
            // What comes of it is in the reports.
            let _ = running.follow(Instant::now() + limits::REAP + SLACK);
        }
        if let Some(failure) = running.failure {
            return Err(self.never_ran(failure));
        }
        if running.ended.is_none() {
            running.abandon();
        }
        let captured = running.captured().map_err(failed)?;
        let Some(ended) = running.ended else {
            let text = format!(
                "`{}` was stopped because its supervisor was killed or stopped, after {} bytes of \
                 output",
                self.label,
                captured.iter().map(|output| output.total).sum::<u64>()
            );
            return Err(Error::new(text).hint("a script must not signal its parent process"));
        };
        Ok(ScriptRun {
            outcome: self.outcome(captured, ScriptState::Ended(ended), notes),
            release: None,
        })
    }

    /// Makes a job of the program, and returns its outputs so far; `None` if it ended meanwhile.
    fn become_job(&self, running: &mut SupervisedProgram) -> Result<Option<[CapturedOutput; 2]>> {
        let dir = self.limits.jobs.begin(self.id)?;
        running.tell(CallMessage::Adopt(dir.path().into()));
        let followed = running.follow(Instant::now() + SLACK);
        followed.map_err(|source| self.failed("run", &source))?;
        let Some(adopted) = running.adopted.take() else {
            return Ok(None);
        };
        let record = JobRecord {
            owner: self.limits.owner.clone(),
            label: self.label.to_owned(),
            skill: self.skill.map(str::to_owned),
            started: UnixMillis::now()
                .0
                .saturating_sub(millis(self.began.elapsed())),
            limit: millis(self.limits.limit),
        };
        let recorded = adopted
            .map_err(io::Error::from_raw_os_error)
            .and_then(|()| {
                let captured = running.captured()?;
                record.write(&dir, captured.each_ref().map(|output| output.next))?;
                Ok(captured)
            });
        let failed = |source| Error::io("write", dir.path(), &source);
        recorded.map(Some).map_err(failed)
    }

    fn outcome(
        &self,
        captured: [CapturedOutput; 2],
        state: ScriptState,
        notes: Vec<String>,
    ) -> ScriptOutcome {
        let [stdout, stderr] = captured;
        ScriptOutcome {
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

    fn never_ran(&self, failure: StartFailure) -> Error {
        let label = self.label;
        let reason = |errno| io::Error::from_raw_os_error(errno);
        match failure {
            StartFailure::NoWorkdir(errno) => {
                Error::io("enter", Path::new(&self.process.workdir), &reason(errno))
            }
            StartFailure::NotExecuted(libc::E2BIG) => {
                Error::new(format!("the arguments of `{label}` are too long"))
                    .hint("pass large data through `stdin` or a file")
            }
            StartFailure::NotExecuted(libc::ENOEXEC) => {
                let text = format!("`{label}` is a program for another system or processor");
                Error::new(text).hint("tell the user: its skill needs a build for this machine")
            }
            StartFailure::NotConfined(errno) => self
                .failed("confine", &reason(errno))
                .hint("tell the user: the setting `sandbox` decides whether it may run unconfined"),
            StartFailure::HostGone => self.failed("run", &io::Error::other("the host is gone")),
            StartFailure::NotExecuted(errno) => self.failed("run", &reason(errno)),
        }
    }
}

/// A program under supervision. Dropping it ends the program.
struct SupervisedProgram {
    supervisor: Child,
    /// `None` once the program was left to the supervisor.
    lifeline: Option<Lifeline>,
    /// Standard output and standard error, as far as the program is no job.
    outputs: [File; 2],
    /// The program's process, once it exists.
    script: Option<u32>,
    /// Why the program never ran, if so.
    failure: Option<StartFailure>,
    /// Whether it became a job, if that was asked for.
    adopted: Option<Result<(), i32>>,
    /// Its end; `None` while it runs, and if the supervisor died or did not answer.
    ended: Option<ScriptExit>,
}

impl SupervisedProgram {
    /// Starts a supervisor for a process with this standard input.
    fn start(process: &ProcessSpec, conditions: Conditions, stdin: &[u8]) -> io::Result<Self> {
        let (ours, its) = UnixStream::pair()?;
        let outputs = [files::unnamed()?, files::unnamed()?];
        // This program itself, even if its file has been replaced meanwhile.
        let program = if cfg!(target_os = "linux") {
            "/proc/self/exe".into()
        } else {
            std::env::current_exe()?
        };
        let supervisor = Command::new(program)
            .arg0("agent-skills")
            .arg(supervise::VERB)
            .env_clear()
            .stdin(OwnedFd::from(its))
            .stdout(outputs[0].try_clone()?)
            .stderr(outputs[1].try_clone()?)
            .spawn()?;
        let mut running = Self {
            supervisor,
            lifeline: None,
            outputs,
            script: None,
            failure: None,
            adopted: None,
            ended: None,
        };
        ours.set_write_timeout(Some(PATIENCE))?;
        process.send(&ours, conditions, stdin)?;
        running.lifeline = Some(Lifeline::new(ours)?);
        Ok(running)
    }

    /// Whether more reports may come.
    fn is_open(&self) -> bool {
        let lifeline = self.lifeline.as_ref();
        lifeline.is_some_and(|lifeline| lifeline.is_open) && self.ended.is_none()
    }

    /// Follows the reports until the program has ended or become a job, or until `until`.
    fn follow(&mut self, until: Instant) -> io::Result<()> {
        while self.is_open() && self.adopted.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            let Some(lifeline) = self.lifeline.as_mut().filter(|_| !left.is_zero()) else {
                break;
            };
            poll([lifeline.poll_target()], left)?;
            while let Some(report) = lifeline.hear() {
                match report {
                    SupervisorMessage::Started(pid) => self.script = Some(pid),
                    SupervisorMessage::Failed(failure) => self.failure = Some(failure),
                    SupervisorMessage::Adopted(adopted) => self.adopted = Some(adopted),
                    SupervisorMessage::Ended(ended) => self.ended = Some(ended),
                }
            }
        }
        Ok(())
    }

    fn tell(&self, order: CallMessage) {
        if let Some(lifeline) = &self.lifeline {
            lifeline.tell(order);
        }
    }

    /// Kills a supervisor that did not answer, and the program's group if known.
    fn abandon(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
        kill_group(self.script.unwrap_or(0));
    }

    /// The outputs so far.
    fn captured(&self) -> io::Result<[CapturedOutput; 2]> {
        let read = |at: usize| spool::read(&self.outputs[at], 0, self.ended.is_none());
        Ok([read(0)?, read(1)?])
    }
}

impl Drop for SupervisedProgram {
    fn drop(&mut self) {
        // The lifeline first: when it closes, the supervisor kills what is left and exits.
        if self.lifeline.take().is_none() {
            return;
        }
        let ended = self.supervisor.wait_timeout(PATIENCE);
        if !matches!(ended, Ok(Some(_))) {
            self.abandon();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
