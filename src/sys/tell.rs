//! Standard error, which may be gone: what cannot be told is no reason to fail.

use std::fmt::Arguments;
use std::io::Write;

use super::shown::{shown, visible};

/// Writes to standard error, whatever becomes of it, as [`shown`] has it. The standard macros panic
/// where it is full or closed, and a hook that panics answers the wrong thing.
pub fn tell(text: Arguments) {
    let text = shown(&text.to_string(), false);
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Tells a person at a terminal how far something is, over and over on one line.
pub fn progress(line: &str) {
    let line = visible(line);
    let _ = write!(std::io::stderr().lock(), "\r{line}\x1b[K\r");
}

/// One line with the program's name, to standard error.
pub fn remark(text: Arguments) {
    tell(format_args!("agent-skills: {text}\n"));
}

/// Whether a person sees the answer as it is: then nothing in it may steer their terminal.
#[allow(unsafe_code)]
pub fn answers_to_terminal() -> bool {
    // SAFETY: it asks about a descriptor; nothing is read or written.
    unsafe { libc::isatty(libc::STDOUT_FILENO) == 1 }
}
