//! Whether standard output is a terminal, and how wide it is. It never writes.

use std::io::IsTerminal;

use rustix::stdio::stdout;

/// The width of the terminal on standard output in columns, 0 if unknown; `None` without a
/// terminal.
pub fn columns() -> Option<usize> {
    let size = || terminal_size::terminal_size_of(stdout());
    stdout()
        .is_terminal()
        .then(|| size().map_or(0, |(width, _)| width.0.into()))
}
