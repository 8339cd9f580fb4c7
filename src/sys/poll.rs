//! Waiting for descriptors.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// A descriptor and what it is waited for.
pub type Interest<'fd> = Option<(BorrowedFd<'fd>, PollFlags)>;

/// Waits until one of `fds` is ready or `limit` has passed, and tells which are. An interruption
/// counts as none.
///
/// # Errors
/// When the system refuses to wait.
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
