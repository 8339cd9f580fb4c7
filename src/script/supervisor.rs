//! The plugin's end of the lifeline: starts a supervisor ([`super::supervise`]) for a script, and
//! ends both. It knows nothing of interpreters or environments.

use std::io::{self, PipeReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, getpid};
use wait_timeout::ChildExt;

use super::relay::{END, RELEASE};
use super::spec::{Conditions, ProcessSpec};
use super::{supervise, tree};
use crate::sys::process::{ProcessId, kill_group};

/// How long a supervisor may take to read its specification, and to exit.
const PATIENCE: Duration = Duration::from_secs(10);

/// A script under supervision, as the plugin sees it. Dropping it ends the script.
pub struct Running {
    supervisor: Child,
    /// The children that existed before.
    others: Vec<Pid>,
    /// Our end of the lifeline, on which reports arrive. The supervisor holds the other end.
    pub control: Option<UnixStream>,
    /// The script's standard output.
    pub stdout: PipeReader,
    /// The script's standard error.
    pub stderr: PipeReader,
}

/// Starts a supervisor for a process with this standard input.
///
/// # Errors
/// When the system refuses pipes or a process.
pub fn start(process: &ProcessSpec, conditions: Conditions, stdin: &[u8]) -> io::Result<Running> {
    let (control, lifeline) = UnixStream::pair()?;
    let (stdout, script_stdout) = io::pipe()?;
    let (stderr, script_stderr) = io::pipe()?;
    rustix::io::ioctl_fionbio(&stdout, true)?;
    rustix::io::ioctl_fionbio(&stderr, true)?;
    // If the supervisor is killed, its descendants become ours, to be killed.
    tree::adopt_orphans();
    let others = tree::children_of(getpid());
    let supervisor = Command::new(own_program()?)
        .arg0("agent-skills")
        .arg(supervise::VERB)
        .env_clear()
        .stdin(OwnedFd::from(lifeline))
        .stdout(script_stdout)
        .stderr(script_stderr)
        .spawn()?;
    // From here on the script may run, and must not read our memory and environment.
    supervise::hide();
    let running = Running {
        supervisor,
        others,
        control: Some(control),
        stdout,
        stderr,
    };
    if let Some(control) = &running.control {
        control.set_write_timeout(Some(PATIENCE))?;
        process.send(control, conditions, stdin)?;
        control.set_nonblocking(true)?;
    }
    Ok(running)
}

/// This program itself, even if its file has been replaced meanwhile.
fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok("/proc/self/exe".into())
    } else {
        std::env::current_exe()
    }
}

impl Running {
    /// Kills a supervisor that did not answer, the script's group if known and (Linux) all
    /// descendants of the supervisor.
    pub fn abandon(&mut self, script: Option<u32>) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
        kill_group(script.unwrap_or(0));
        tree::end_orphans(&self.others);
    }

    /// The supervisor's process.
    pub fn supervisor(&self) -> ProcessId {
        ProcessId::of(self.supervisor.id())
    }

    /// Asks the supervisor to end the script; its report says when that is done.
    pub fn end(&self) {
        if let Some(mut control) = self.control.as_ref() {
            let _ = control.write(&END);
        }
    }

    /// Leaves the script to a supervisor that has adopted it. Until the result is released, the
    /// script still ends with this process.
    pub fn leave(mut self) -> Option<Release> {
        self.control.take().map(Release)
    }
}

/// The lifeline of a job whose id nobody knows yet. Dropping it ends the job.
#[derive(Debug)]
pub struct Release(UnixStream);

impl Release {
    /// Makes the job independent of this process, once its id is known.
    pub fn release(mut self) {
        let _ = self.0.write(&RELEASE);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The lifeline first: when it closes, the supervisor kills what is left and exits.
        if self.control.take().is_none() {
            return;
        }
        let ended = self.supervisor.wait_timeout(PATIENCE);
        if !matches!(ended, Ok(Some(_))) {
            self.abandon(None);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
