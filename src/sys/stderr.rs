//! Standard error, which may be closed: failed writes are ignored.

use std::fmt::Arguments;
use std::io::Write;

use super::shown::{shown, visible};

/// Writes to standard error through [`shown`] and ignores failures. The standard macros would panic
/// if it is full or closed, and a hook that panics gives the wrong answer.
pub fn eprint(text: Arguments) {
    let text = shown(&text.to_string(), false);
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Shows progress to a person at a terminal, overwriting one line.
pub fn progress(line: &str) {
    let line = visible(line);
    let _ = write!(std::io::stderr().lock(), "\r{line}\x1b[K\r");
}

/// Writes one line with the program's name to standard error.
pub fn warn(text: Arguments) {
    eprint(format_args!("agent-skills: {text}\n"));
}
