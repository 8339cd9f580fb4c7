//! The reports sent over the lifeline, one JSON value in each line, by the supervisor and by the
//! script's process before its `exec`.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

/// One report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The script's process id, which is also its process group.
    Started(u32),
    /// The script never ran.
    Failed(Failure),
    /// It is over, and every killable process is gone.
    Ended(Ended),
    /// The script has become a job: the supervisor now reads its output.
    Adopted,
}

/// Why a script never ran, with the system's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The working directory could not be entered.
    NoWorkdir(i32),
    /// Its process could not be created, or the interpreter not be executed.
    NotExecuted(i32),
    /// The sandbox could not be entered.
    NotConfined(i32),
    /// The host is gone already.
    HostGone,
}

/// How a script ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its wait status.
    pub status: i32,
    /// It was killed at its time limit.
    pub timed_out: bool,
    /// It was killed on request.
    pub stopped: bool,
    /// Some processes could not be killed: another user's, through setuid.
    pub survivors: bool,
}

impl Ended {
    /// The exit status of the script, if it exited on its own.
    pub fn exit_code(self) -> Option<i32> {
        ExitStatus::from_raw(self.status).code()
    }
}
