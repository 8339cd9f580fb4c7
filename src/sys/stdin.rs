//! Standard input with time limits: a terminal counts as empty, and silence ends the reading with
//! an error.

use std::io::{self, IsTerminal, Read};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Standard input with a limit on silence.
#[derive(Debug)]
pub struct PatientStdin {
    silence: Duration,
    end: Instant,
}

impl PatientStdin {
    /// Reading fails with `TimedOut` when no byte arrives for `silence`, or when it takes longer
    /// than `total` from now.
    pub fn new(silence: Duration, total: Duration) -> Self {
        let end = Instant::now() + total;
        Self { silence, end }
    }
}

impl Read for PatientStdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut stdin = io::stdin().lock();
        if stdin.is_terminal() {
            return Ok(0);
        }
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() || !wait_readable(stdin.as_raw_fd(), self.silence.min(left))? {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not end"));
        }
        stdin.read(buffer)
    }
}

/// Waits until a read would not block; `false` on timeout.
#[allow(unsafe_code)]
fn wait_readable(fd: i32, wait: Duration) -> io::Result<bool> {
    let millis = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
    let mut entry = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    loop {
        // SAFETY: `entry` is one valid pollfd, and the count says one.
        let ready = unsafe { libc::poll(&raw mut entry, 1, millis) };
        let error = io::Error::last_os_error();
        match ready {
            0 => return Ok(false),
            1.. => return Ok(true),
            _ if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return Err(error),
        }
    }
}
