//! Standard error, which may be gone: what cannot be told is no reason to fail.

use std::fmt::Arguments;
use std::io::Write;

/// Writes to standard error, whatever becomes of it. The standard macros panic where it is full
/// or closed, and a hook that panics answers the wrong thing.
pub fn tell(text: Arguments) {
    let _ = std::io::stderr().lock().write_fmt(text);
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
