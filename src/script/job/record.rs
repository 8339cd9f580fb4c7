//! What is recorded about a job, and the files of its output.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::id::Owner;
use crate::sys::process::ProcessId;

/// What is recorded about a job when it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its owner.
    pub owner: Owner,
    /// The script or command, as its caller wrote it.
    pub label: String,
    /// The script it runs; `None` for one of our own commands.
    pub origin: Option<Origin>,
    /// Its start, in milliseconds since 1970.
    pub started: u64,
    /// Its time limit in milliseconds.
    pub limit: u64,
    /// Its supervisor, where the system can identify processes.
    #[serde(default)]
    pub keeper: Option<ProcessId>,
}

/// Which script of which skill it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The skill's name.
    pub skill: String,
    /// The skill's directory.
    pub skill_dir: PathBuf,
    /// The script's file.
    pub script: PathBuf,
}

/// What a supervisor needs to store a job's output.
#[derive(Debug)]
pub struct Spools {
    /// The job's directory.
    pub dir: File,
    /// The FIFO that stops the job when written to; the supervisor holds it open as long as the job
    /// runs.
    pub stop: File,
    /// The spools of standard output and standard error.
    pub files: [File; 2],
}

/// A duration in milliseconds.
pub fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}
