//! One output of a script on its way from the pipe to memory or to a spool.

use std::io::{self, ErrorKind, PipeReader, Read};
use std::os::fd::AsFd;

use rustix::event::PollFlags;

use crate::sys::{Interest, limits};

/// Whether an error of a non-blocking call means "not now".
pub fn not_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// What takes the bytes of an output.
pub trait Sink {
    /// Adds the next bytes.
    fn push(&mut self, bytes: &[u8]);
}

/// An output and what takes its bytes.
#[derive(Debug)]
pub struct Stream<S> {
    /// A pipe that does not block.
    pub pipe: PipeReader,
    is_closed: bool,
    /// What takes the bytes.
    pub sink: S,
}

impl<S: Sink> Stream<S> {
    /// The output that comes through `pipe`.
    pub fn new(pipe: PipeReader, sink: S) -> Self {
        let is_closed = false;
        Self {
            pipe,
            is_closed,
            sink,
        }
    }

    /// What to wait for.
    pub fn interest(&self) -> Interest<'_> {
        (!self.is_closed).then(|| (self.pipe.as_fd(), PollFlags::IN))
    }

    /// Moves what is available; `false` if there was nothing.
    pub fn pump(&mut self, buffer: &mut [u8]) -> bool {
        match self.pipe.read(buffer) {
            Ok(0) => self.is_closed = true,
            Ok(length) => {
                self.sink.push(&buffer[..length]);
                return true;
            }
            Err(error) => self.is_closed |= !not_now(&error),
        }
        false
    }

    /// Moves what is left after the end of the script. A survivor that holds the pipe open is not
    /// waited for; one that keeps writing is cut off.
    pub fn drain(&mut self, buffer: &mut [u8]) {
        for _ in 0..limits::SCRIPT_REST / buffer.len() {
            if !self.pump(buffer) {
                break;
            }
        }
    }
}
