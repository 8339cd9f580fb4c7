//! What most files of this room use.

pub use super::jobs::{JobRecord, Jobs, SupervisedJob};
pub use super::lifeline::{
    CallMessage, Conditions, Interest, Lifeline, ProcessSpec, ScriptExit, StartFailure,
};
pub use super::lifeline::{SupervisorMessage, not_now, poll};
pub use super::outcome::{JobId, ScriptOutcome, ScriptState};
pub use super::sandbox::{Confinement, Kernel, Sandbox, SandboxInputs, SandboxMode};
pub use super::spool::{CHUNK, CapturedOutput, Spool};
pub use super::task::{RunLimits, ScriptRun, Task};
pub use crate::error::{Error, Result};
pub use crate::sys::process::ProcessId;
pub use crate::sys::text::{distinct, quoted, without_split_end};
pub use crate::sys::{Dir, Durable, EntryName, EntryPath, Env, UnixMillis};
pub use crate::sys::{files, limits, millis, signals};
pub use rustix::event::PollFlags;
pub use rustix::io::Errno;
pub use serde::{Deserialize, Serialize};
pub use std::ffi::{CString, OsStr, OsString};
pub use std::fs::File;
pub use std::io::{self, Read, Write};
pub use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
pub use std::os::unix::net::UnixStream;
pub use std::os::unix::process::{CommandExt, ExitStatusExt};
pub use std::path::{Path, PathBuf};
pub use std::process::{Command, ExitStatus};
pub use std::time::{Duration, Instant};
