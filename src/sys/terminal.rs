//! Whether standard output and error are terminals, and how wide they are. It never writes.

use std::io::IsTerminal;

use rustix::stdio::{stderr, stdout};

/// The width of the terminal on standard output in columns, 0 if unknown; `None` without a
/// terminal.
pub fn columns() -> Option<usize> {
    let size = || terminal_size::terminal_size_of(stdout());
    stdout()
        .is_terminal()
        .then(|| size().map_or(0, |(width, _)| width.0.into()))
}

/// The width of the terminal on standard error, if there is one that tells it.
pub fn error_columns() -> Option<usize> {
    let size = terminal_size::terminal_size_of(stderr());
    let width = size.map(|(width, _)| usize::from(width.0));
    width.filter(|width| *width > 0)
}

/// Its height in lines.
pub fn error_rows() -> Option<usize> {
    let size = terminal_size::terminal_size_of(stderr());
    let height = size.map(|(_, height)| usize::from(height.0));
    height.filter(|height| *height > 0)
}
