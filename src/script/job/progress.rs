//! One job as others see it: whether it runs, its new output, its end, and stopping it. All of that
//! uses a FIFO that the supervisor holds open, rather than a process id, which could have been
//! reused: opening it for writing shows whether the supervisor lives, writing stops the job, and
//! polling wakes at its end.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fs::{Mode, OFlags};
use serde::Serialize;

use super::record::{JobId, JobRecord};
use crate::error::{Error, Result};
use crate::script::capture::Captured;
use crate::script::outcome::{Outcome, State};
use crate::script::report::Ended;
use crate::script::spool::{self, News};
use crate::sys::{Durable, EntryName, Moment, files, limits, poll};

/// A job.
#[derive(Debug, Clone)]
pub struct Job {
    pub(super) id: JobId,
    pub(super) dir: PathBuf,
    /// What was recorded when it began.
    pub record: JobRecord,
}

/// A snapshot of a job: the output since the last one, and its end position.
#[derive(Debug)]
pub struct Look {
    /// What is new.
    pub outcome: Outcome,
    /// The positions for [`Job::mark_seen`], or for the next look.
    pub seen: [u64; 2],
}

/// A job in a list.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// The script or command, as its caller wrote it.
    pub label: String,
    /// The skill it is part of.
    pub skill: Option<String>,
    /// Its owner.
    pub owner: String,
    /// Its start, in milliseconds since 1970.
    pub started: u64,
    /// How long it has run, or ran, in milliseconds.
    pub duration_ms: u64,
    /// `running`, `ended`, `timed out`, `stopped` or `lost`.
    pub state: &'static str,
    /// Its exit status, if it exited on its own.
    pub exit_code: Option<i32>,
}

/// Time beyond reaping after which a supervisor is assumed to be stopped.
const SLACK: Duration = Duration::from_secs(1);

impl Job {
    pub(super) const RECORD: EntryName = EntryName::from_static("job.json");
    pub(super) const STDOUT: EntryName = EntryName::from_static("stdout");
    pub(super) const STDERR: EntryName = EntryName::from_static("stderr");
    pub(super) const SEEN: EntryName = EntryName::from_static("seen.json");
    pub(super) const STOP: &'static str = "stop";
    pub(super) const EXIT: &'static str = "exit";

    /// Whether its supervisor is alive.
    pub fn is_running(&self) -> bool {
        self.lifeline().is_some()
    }

    /// Waits for its end, at most until `until`.
    ///
    /// # Errors
    /// When the system refuses to wait.
    pub fn wait(&self, until: Instant) -> Result<()> {
        let Some(lifeline) = self.lifeline() else {
            return Ok(());
        };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // No event is requested: `poll` wakes with an error when the last reader is gone.
            let ended = [Some((lifeline.as_fd(), PollFlags::empty()))];
            let ended = poll(ended, left);
            let [ended] = ended.map_err(|source| self.failed("wait for", &source))?;
            if ended || left.is_zero() {
                return Ok(());
            }
        }
    }

    /// Stops it and waits until everything it started is gone. A job that has ended stays
    /// unchanged.
    ///
    /// # Errors
    /// When its supervisor does not answer.
    pub fn stop(&self) -> Result<()> {
        let Some(mut lifeline) = self.lifeline() else {
            return Ok(());
        };
        // An error means that it has just ended.
        let _ = lifeline.write(b"s");
        drop(lifeline);
        self.wait(Instant::now() + limits::REAP + SLACK)?;
        if self.is_running() {
            return Err(Error::new(format!("job `{}` did not end", self.id))
                .hint("its supervisor does not answer: tell the user"));
        }
        Ok(())
    }

    /// The output since the last position marked as seen.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn look(&self) -> Result<Look> {
        let seen = files::read_capped(&self.dir.join(Self::SEEN.as_os_str()), limits::JOB_FILE);
        let seen = seen.map(|bytes| serde_json::from_slice(&bytes).unwrap_or_default());
        self.look_from(seen.unwrap_or_default())
    }

    /// The output since `seen`.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn look_from(&self, seen: [u64; 2]) -> Result<Look> {
        // In this order: once it has stopped running, its output is complete.
        let (state, millis) = self.state();
        let running = matches!(state, State::Running(_));
        let stdout = self.news(&Self::STDOUT, seen[0], running)?;
        let stderr = self.news(&Self::STDERR, seen[1], running)?;
        let outcome = Outcome {
            stdout: stdout.text,
            stderr: stderr.text,
            state,
            limit: Duration::from_millis(self.record.limit),
            duration: Duration::from_millis(millis),
            notes: Vec::new(),
        };
        Ok(Look {
            seen: [stdout.next, stderr.next],
            outcome,
        })
    }

    /// Records how much of the output its owner has seen.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn mark_seen(&self, seen: [u64; 2]) -> Result<()> {
        let json = serde_json::json!(seen).to_string();
        let path = self.dir.join(Self::SEEN.as_os_str());
        files::replace(&path, json.as_bytes(), 0o600, Durable::No)
    }

    /// Copies its output from the beginning until it ends; returns how it ended.
    ///
    /// # Errors
    /// When its files cannot be read. A closed reader ends it without an error.
    pub fn follow(&self, out: &mut dyn Write, err: &mut dyn Write) -> Result<Outcome> {
        /// Often enough for a person watching.
        const TICK: Duration = Duration::from_millis(100);
        let mut seen = [0; 2];
        loop {
            let look = self.look_from(seen)?;
            seen = look.seen;
            let Outcome { stdout, stderr, .. } = &look.outcome;
            let shown = show(out, stdout).and_then(|()| show(err, stderr));
            if look.outcome.job().is_none() || shown.is_err() {
                return Ok(look.outcome);
            }
            self.wait(Instant::now() + TICK)?;
        }
    }

    /// Its line in a list.
    pub fn summary(&self) -> Summary {
        let (state, duration_ms) = self.state();
        let (state, exit_code) = match state {
            State::Running(_) => ("running", None),
            State::Lost => ("lost", None),
            State::Ended(ended) | State::JobEnded(ended) => {
                let name = match ended {
                    _ if ended.timed_out => "timed out",
                    _ if ended.stopped => "stopped",
                    _ => "ended",
                };
                (name, ended.exit_code())
            }
        };
        Summary {
            id: self.id.to_string(),
            label: self.record.label.clone(),
            skill: self.record.skill.clone(),
            owner: self.record.owner.to_string(),
            started: self.record.started,
            duration_ms,
            state,
            exit_code,
        }
    }

    /// The FIFO in a directory that only this user can enter.
    #[expect(
        clippy::disallowed_methods,
        reason = "only this user can enter the directory"
    )]
    fn lifeline(&self) -> Option<File> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(self.dir.join(Self::STOP), flags, Mode::empty());
        opened.ok().map(File::from)
    }

    /// Its state, and how long it has run, or ran, in milliseconds.
    fn state(&self) -> (State, u64) {
        if self.is_running() {
            return (State::Running(self.id.clone()), self.age());
        }
        let end = files::read_capped(&self.dir.join(Self::EXIT), limits::JOB_FILE);
        match end
            .ok()
            .and_then(|end| serde_json::from_slice::<(Ended, u64)>(&end).ok())
        {
            Some((ended, millis)) => (State::JobEnded(ended), millis),
            None => (State::Lost, self.age()),
        }
    }

    fn news(&self, stream: &EntryName, from: u64, running: bool) -> Result<News> {
        let file = files::open_regular(&self.dir.join(stream.as_os_str()));
        let news = file.and_then(|file| spool::read(&file, from, running));
        news.map_err(|source| self.failed("read the output of", &source))
    }

    fn age(&self) -> u64 {
        Moment::now().since(Moment(self.record.started))
    }

    fn failed(&self, action: &str, source: &io::Error) -> Error {
        Error::io(action, Path::new(&format!("job {}", self.id)), source)
    }
}

fn show(to: &mut dyn Write, news: &Captured) -> io::Result<()> {
    to.write_all(news.text().as_bytes())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::super::store::JOBS;
    use super::super::{JobId, Owner};
    use super::*;
    use crate::script::fixture::{Fixture, eventually};

    /// The only job of a fixture.
    fn job(script: &Fixture) -> Job {
        let id = script.jobs().list().remove(0).id;
        let found = script.jobs().find(&id, &Owner::session("test"));
        found.unwrap()
    }

    #[test]
    fn looks_are_told_apart_by_what_was_marked() {
        let script =
            Fixture::bash("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two").wait(200);
        let first = script.start();
        assert_eq!(first.stdout.text(), "one\n");
        let job = job(&script);
        assert_eq!(job.look().unwrap().outcome.stdout.text(), "");
        std::fs::write(script.path("go"), "").unwrap();
        job.wait(Instant::now() + Duration::from_secs(10)).unwrap();
        let look = job.look().unwrap();
        assert_eq!(look.outcome.stdout.text(), "two\n");
        assert_eq!(job.look().unwrap().seen, look.seen, "not told yet");
        job.mark_seen(look.seen).unwrap();
        let last = job.look().unwrap().outcome;
        assert_eq!((last.stdout.total(), last.exit_code()), (0, Some(0)));
    }

    #[test]
    fn a_list_tells_how_each_job_stands() {
        let script = Fixture::bash("exit 7").wait(0);
        script.start();
        eventually("ended", || !job(&script).is_running());
        let [summary] = <[Summary; 1]>::try_from(script.jobs().list()).unwrap();
        assert_eq!((summary.state, summary.exit_code), ("ended", Some(7)));
        assert_eq!(summary.skill.as_deref(), Some("fixture"));
        let limited = Fixture::bash("sleep 300").wait(0).limit(100);
        limited.start();
        eventually("over", || !job(&limited).is_running());
        assert_eq!(limited.jobs().list()[0].state, "timed out");
    }

    #[test]
    fn following_shows_everything_once_in_order() {
        let script = Fixture::bash("echo a; echo b >&2; sleep 0.3; echo c; exit 2").wait(0);
        script.start();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let outcome = job(&script).follow(&mut out, &mut err).unwrap();
        assert_eq!(
            (out.as_slice(), err.as_slice()),
            (&b"a\nc\n"[..], &b"b\n"[..])
        );
        assert_eq!(outcome.exit_code(), Some(2));
    }

    #[test]
    fn only_its_owner_finds_it_and_a_person() {
        let script = Fixture::bash("").wait(0);
        script.start();
        let (jobs, id) = (script.jobs(), script.jobs().list().remove(0).id);
        let foreign = jobs.find(&id, &Owner::conversation("test")).unwrap_err();
        let other = JobId::parse("abcdefgh23456789").unwrap();
        let unknown = jobs
            .find(other.as_str(), &Owner::session("test"))
            .unwrap_err();
        assert_eq!(
            foreign.to_string().replace(&id, other.as_str()),
            unknown.to_string()
        );
        assert!(jobs.find_any(&id).is_ok());
    }

    #[test]
    fn there_are_never_too_many() {
        let script = Fixture::bash("sleep 300").wait(0).limit(20_000);
        for _ in 0..JOBS {
            script.start();
        }
        let refused = script.start_in(&script.path("")).unwrap_err().to_string();
        assert!(refused.contains("jobs are already running"), "{refused}");
        // Long enough for a busy machine to have started it: a job that has not begun cannot be
        // stopped.
        let script = script.wait(1500);
        let stopped = script.run().unwrap();
        assert!(
            stopped.notes[0].contains("it could not continue as a job: "),
            "{:?}",
            stopped.notes
        );
        assert!(stopped.ended().unwrap().stopped);
        for job in script.jobs().list() {
            script.jobs().find_any(&job.id).unwrap().stop().unwrap();
        }
    }
}
