//! What standard output leads to. It asks, and never writes.

use std::io::IsTerminal;
use std::os::fd::BorrowedFd;

/// How wide the terminal on standard output is, 0 where it does not say; `None` when it is none.
#[allow(unsafe_code)]
pub fn columns() -> Option<usize> {
    // SAFETY: nobody closes standard output before this process ends.
    let stdout = unsafe { BorrowedFd::borrow_raw(libc::STDOUT_FILENO) };
    let size = || terminal_size::terminal_size_of(stdout);
    stdout
        .is_terminal()
        .then(|| size().map_or(0, |(width, _)| width.0.into()))
}
