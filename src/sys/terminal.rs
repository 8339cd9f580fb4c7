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

/// The columns and lines of the terminal on standard error, if there is one that tells its width.
pub fn error_size() -> Option<(usize, usize)> {
    /// A terminal's lines if it does not tell them.
    const LINES: u16 = 24;
    let (width, height) = terminal_size::terminal_size_of(stderr())?;
    let lines = if height.0 == 0 { LINES } else { height.0 };
    (width.0 > 0).then(|| (width.0.into(), lines.into()))
}
