//! Standard input with time limits. A terminal counts as empty, and silence ends the reading with
//! an error.

use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::stdio::stdin;

use super::poll;

/// Standard input with a limit on silence.
#[derive(Debug)]
pub struct PatientStdin {
    silence: Duration,
    end: Instant,
    is_terminal: bool,
}

impl PatientStdin {
    /// Reading fails with `TimedOut` if no byte arrives for `silence`, or if it takes longer than
    /// `total` from now.
    pub fn new(silence: Duration, total: Duration) -> Self {
        Self {
            silence,
            end: Instant::now() + total,
            is_terminal: stdin().is_terminal(),
        }
    }
}

impl Read for PatientStdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_terminal {
            return Ok(0);
        }
        let stdin = stdin();
        let until = self.end.min(Instant::now() + self.silence);
        let mut is_ready = false;
        while !is_ready {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not end"));
            }
            [is_ready] = poll([Some((stdin.as_fd(), PollFlags::IN))], left)?;
        }
        // Unbuffered: what was read ahead would be waited for again.
        Ok(rustix::io::read(stdin, buffer)?)
    }
}
