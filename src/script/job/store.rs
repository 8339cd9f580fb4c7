//! The directory of all jobs: creating one, finding one, and removing old ones.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use super::id::{JobId, Owner};
use super::progress::{Job, Summary};
use super::record::{JobRecord, Spools};
use crate::error::{Error, Result};
use crate::script::capture::Captured;
use crate::script::spool;
use crate::sys::text::quoted;
use crate::sys::{Dir, Durable, EntryName, files, limits};

/// Jobs that run at the same time. Each has a supervisor, a script and the script's children.
pub const JOBS: usize = 32;
/// How long a job is kept after its end.
const JOB_AGE: Duration = Duration::from_hours(24);

/// All jobs of this installation.
#[derive(Debug, Clone)]
pub struct Jobs {
    dir: PathBuf,
}

impl Jobs {
    /// The jobs in `dir`, which need not exist yet.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The directory of one job.
    pub fn dir_of(&self, id: &JobId) -> PathBuf {
        self.dir.join(id.as_str())
    }

    /// Creates a job with this output so far. Cleans up first.
    ///
    /// # Errors
    /// When the directory cannot be written, or too many jobs are running.
    pub fn create(&self, id: &JobId, facts: &JobRecord, so_far: [&Captured; 2]) -> Result<Spools> {
        self.clean();
        let running = self.all().filter(Job::is_running).count();
        if running >= JOBS {
            let text = format!("{running} jobs are running already, which is the most at once");
            return Err(Error::new(text).hint("wait for one of them, or stop it"));
        }
        let place = self.make(id)?;
        let dir = place.path().to_owned();
        let write = |source: io::Error| Error::io("write", &dir, &source);
        let make = |name: &'static str, captured: &Captured| {
            let file = place.create(&EntryName::of(name), 0o600)?;
            let begun = spool::begin(&file, captured.text().as_bytes())?;
            Ok::<_, io::Error>((file, begun))
        };
        let (stdout, out_length) = make(Job::STDOUT, so_far[0]).map_err(write)?;
        let (stderr, err_length) = make(Job::STDERR, so_far[1]).map_err(write)?;
        let stop = make_fifo(&dir.join(Job::STOP)).map_err(write)?;
        let begun = [out_length, err_length];
        let job = Job::of(id.clone(), dir.clone(), facts.clone());
        job.mark_seen(begun)?;
        let json = serde_json::to_vec(facts).map_err(|error| Error::new(error.to_string()))?;
        let facts = EntryName::of(Job::FACTS);
        let written = place.replace(&facts, &json, 0o600, Durable::No);
        written.map_err(write)?;
        Ok(Spools {
            dir: File::open(&dir).map_err(write)?,
            stop,
            files: [stdout, stderr],
            begun,
        })
    }

    /// Opens a job's directory, creating it if it is missing. Only this user can enter it.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(super) fn make(&self, id: &JobId) -> Result<Dir> {
        let failed = |source| Error::io("create", &self.dir_of(id), &source);
        let (state, name) = self
            .place()
            .ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let id = EntryName::parse(id.as_str());
        let id = id.ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let jobs = Dir::make_anchor(state).and_then(|state| state.make_private_dir(&name));
        let made = jobs.and_then(|jobs| match jobs.find_dir(&id)? {
            Some(there) => Ok(there),
            None => jobs.new_of_ours(&id),
        });
        made.map_err(failed)
    }

    fn place(&self) -> Option<(&Path, EntryName)> {
        let name = self.dir.file_name().and_then(EntryName::parse);
        self.dir.parent().zip(name)
    }

    /// The directory of all jobs, if it exists.
    fn open(&self) -> Option<Dir> {
        let (state, name) = self.place()?;
        Dir::anchor(state).ok()?.open_dir(&name).ok()
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
        let job = JobId::parse(written).and_then(|id| self.read(id));
        job.filter(|job| job.facts().owner == *owner)
            .ok_or_else(|| unknown(written))
    }

    /// The job that a person named, whoever owns it.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_any(&self, written: &str) -> Result<Job> {
        JobId::parse(written)
            .and_then(|id| self.read(id))
            .ok_or_else(|| unknown(written))
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
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries.filter_map(|entry| self.read(JobId::parse(entry.file_name().to_str()?)?))
    }

    fn read(&self, id: JobId) -> Option<Job> {
        let dir = self.dir_of(&id);
        let facts = files::read_capped(&dir.join(Job::FACTS), limits::JOB_FILE).ok()?;
        Some(Job::of(id, dir, serde_json::from_slice(&facts).ok()?))
    }
}

fn unknown(written: &str) -> Error {
    Error::new(format!("there is no job `{}`", quoted(written)))
        .hint("a job is known to the conversation that started it, until a day after its end")
}

/// Creates a FIFO and opens both ends, so that opening does not block.
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
    use crate::script::relay::read_record;

    #[test]
    fn records_of_earlier_versions_are_read() {
        let written = r#"{"owner":"conversation:default","label":"run.sh","origin":{"skill":"s",
            "skill_dir":"/s","script":"/s/run.sh"},"started":1795302076250,"limit":120000,
            "keeper":{"pid":4711,"start":123456}}"#;
        let record: JobRecord = serde_json::from_str(written).unwrap();
        let keeper = record.keeper.unwrap();
        assert_eq!((keeper.pid, keeper.start), (4711, 123_456));
        let again = serde_json::to_string(&record).unwrap();
        assert_eq!(
            again.replace(char::is_whitespace, ""),
            written.replace(char::is_whitespace, "")
        );
        let older = r#"{"owner":"session:1","label":"x","origin":null,"started":1,"limit":2}"#;
        assert_eq!(
            serde_json::from_str::<JobRecord>(older).unwrap().keeper,
            None
        );
        let exit = [5, 4, 0, 0, 0, 3, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0];
        let (ended, millis) = read_record(&exit).unwrap();
        assert!(ended.stopped && !ended.timed_out);
        assert_eq!((ended.status, millis), (3 << 8, 42));
    }
}
