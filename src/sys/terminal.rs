//! What standard output is connected to. It only queries and never writes.

use std::io::IsTerminal;

/// The width of the terminal on standard output in columns, 0 if unknown; `None` if it is not a
/// terminal.
pub fn columns() -> Option<usize> {
    let stdout = rustix::stdio::stdout();
    let size = || terminal_size::terminal_size_of(stdout);
    stdout
        .is_terminal()
        .then(|| size().map_or(0, |(width, _)| width.0.into()))
}
