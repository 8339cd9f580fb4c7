//! The directory of all jobs: creating one, finding one, and removing old ones.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use super::progress::{Job, Summary};
use super::record::{JobId, JobRecord, Owner, Spools};
use crate::error::{Error, Result};
use crate::run_context::RunContext;
use crate::script::capture::Captured;
use crate::script::spool;
use crate::sys::text::quoted;
use crate::sys::{Dir, Durable, EntryName, files, limits};

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

    /// The directory of one job.
    pub fn dir_of(&self, id: &JobId) -> PathBuf {
        self.state.join(JOBS_DIR.as_os_str()).join(id.as_str())
    }

    /// Creates a job with this output so far. Cleans up first.
    ///
    /// # Errors
    /// When the directory cannot be written, or too many jobs are running.
    pub fn create(&self, id: &JobId, record: &JobRecord, so_far: [&Captured; 2]) -> Result<Spools> {
        self.clean();
        let running = self.all().filter(Job::is_running).count();
        if running >= JOBS {
            let text = format!("{running} jobs are already running, the most allowed at once");
            return Err(Error::new(text).hint("wait for one of them, or stop it"));
        }
        let dir = self.make(id)?;
        let path = dir.path();
        let begin = |name: &EntryName, captured: &Captured| {
            let file = dir.create(name, 0o600)?;
            let length = spool::begin(&file, captured.text().as_bytes())?;
            Ok::<_, io::Error>((file, length))
        };
        let create = || {
            let (stdout, stdout_length) = begin(&Job::STDOUT, so_far[0])?;
            let (stderr, stderr_length) = begin(&Job::STDERR, so_far[1])?;
            let spools = Spools {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "made above, private to this user"
                )]
                dir: File::open(path)?,
                stop: make_fifo(&path.join(Job::STOP))?,
                files: [stdout, stderr],
            };
            let seen = serde_json::to_vec(&[stdout_length, stderr_length])?;
            dir.replace(&Job::SEEN, &seen, 0o600, Durable::No)?;
            let record = serde_json::to_vec(record)?;
            dir.replace(&Job::RECORD, &record, 0o600, Durable::No)?;
            Ok(spools)
        };
        create().map_err(|source: io::Error| Error::io("write", path, &source))
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
        make().map_err(|source| Error::io("create", &self.dir_of(id), &source))
    }

    /// The temporary directory that the commands of the skill in `skill_dir` share
    /// ([`super::super::confine`]), created if it is missing. It is removed a day after this was last
    /// asked for. Cleans up first.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn shared_temp(&self, skill_dir: &Path) -> Result<PathBuf> {
        const USED: EntryName = EntryName::from_static("used");
        self.clean();
        let dir = self.make(&JobId::of_skill(skill_dir))?;
        // Its age is that of its last entry.
        let used = dir.replace(&USED, b"", 0o600, Durable::No);
        let temp = used.and_then(|()| dir.make_private_dir(&TMP));
        let temp = temp.map_err(|error| dir.error("create", &TMP, &error))?;
        Ok(temp.path().to_owned())
    }

    /// The directory of all jobs, if it exists.
    fn open(&self) -> Option<Dir> {
        Dir::anchor(&self.state).ok()?.open_dir(&JOBS_DIR).ok()
    }

    /// Removes a job that was never started.
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
    pub fn find(&self, written: &str, owner: &Owner) -> Result<Job> {
        self.clean();
        match self.find_any(written)? {
            job if job.record.owner == *owner => Ok(job),
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
    pub fn list(&self) -> Vec<Summary> {
        self.clean();
        let mut all: Vec<Summary> = self.all().map(|job| job.summary()).collect();
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
            let end = fs::metadata(path.join(Job::EXIT)).or_else(|_| fs::symlink_metadata(&path));
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
        let dir = self.dir_of(&id);
        let json = files::read_capped(&dir.join(Job::RECORD.as_os_str()), limits::JOB_FILE).ok()?;
        let record = serde_json::from_slice(&json).ok()?;
        Some(Job { id, dir, record })
    }
}

/// A script's own empty temporary directory, removed on drop unless it is kept. It lies inside the
/// directory of the job that the script may become, so that one rule cleans up both.
#[derive(Debug)]
pub struct Scratch {
    /// The job whose directory is removed too; `None` when it is kept.
    job: Option<(Jobs, JobId)>,
    path: PathBuf,
}

impl Scratch {
    /// Creates it.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn make(jobs: &Jobs, id: &JobId) -> Result<Self> {
        let dir = jobs.make(id)?;
        let tmp = dir.make_private_dir(&TMP);
        let tmp = tmp.map_err(|error| dir.error("create", &TMP, &error))?;
        Ok(Self {
            job: Some((jobs.clone(), id.clone())),
            path: tmp.path().to_owned(),
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it to the job, whose cleanup removes it.
    pub fn keep(mut self) {
        self.job = None;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some((jobs, id)) = &self.job {
            jobs.remove(id);
        }
    }
}

fn unknown(written: &str) -> Error {
    Error::new(format!("there is no job `{}`", quoted(written)))
        .hint("only the conversation that started a job can follow it, until a day after it ended")
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
