//! Jobs: scripts that continue after the call that started them, each in a directory of its own. A job's
//! supervisor writes output and result there ([`SupervisedJob`]), and others read them ([`Job`]).
//!
//! Whether it runs, stopping it and waiting for it use a FIFO that the supervisor holds open, rather
//! than a process id, which could have been reused: opening it for writing shows whether the
//! supervisor lives, writing stops the job, and polling wakes at its end.

use super::prelude::*;
use super::spool;
use std::fs;

use rustix::fs::{Mode, OFlags};

use crate::run_context::RunContext;

/// Jobs that run at the same time. Each has a supervisor, a script and the script's children.
pub const JOBS: usize = 32;
/// How long a job is kept after its end.
const JOB_AGE: Duration = Duration::from_hours(24);

/// The directory of all jobs.
const JOBS_DIR: EntryName = EntryName::from_static("jobs");
/// The temporary directory in that of a job.
const TMP: EntryName = EntryName::from_static("tmp");

/// All jobs of this installation.
#[derive(Debug, Clone)]
pub struct Jobs {
    state: PathBuf,
}

impl Jobs {
    /// Scripts that continue after the call that started them.
    pub fn of(run: &RunContext) -> Self {
        Self::new(run.dirs.state(&run.env))
    }

    /// The jobs in the directory `state`, which need not exist yet.
    pub fn new(state: PathBuf) -> Self {
        Self { state }
    }

    /// Makes the directory of a script that is to become a job. Cleans up first.
    ///
    /// # Errors
    /// When it cannot be written, or too many jobs are running.
    pub fn begin(&self, id: &JobId) -> Result<Dir> {
        self.clean();
        let running = self.all().filter(Job::is_running).count();
        if running >= JOBS {
            let text = format!("{running} jobs are running, which is the limit");
            return Err(Error::new(text).hint("wait for one of them, or stop it"));
        }
        self.make(id)
    }

    /// Opens a job's directory, creating it if it is missing. Only this user can enter it.
    ///
    /// # Errors
    /// When it cannot be created.
    fn make(&self, id: &JobId) -> Result<Dir> {
        let make = || {
            let name = EntryName::parse(id.as_str()).ok_or(io::ErrorKind::InvalidFilename)?;
            let jobs = Dir::make_anchor(&self.state)?.make_private_dir(&JOBS_DIR)?;
            match jobs.find_dir(&name)? {
                Some(there) => Ok(there),
                None => jobs.new_of_ours(&name),
            }
        };
        let path = || self.state.join(JOBS_DIR.as_os_str()).join(id.as_str());
        make().map_err(|source| Error::io("create", &path(), &source))
    }

    /// The empty temporary directory of a script. It is in the directory of the job that the script
    /// may become, so that one rule cleans up both.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn temp(&self, id: &JobId) -> Result<PathBuf> {
        let dir = self.make(id)?;
        let temp = dir.make_private_dir(&TMP);
        let temp = temp.map_err(|error| dir.error("create", &TMP, &error))?;
        Ok(temp.path().to_owned())
    }

    /// The temporary directory that the commands of the skill in `skill_dir` share
    /// ([`super::confine`]), created if it is missing. It is removed a day after this was last asked
    /// for. Cleans up first.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn shared_temp(&self, skill_dir: &Path) -> Result<PathBuf> {
        const USED: EntryName = EntryName::from_static("used");
        self.clean();
        let id = JobId::of_skill(skill_dir);
        // The age of a directory is that of its last entry.
        let dir = self.make(&id)?;
        let used = dir.replace(&USED, b"", 0o600, Durable::No);
        used.map_err(|error| dir.error("create", &USED, &error))?;
        self.temp(&id)
    }

    /// The directory of all jobs, if it exists.
    fn open(&self) -> Option<Dir> {
        Dir::anchor(&self.state).ok()?.open_dir(&JOBS_DIR).ok()
    }

    /// Removes the directory of a script that did not become a job, if there is one.
    pub fn remove(&self, id: &JobId) {
        let id = EntryName::parse(id.as_str());
        if let Some((jobs, id)) = self.open().zip(id) {
            // What cannot be removed now is removed once it is old.
            let _ = jobs.remove_ours(&id);
        }
    }

    /// The job that `owner` calls `written`. Cleans up first.
    ///
    /// # Errors
    /// When there is none, or it belongs to somebody else; the error does not say which.
    pub fn find(&self, written: &str, owner: &str) -> Result<Job> {
        self.clean();
        match self.find_any(written)? {
            job if job.record.owner == owner => Ok(job),
            _ => Err(unknown(written)),
        }
    }

    /// The job that a person named, whoever owns it.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_any(&self, written: &str) -> Result<Job> {
        let job = JobId::parse(written).and_then(|id| self.read(id));
        job.ok_or_else(|| unknown(written))
    }

    /// Every job, oldest first. Cleans up first.
    pub fn list(&self) -> Vec<JobSummary> {
        self.clean();
        let mut all: Vec<JobSummary> = self.all().map(|job| job.summary()).collect();
        all.sort_by_key(|summary| summary.started);
        all
    }

    /// Removes jobs that ended a day ago, and directories that never became a job.
    fn clean(&self) {
        let Some(jobs) = self.open() else {
            return;
        };
        for (name, _) in jobs.entries().unwrap_or_default() {
            let id = name.as_str().and_then(JobId::parse);
            let job = id.and_then(|id| self.read(id));
            if job.as_ref().is_some_and(Job::is_running) {
                continue;
            }
            let path = jobs.path_of(&name);
            let end =
                fs::metadata(path.join(EXIT.as_os_str())).or_else(|_| fs::symlink_metadata(&path));
            let changed = end.and_then(|meta| meta.modified());
            let age = changed.ok().and_then(|changed| changed.elapsed().ok());
            if age.is_some_and(|age| age > JOB_AGE) {
                let _ = jobs.remove_ours(&name);
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = Job> + '_ {
        let entries = self.open().and_then(|jobs| jobs.entries().ok());
        let entries = entries.into_iter().flatten();
        entries.filter_map(|(name, _)| self.read(JobId::parse(name.as_str()?)?))
    }

    fn read(&self, id: JobId) -> Option<Job> {
        let dir = self.open()?.open_dir(&EntryName::parse(id.as_str())?);
        Job::open(id, dir.ok()?)
    }
}

fn unknown(written: &str) -> Error {
    Error::new(format!("there is no job `{}`", quoted(written)))
        .hint("only the conversation that started a job can follow it, until a day after it ended")
}

/// What is recorded about a job when it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its owner, who alone can read or stop it.
    pub owner: String,
    /// The script or command, as its caller wrote it.
    pub label: String,
    /// The skill whose script it runs; `None` for one of our own commands.
    pub skill: Option<String>,
    /// Its start, in milliseconds since 1970.
    pub started: u64,
    /// Its time limit in milliseconds.
    pub limit: u64,
}

const RECORD: EntryName = EntryName::from_static("job.json");
const SEEN: EntryName = EntryName::from_static("seen.json");
const OUTPUTS: [EntryName; 2] = [
    EntryName::from_static("stdout"),
    EntryName::from_static("stderr"),
];
pub(super) const EXIT: EntryName = EntryName::from_static("exit");
const STOP: &str = "stop";

impl JobRecord {
    /// Makes a job of the script that writes to `dir` already, and of whose outputs the caller has
    /// seen that much.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn write(&self, dir: &Dir, seen: [u64; 2]) -> io::Result<()> {
        let seen = serde_json::to_vec(&seen)?;
        dir.replace(&SEEN, &seen, 0o600, Durable::No)?;
        dir.replace(&RECORD, &serde_json::to_vec(self)?, 0o600, Durable::No)
    }
}

/// A job as its supervisor has it.
#[derive(Debug)]
pub struct SupervisedJob {
    dir: Dir,
    /// The FIFO on which any data requests the job's end. Holding it open shows that the job runs.
    stop: File,
}

impl SupervisedJob {
    /// Makes a script's outputs go on in a directory that only this user can enter.
    ///
    /// # Errors
    /// When they cannot be written there.
    pub fn adopt(dir: &Path, outputs: &mut [Spool; 2]) -> io::Result<Self> {
        let dir = Dir::anchor(dir)?;
        let stop = make_fifo(&dir.path().join(STOP))?;
        for (output, name) in outputs.iter_mut().zip(&OUTPUTS) {
            output.continue_in(dir.create(name, 0o600)?)?;
        }
        Ok(Self { dir, stop })
    }

    /// Readable when the job is to end.
    pub fn stop(&self) -> (BorrowedFd<'_>, PollFlags) {
        (self.stop.as_fd(), PollFlags::IN)
    }

    /// Records how the job ended, after so many milliseconds. One without this record counts as lost.
    pub fn finish(self, ended: ScriptExit, millis: u64) {
        let exit = serde_json::to_vec(&(ended, millis)).unwrap_or_default();
        let _ = self.dir.replace(&EXIT, &exit, 0o600, Durable::No);
    }
}

/// A job.
#[derive(Debug)]
pub struct Job {
    id: JobId,
    dir: Dir,
    /// What was recorded when it began.
    pub record: JobRecord,
}

/// A job in a list.
#[derive(Debug, Clone, Serialize)]
pub struct JobSummary {
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
    /// The job with this directory; `None` if no script has become that.
    pub fn open(id: JobId, dir: Dir) -> Option<Self> {
        let record = serde_json::from_slice(&dir.read(&RECORD, limits::JOB_FILE).ok()?).ok()?;
        Some(Self { id, dir, record })
    }

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
            let ended = poll([Some((lifeline.as_fd(), PollFlags::empty()))], left);
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
                .hint("its supervisor does not respond: tell the user"));
        }
        Ok(())
    }

    /// The output since the last position marked as seen, and how it stands.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn unseen_output(&self) -> Result<ScriptOutcome> {
        let seen = self.dir.read(&SEEN, limits::JOB_FILE);
        let seen = seen.map(|bytes| serde_json::from_slice(&bytes).unwrap_or_default());
        self.output_since(seen.unwrap_or_default())
    }

    /// The output since `seen`.
    fn output_since(&self, seen: [u64; 2]) -> Result<ScriptOutcome> {
        // In this order: once it has stopped running, its output is complete.
        let (state, millis) = self.state();
        let running = matches!(state, ScriptState::Running(_));
        let read = |at: usize| {
            let file = self.dir.open_file(&OUTPUTS[at]);
            let read = file.and_then(|(file, _)| spool::read(&file, seen[at], running));
            read.map_err(|source| self.failed("read the output of", &source))
        };
        Ok(ScriptOutcome {
            stdout: read(0)?,
            stderr: read(1)?,
            state,
            limit: Duration::from_millis(self.record.limit),
            duration: Duration::from_millis(millis),
            notes: Vec::new(),
        })
    }

    /// Records how much of the output its owner has seen.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn mark_seen(&self, seen: [u64; 2]) -> Result<()> {
        let json = serde_json::json!(seen).to_string();
        let written = self.dir.replace(&SEEN, json.as_bytes(), 0o600, Durable::No);
        written.map_err(|source| self.dir.error("write", &SEEN, &source))
    }

    /// Copies its output from the beginning until it ends; returns how it ended.
    ///
    /// # Errors
    /// When its files cannot be read. A closed reader ends it without an error.
    pub fn follow(&self, out: &mut dyn Write, err: &mut dyn Write) -> Result<ScriptOutcome> {
        /// Often enough for a person watching.
        const TICK: Duration = Duration::from_millis(100);
        let mut seen = [0; 2];
        loop {
            let outcome = self.output_since(seen)?;
            seen = outcome.seen();
            let shown = show(out, &outcome.stdout).and_then(|()| show(err, &outcome.stderr));
            if outcome.job().is_none() || shown.is_err() {
                return Ok(outcome);
            }
            self.wait(Instant::now() + TICK)?;
        }
    }

    /// Its line in a list.
    pub fn summary(&self) -> JobSummary {
        let (state, duration_ms) = self.state();
        let (state, exit_code) = match state {
            ScriptState::Running(_) => ("running", None),
            ScriptState::Lost => ("lost", None),
            ScriptState::Ended(ended) | ScriptState::JobEnded(ended) => {
                let name = match ended {
                    _ if ended.timed_out => "timed out",
                    _ if ended.stopped => "stopped",
                    _ => "ended",
                };
                (name, ended.exit_code())
            }
        };
        JobSummary {
            id: self.id.to_string(),
            label: self.record.label.clone(),
            skill: self.record.skill.clone(),
            owner: self.record.owner.clone(),
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
        let opened = rustix::fs::open(self.dir.path().join(STOP), flags, Mode::empty());
        opened.ok().map(File::from)
    }

    /// Its state, and how long it has run, or ran, in milliseconds.
    fn state(&self) -> (ScriptState, u64) {
        if self.is_running() {
            return (ScriptState::Running(self.id.clone()), self.age());
        }
        let end = self.dir.read(&EXIT, limits::JOB_FILE);
        match serde_json::from_slice(&end.unwrap_or_default()) {
            Ok((ended, millis)) => (ScriptState::JobEnded(ended), millis),
            Err(_) => (ScriptState::Lost, self.age()),
        }
    }

    fn age(&self) -> u64 {
        UnixMillis::now().since(UnixMillis(self.record.started))
    }

    fn failed(&self, action: &str, source: &io::Error) -> Error {
        Error::io(action, Path::new(&format!("job {}", self.id)), source)
    }
}

fn show(to: &mut dyn Write, news: &CapturedOutput) -> io::Result<()> {
    to.write_all(news.text.as_bytes())?;
    to.flush()
}

/// Creates a FIFO and opens both ends, so that opening does not block.
#[expect(
    clippy::disallowed_methods,
    reason = "only this user can enter the directory"
)]
fn make_fifo(path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::RUSR | Mode::WUSR)?;
    // Elsewhere there is no safe call for it.
    #[cfg(not(target_os = "linux"))]
    if !std::process::Command::new("/usr/bin/mkfifo")
        .args(["-m", "600"])
        .arg(path)
        .status()?
        .success()
    {
        return Err(io::Error::other("mkfifo failed"));
    }
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::fixture::Fixture;

    #[test]
    fn there_are_never_too_many() {
        let script = Fixture::bash("sleep 300").wait(0).limit(20_000);
        for _ in 0..JOBS {
            script.start();
        }
        let refused = script.start_in(&script.path("")).unwrap_err().to_string();
        assert!(refused.contains("jobs are running"), "{refused}");
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

#[cfg(test)]
mod job_tests {
    use super::*;
    use crate::script::fixture::{Fixture, eventually};

    /// The only job of a fixture.
    fn job(script: &Fixture) -> Job {
        let id = script.jobs().list().remove(0).id;
        let found = script.jobs().find(&id, "session:test");
        found.unwrap()
    }

    #[test]
    fn looks_are_told_apart_by_what_was_marked() {
        let script =
            Fixture::bash("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two").wait(200);
        let first = script.start();
        assert_eq!(first.stdout.text, "one\n");
        let job = job(&script);
        assert_eq!(job.unseen_output().unwrap().stdout.text, "");
        std::fs::write(script.path("go"), "").unwrap();
        job.wait(Instant::now() + Duration::from_secs(10)).unwrap();
        let unseen_output = job.unseen_output().unwrap();
        assert_eq!(unseen_output.stdout.text, "two\n");
        assert_eq!(job.unseen_output().unwrap(), unseen_output, "not told yet");
        job.mark_seen(unseen_output.seen()).unwrap();
        let last = job.unseen_output().unwrap();
        assert_eq!((last.stdout.total, last.exit_code()), (0, Some(0)));
    }

    #[test]
    fn a_list_tells_how_each_job_stands() {
        let script = Fixture::bash("exit 7").wait(0);
        script.start();
        eventually("ended", || !job(&script).is_running());
        let [summary] = <[JobSummary; 1]>::try_from(script.jobs().list()).unwrap();
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
        let foreign = jobs.find(&id, "conversation:test").unwrap_err();
        let other = JobId::parse("abcdefgh23456789").unwrap();
        let unknown = jobs.find(other.as_str(), "session:test").unwrap_err();
        assert_eq!(
            foreign.to_string().replace(&id, other.as_str()),
            unknown.to_string()
        );
        assert!(jobs.find_any(&id).is_ok());
    }
}
