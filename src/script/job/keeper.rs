//! A job's supervisor as a process. It serves the one thing that the FIFO cannot do: resuming a
//! supervisor that was stopped (`kill -STOP $PPID`) and would never enforce its limit.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::script::process::{self, Pid};
use crate::sys::process::ProcessId;

/// Identifies the supervisor's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorId {
    pid: u32,
    /// Its start time, because its id may be reused.
    start: u64,
}

impl SupervisorId {
    /// A child of ours; `None` where the system does not report its start time.
    pub fn of(pid: Pid) -> Option<Self> {
        let facts = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Field 22; the second, the program's name, may contain spaces and parentheses.
        let start = facts.rsplit_once(')')?.1.split_whitespace().nth(19)?;
        Some(Self {
            pid: pid.try_into().ok()?,
            start: start.parse().ok()?,
        })
    }

    /// Resumes it, if it is still the same process.
    pub fn wake(self) {
        let Self { pid, start } = self;
        // A start of 0 would match any process with that id.
        if start > 0
            && (ProcessId { pid, start }).is_alive()
            && let Ok(pid) = pid.try_into()
        {
            process::resume(pid);
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::process::Command;

    fn state_of(pid: u32) -> char {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let state = stat.rsplit_once(") ").unwrap().1;
        state.chars().next().unwrap()
    }

    #[test]
    fn only_the_very_process_is_woken() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let keeper = SupervisorId::of(child.id().try_into().unwrap()).unwrap();
        let stopped = Command::new("kill")
            .args(["-STOP", &child.id().to_string()])
            .status();
        assert!(stopped.unwrap().success());
        crate::script::fixture::eventually("stopped", || state_of(child.id()) == 'T');
        for other in [0, keeper.start + 1] {
            SupervisorId {
                start: other,
                ..keeper
            }
            .wake();
            assert_eq!(state_of(child.id()), 'T');
        }
        keeper.wake();
        crate::script::fixture::eventually("awake", || state_of(child.id()) != 'T');
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
