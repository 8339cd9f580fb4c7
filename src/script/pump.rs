//! The plugin's side of a running script: one loop that reads both outputs and the supervisor's
//! reports, or hands the outputs over to the supervisor. It decides nothing.

use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::event::PollFlags;

use super::capture::Captured;
use super::job::Spools;
use super::relay::{self, not_now};
use super::report::{Ended, Failure, Report};
use super::spec::{Conditions, ProcessSpec};
use super::supervisor::{self, Running};
use crate::sys::process::ProcessId;
use crate::sys::{Interest, limits, poll};

/// The maximum for one read or write: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// A started script and its output so far.
pub struct Pump {
    running: Running,
    reports: Reports,
    /// Standard output and standard error.
    outputs: [Output; 2],
    buffer: Vec<u8>,
}

impl Pump {
    /// Starts a script; see [`supervisor::start`].
    ///
    /// # Errors
    /// See there.
    pub fn start(process: &ProcessSpec, conditions: Conditions, stdin: &[u8]) -> io::Result<Self> {
        Ok(Self {
            running: supervisor::start(process, conditions, stdin)?,
            reports: Reports::default(),
            outputs: [Output::default(), Output::default()],
            buffer: vec![0; CHUNK],
        })
    }

    /// Reads until `enough`, the end, or `until`; `false` if the time ran out.
    ///
    /// # Errors
    /// When the system refuses to wait.
    pub fn run(&mut self, until: Instant, enough: fn(&Reports) -> bool) -> io::Result<bool> {
        while self.reports.is_open() && !enough(&self.reports) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let control = self.running.control.as_ref();
            let [stdout, stderr] = &mut self.outputs;
            let [report, out, err] = poll(
                [
                    control.map(|control| (control.as_fd(), PollFlags::IN)),
                    stdout.interest(&self.running.stdout),
                    stderr.interest(&self.running.stderr),
                ],
                left,
            )?;
            if out {
                stdout.read(&self.running.stdout, &mut self.buffer);
            }
            if err {
                stderr.read(&self.running.stderr, &mut self.buffer);
            }
            if report {
                self.reports.read(control);
            }
        }
        Ok(true)
    }

    /// What the supervisor has reported so far.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// The supervisor's process.
    pub fn supervisor(&self) -> ProcessId {
        self.running.supervisor()
    }

    /// Requests the script's end, for which [`Pump::run`] then waits.
    pub fn end(&self) {
        self.running.end();
    }

    /// Kills a supervisor that does not answer.
    pub fn abandon(&mut self) {
        self.running.abandon(self.reports.script);
    }

    /// Hands the outputs over to the supervisor, which stores them in `spools`; `false` if the
    /// script ended meanwhile.
    ///
    /// # Errors
    /// When the system refuses to wait.
    pub fn hand_over(&mut self, spools: &Spools, until: Instant) -> io::Result<bool> {
        let Some(control) = &self.running.control else {
            return Ok(false);
        };
        let outputs = [self.running.stdout.as_fd(), self.running.stderr.as_fd()];
        // If the supervisor is gone, its report of the end is read below.
        let sent = relay::hand_over(control, outputs, spools).is_ok();
        // The supervisor reads the streams while we wait: bytes read here would be missing there.
        let keep = [self.outputs[0].closed, self.outputs[1].closed];
        for output in &mut self.outputs {
            output.closed = true;
        }
        self.run(until, |reports| reports.adopted)?;
        for (output, closed) in self.outputs.iter_mut().zip(keep) {
            output.closed = closed;
        }
        Ok(sent && self.reports.adopted)
    }

    /// The two outputs so far.
    pub fn captured(&self) -> [&Captured; 2] {
        self.outputs.each_ref().map(|output| &output.captured)
    }

    /// Everything, once the script has ended. All killable processes are gone, so both streams end.
    /// A survivor that holds them open is not waited for; one that keeps writing is cut off.
    pub fn finish(mut self) -> (Reports, [Captured; 2]) {
        let [stdout, stderr] = &mut self.outputs;
        for _ in 0..limits::SCRIPT_REST / CHUNK {
            let out = stdout.read(&self.running.stdout, &mut self.buffer);
            let err = stderr.read(&self.running.stderr, &mut self.buffer);
            if !out && !err {
                break;
            }
        }
        (self.reports, self.outputs.map(|output| output.captured))
    }

    /// The outputs so far, and the running script, which its supervisor continues.
    pub fn leave(self) -> (Running, [Captured; 2]) {
        (self.running, self.outputs.map(|output| output.captured))
    }
}

#[derive(Default)]
struct Output {
    closed: bool,
    captured: Captured,
}

impl Output {
    fn interest<'fd>(&self, pipe: &'fd PipeReader) -> Interest<'fd> {
        (!self.closed).then(|| (pipe.as_fd(), PollFlags::IN))
    }

    /// Reads what is available; `false` if there was nothing.
    fn read(&mut self, mut pipe: &PipeReader, buffer: &mut [u8]) -> bool {
        match pipe.read(buffer) {
            Ok(0) => self.closed = true,
            Ok(length) => {
                self.captured.push(&buffer[..length]);
                return true;
            }
            Err(error) => self.closed |= !not_now(&error),
        }
        false
    }
}

/// What the supervisor has reported.
#[derive(Debug)]
pub struct Reports {
    bytes: Vec<u8>,
    open: bool,
    /// Whether the supervisor has taken over the streams.
    pub adopted: bool,
    /// The script's process, once it exists.
    pub script: Option<u32>,
    /// Why the script never ran, if so.
    pub failure: Option<Failure>,
    /// Its end; `None` while it runs, and if the supervisor died or did not answer.
    pub ended: Option<Ended>,
}

impl Default for Reports {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            open: true,
            adopted: false,
            script: None,
            failure: None,
            ended: None,
        }
    }
}

impl Reports {
    /// Whether more reports may come.
    pub fn is_open(&self) -> bool {
        self.open && self.ended.is_none()
    }

    fn read(&mut self, control: Option<&UnixStream>) {
        let mut buffer = [0; 8 * Report::SIZE];
        match control.map(|mut control| control.read(&mut buffer)) {
            Some(Ok(length)) if length > 0 => self.bytes.extend_from_slice(&buffer[..length]),
            Some(Err(error)) if not_now(&error) => return,
            _ => self.open = false,
        }
        let whole = self.bytes.len() - self.bytes.len() % Report::SIZE;
        for report in self.bytes.drain(..whole).as_slice().chunks(Report::SIZE) {
            match Report::decode(report) {
                Some(Report::Started(pid)) => self.script = pid.try_into().ok(),
                Some(Report::Ended(ended)) => self.ended = Some(ended),
                Some(Report::Failed(failure)) => self.failure = Some(failure),
                Some(Report::Adopted) => self.adopted = true,
                None => {}
            }
        }
    }
}
