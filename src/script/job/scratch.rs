//! A script's own temporary directory. It lies in the directory of the job that the script may
//! become, so that one rule cleans up after both.

use std::fs;
use std::path::{Path, PathBuf};

use super::{JobId, Jobs, private_dir};
use crate::error::Result;

/// An empty directory, removed when dropped unless it is kept.
#[derive(Debug)]
pub struct Scratch {
    job: PathBuf,
    path: PathBuf,
}

impl Scratch {
    /// Makes it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(jobs: &Jobs, id: &JobId) -> Result<Self> {
        let job = jobs.dir_of(id);
        let path = job.join("tmp");
        private_dir(&path)?;
        Ok(Self { job, path })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it to the job, which is cleaned up with all it has.
    pub fn keep(mut self) {
        self.job = PathBuf::new();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.job.as_os_str().is_empty() {
            // What cannot be removed now is removed when it is old.
            let _ = fs::remove_dir_all(&self.job);
        }
    }
}
