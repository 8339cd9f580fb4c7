//! A script's own temporary directory. It lies inside the directory of the job that the script may
//! become, so that one rule cleans up both.

use std::path::{Path, PathBuf};

use super::{JobId, Jobs};
use crate::error::Result;
use crate::sys::EntryName;

/// An empty directory, removed on drop unless it is kept.
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
        const TMP: EntryName = EntryName::of("tmp");
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
