//! The plugin's side of a running script: starts a supervisor ([`super::supervise`]), reads the
//! script's outputs and the supervisor's reports, hands the outputs over or ends both. It knows
//! nothing of interpreters or environments.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use wait_timeout::ChildExt;

use super::capture::Captured;
use super::job::Spools;
use super::relay::{self, END, RELEASE};
use super::report::{Ended, Failure, Report};
use super::spec::{Conditions, ProcessSpec};
use super::stream::{Stream, not_now};
use super::supervise;
use crate::sys::poll;
use crate::sys::process::kill_group;

/// How long a supervisor may take to read its specification, and to exit.
const PATIENCE: Duration = Duration::from_secs(10);

/// The maximum for one read: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// A script under supervision. Dropping it ends the script.
pub struct Running {
    supervisor: Child,
    /// Our end of the lifeline, on which reports arrive; `None` once the script was left to the
    /// supervisor, which holds the other end.
    control: Option<UnixStream>,
    /// What the supervisor has reported so far.
    pub reports: Reports,
    /// Standard output and standard error.
    outputs: [Stream<Captured>; 2],
    /// Whether the supervisor reads the outputs.
    is_handed_over: bool,
    buffer: Vec<u8>,
}

impl Running {
    /// Starts a supervisor for a process with this standard input.
    ///
    /// # Errors
    /// When the system refuses pipes or a process.
    pub fn start(process: &ProcessSpec, conditions: Conditions, stdin: &[u8]) -> io::Result<Self> {
        let (control, lifeline) = UnixStream::pair()?;
        let (stdout, script_stdout) = io::pipe()?;
        let (stderr, script_stderr) = io::pipe()?;
        rustix::io::ioctl_fionbio(&stdout, true)?;
        rustix::io::ioctl_fionbio(&stderr, true)?;
        // This program itself, even if its file has been replaced meanwhile.
        let program = if cfg!(target_os = "linux") {
            "/proc/self/exe".into()
        } else {
            std::env::current_exe()?
        };
        let supervisor = Command::new(program)
            .arg0("agent-skills")
            .arg(supervise::VERB)
            .env_clear()
            .stdin(OwnedFd::from(lifeline))
            .stdout(script_stdout)
            .stderr(script_stderr)
            .spawn()?;
        let mut running = Self {
            supervisor,
            control: None,
            reports: Reports::default(),
            outputs: [stdout, stderr].map(|pipe| Stream::new(pipe, Captured::default())),
            is_handed_over: false,
            buffer: vec![0; CHUNK],
        };
        let control = running.control.insert(control);
        control.set_write_timeout(Some(PATIENCE))?;
        process.send(control, conditions, stdin)?;
        control.set_nonblocking(true)?;
        Ok(running)
    }

    /// Reads until the end of the script, its hand-over or `until`.
    ///
    /// # Errors
    /// When the system refuses to wait.
    pub fn run(&mut self, until: Instant) -> io::Result<()> {
        while self.reports.is_open() && !self.reports.adopted {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let control = self.control.as_ref();
            let [stdout, stderr] = self.outputs.each_ref().map(|output| {
                // The supervisor reads the streams: bytes read here would be missing there.
                output.interest().filter(|_| !self.is_handed_over)
            });
            let control_fd = control.map(|control| (control.as_fd(), PollFlags::IN));
            let [report, ready @ ..] = poll([control_fd, stdout, stderr], left)?;
            for (output, is_ready) in self.outputs.iter_mut().zip(ready) {
                if is_ready {
                    output.pump(&mut self.buffer);
                }
            }
            if report {
                self.reports.read(control);
            }
        }
        Ok(())
    }

    /// Asks the supervisor to end the script; [`Running::run`] waits for that.
    pub fn end(&self) {
        if let Some(mut control) = self.control.as_ref() {
            let _ = control.write(&END);
        }
    }

    /// Kills a supervisor that did not answer, and the script's group if known.
    pub fn abandon(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
        kill_group(self.reports.script.unwrap_or(0));
    }

    /// Hands the outputs over to the supervisor, which stores them in `spools`; `false` if the
    /// script ended meanwhile.
    ///
    /// # Errors
    /// When the system refuses to wait.
    pub fn hand_over(&mut self, spools: &Spools, until: Instant) -> io::Result<bool> {
        let Some(control) = &self.control else {
            return Ok(false);
        };
        let pipes = self.outputs.each_ref().map(|output| output.pipe.as_fd());
        self.is_handed_over = true;
        // If the supervisor is gone, its report of the end is read below.
        let sent = relay::hand_over(control, pipes, spools).is_ok();
        let waited = self.run(until);
        self.is_handed_over = sent && self.reports.adopted;
        waited.map(|()| self.is_handed_over)
    }

    /// The two outputs so far.
    pub fn captured(&self) -> [&Captured; 2] {
        self.outputs.each_ref().map(|output| &output.sink)
    }

    /// Takes the two outputs: what was read before the hand-over or, once the script has ended,
    /// everything. All killable processes are then gone, so both streams end.
    pub fn take_captured(&mut self) -> [Captured; 2] {
        self.outputs.each_mut().map(|output| {
            if !self.is_handed_over {
                output.drain(&mut self.buffer);
            }
            std::mem::take(&mut output.sink)
        })
    }

    /// Leaves the script to a supervisor that has adopted it. Until the result is released, the
    /// script still ends with this process.
    pub fn leave(mut self) -> Option<Release> {
        self.control.take().map(Release)
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
            self.abandon();
        }
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

/// What the supervisor has reported.
#[derive(Debug, Default)]
pub struct Reports {
    bytes: Vec<u8>,
    is_closed: bool,
    /// Whether the supervisor has taken over the streams.
    pub adopted: bool,
    /// The script's process, once it exists.
    pub script: Option<u32>,
    /// Why the script never ran, if so.
    pub failure: Option<Failure>,
    /// Its end; `None` while it runs, and if the supervisor died or did not answer.
    pub ended: Option<Ended>,
}

impl Reports {
    /// Whether more reports may come.
    pub fn is_open(&self) -> bool {
        !self.is_closed && self.ended.is_none()
    }

    fn read(&mut self, control: Option<&UnixStream>) {
        let mut buffer = [0; 1024];
        match control.map(|mut control| control.read(&mut buffer)) {
            Some(Ok(length)) if length > 0 => self.bytes.extend_from_slice(&buffer[..length]),
            Some(Err(error)) if not_now(&error) => return,
            _ => self.is_closed = true,
        }
        while let Some(end) = self.bytes.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Report::Started(pid)) => self.script = Some(pid),
                Ok(Report::Ended(ended)) => self.ended = Some(ended),
                Ok(Report::Failed(failure)) => self.failure = Some(failure),
                Ok(Report::Adopted) => self.adopted = true,
                Err(_) => {}
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
