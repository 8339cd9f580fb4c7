//! What standard output is connected to. It only queries and never writes.

use std::io::IsTerminal;
use std::os::fd::BorrowedFd;

/// The width of the terminal on standard output in columns, 0 if unknown; `None` if it is not a
/// terminal.
#[allow(unsafe_code)]
pub fn columns() -> Option<usize> {
    // SAFETY: nobody closes standard output before this process ends.
    let stdout = unsafe { BorrowedFd::borrow_raw(libc::STDOUT_FILENO) };
    let size = || terminal_size::terminal_size_of(stdout);
    stdout
        .is_terminal()
        .then(|| size().map_or(0, |(width, _)| width.0.into()))
}
