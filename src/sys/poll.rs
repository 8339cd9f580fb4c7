//! Waits for descriptors.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// A descriptor, and the events to wait for; `None` for an unused place.
pub type Interest<'fd> = Option<(BorrowedFd<'fd>, PollFlags)>;

/// Waits until one of `fds` is ready or `limit` has passed, and returns which are ready. After an
/// interruption, none is.
///
/// # Errors
/// When the system call fails.
pub fn poll<const N: usize>(fds: [Interest; N], limit: Duration) -> io::Result<[bool; N]> {
    let entry = |&(fd, flags)| PollFd::from_borrowed_fd(fd, flags);
    let mut entries: Vec<PollFd> = fds.iter().flatten().map(entry).collect();
    let limit = Timespec::try_from(limit).ok();
    match rustix::event::poll(&mut entries, limit.as_ref()) {
        Ok(_) => {
            let mut ready = entries.iter().map(|entry| !entry.revents().is_empty());
            Ok(fds.map(|fd| fd.is_some() && ready.next().unwrap_or_default()))
        }
        Err(Errno::INTR) => Ok([false; N]),
        Err(error) => Err(error.into()),
    }
}
