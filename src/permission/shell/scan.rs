//! Reads a command before the parser does: one pass with an explicit stack of enclosing constructs.
//! Refuses what is too long, too deep or too expensive to parse
//! (docs/spec/restriction.md#how-a-command-is-read), and what shells are known to read differently.
//! Counts what it saw, for comparison with the parser.

use super::Fault;
use super::lexer::{Lexer, Scan};
use crate::host::shell::{Language, Shell};
use crate::permission::steps::Steps;

/// The maximum length of a command.
const MAX_BYTES: usize = 64 * 1024;

/// Scans `source` once.
///
/// # Errors
/// For anything that this scan, or some shell, could misread.
pub fn scan(source: &str, shell: Shell, steps: &Steps) -> Result<Scan, Fault> {
    if source.len() > MAX_BYTES {
        return Fault::refuse("", "it is longer than 64 KiB");
    }
    if shell.language == Language::Other {
        return Fault::refuse("", "the shell that would run it is not known");
    }
    let strange = |c: char| c.is_control() && c != '\n' && c != '\t';
    if source.contains(strange) {
        return Fault::refuse("", "it has control characters");
    }
    Lexer::new(source, shell, steps).read()
}
