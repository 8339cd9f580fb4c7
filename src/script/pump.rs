//! The plugin's side of a running script: feeds standard input while it reads both outputs and
//! the supervisor's reports, in one loop that waits for whichever is ready. It starts and kills
//! nothing itself.

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::capture::Captured;
use super::process::{self, Pid};
use super::report::{Ended, Failure, Report};
use super::supervisor::Running;
use crate::sys::limits;

/// What one read or write moves at most; a pipe holds as much.
const CHUNK: usize = 64 * 1024;

/// What came of a run.
#[derive(Debug)]
pub struct Pumped {
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// The script's process, once it had one.
    pub script: Option<Pid>,
    /// Why the script never ran, if it did not.
    pub failure: Option<Failure>,
    /// Its end; `None` when the supervisor died or did not answer by the backstop.
    pub ended: Option<Ended>,
}

/// Feeds `stdin` and collects output until the supervisor reports the end, or until `backstop`.
///
/// # Errors
/// When the system refuses to wait.
pub fn pump(running: &mut Running, stdin: &[u8], backstop: Instant) -> io::Result<Pumped> {
    let mut stdout = Output::new(&running.stdout);
    let mut stderr = Output::new(&running.stderr);
    let mut input = Input {
        pipe: running.stdin.take(),
        rest: stdin,
    };
    let mut reports = Reports::new(running.control.as_ref());
    let mut buffer = vec![0; CHUNK];
    while reports.open && reports.ended.is_none() {
        let left = backstop.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let mut fds = [
            interest(reports.fd(), libc::POLLIN),
            interest(stdout.fd(), libc::POLLIN),
            interest(stderr.fd(), libc::POLLIN),
            interest(input.fd(), libc::POLLOUT),
        ];
        process::poll(&mut fds, left)?;
        let [report, out, err, in_] = fds.map(|fd| fd.revents != 0);
        if out {
            stdout.read(&mut buffer);
        }
        if err {
            stderr.read(&mut buffer);
        }
        if in_ {
            input.write();
        }
        if report {
            reports.read();
        }
    }
    // Whatever could be killed is gone, so both streams end here. A survivor that keeps them open
    // is not waited for, and one that goes on writing is cut off.
    for _ in 0..limits::SCRIPT_REST / CHUNK {
        let more = [&mut stdout, &mut stderr].map(|output| output.read(&mut buffer));
        if more == [false, false] {
            break;
        }
    }
    Ok(Pumped {
        stdout: stdout.captured,
        stderr: stderr.captured,
        script: reports.script,
        failure: reports.failure,
        ended: reports.ended,
    })
}

/// An entry for `poll`, which passes over the negative descriptor of what is closed.
fn interest(fd: Option<RawFd>, events: i16) -> libc::pollfd {
    libc::pollfd {
        fd: fd.unwrap_or(-1),
        events,
        revents: 0,
    }
}

/// Whether an error of a non-blocking call means "not now".
fn not_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

struct Output<'a> {
    pipe: &'a PipeReader,
    open: bool,
    captured: Captured,
}

impl<'a> Output<'a> {
    fn new(pipe: &'a PipeReader) -> Self {
        Self {
            pipe,
            open: true,
            captured: Captured::default(),
        }
    }

    fn fd(&self) -> Option<RawFd> {
        self.open.then(|| self.pipe.as_raw_fd())
    }

    /// Takes what is there; false when that is nothing.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        match self.pipe.read(buffer) {
            Ok(0) => self.open = false,
            Ok(length) => {
                self.captured.push(&buffer[..length]);
                return true;
            }
            Err(error) => self.open &= not_now(&error),
        }
        false
    }
}

struct Input<'a> {
    pipe: Option<PipeWriter>,
    rest: &'a [u8],
}

impl Input<'_> {
    fn fd(&self) -> Option<RawFd> {
        self.pipe.as_ref().map(AsRawFd::as_raw_fd)
    }

    fn write(&mut self) {
        let Some(pipe) = &mut self.pipe else {
            return;
        };
        match pipe.write(&self.rest[..self.rest.len().min(CHUNK)]) {
            Ok(written) => self.rest = &self.rest[written..],
            Err(error) if not_now(&error) => return,
            // The script closed its input, which is its right.
            Err(_) => self.rest = &[],
        }
        if self.rest.is_empty() {
            self.pipe = None;
        }
    }
}

struct Reports<'a> {
    control: Option<&'a UnixStream>,
    bytes: Vec<u8>,
    open: bool,
    script: Option<Pid>,
    failure: Option<Failure>,
    ended: Option<Ended>,
}

impl<'a> Reports<'a> {
    fn new(control: Option<&'a UnixStream>) -> Self {
        Self {
            control,
            bytes: Vec::new(),
            open: true,
            script: None,
            failure: None,
            ended: None,
        }
    }

    fn fd(&self) -> Option<RawFd> {
        self.control.map(AsRawFd::as_raw_fd)
    }

    fn read(&mut self) {
        let mut buffer = [0; 8 * Report::SIZE];
        match self.control.map(|mut control| control.read(&mut buffer)) {
            Some(Ok(length)) if length > 0 => self.bytes.extend_from_slice(&buffer[..length]),
            Some(Err(error)) if not_now(&error) => return,
            _ => self.open = false,
        }
        let whole = self.bytes.len() - self.bytes.len() % Report::SIZE;
        for report in self.bytes.drain(..whole).as_slice().chunks(Report::SIZE) {
            match Report::decode(report) {
                Some(Report::Started(pid)) => self.script = Some(pid),
                Some(Report::Ended(ended)) => self.ended = Some(ended),
                Some(Report::Failed(failure)) => self.failure = Some(failure),
                None => {}
            }
        }
    }
}
