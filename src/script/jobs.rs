//! The directory of all jobs: creating one, finding one, and removing old ones.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::job::{EXIT, Job, Summary};
use super::outcome::JobId;
use crate::error::{Error, Result};
use crate::run_context::RunContext;
use crate::sys::text::quoted;
use crate::sys::{Dir, Durable, EntryName};

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
            let text = format!("{running} jobs are already running, the most allowed at once");
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
