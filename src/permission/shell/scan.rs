//! The reading of a command that comes before the parser's: one pass from left to right that
//! keeps what it is inside of on a stack of its own. It refuses what is too long, too deep or too
//! much work for the parser (docs/spec/restriction.md#how-a-command-is-read), and whatever shells
//! are known to read differently. It counts what it saw, so that the parser's reading can be held
//! against it.

use super::Fault;
use super::lexer::Lexer;
use crate::host::shell::{Language, Shell};
use crate::permission::steps::Steps;

/// Longest command.
const MAX_BYTES: usize = 64 * 1024;

/// What was seen, and the text to parse.
#[derive(Debug)]
pub struct Scan {
    /// The command without line continuations.
    pub text: String,
    /// Command and process substitutions, nested ones too.
    pub substitutions: usize,
    /// What here-documents hold, in the order of their text.
    pub heredocs: Vec<String>,
}

/// Reads `source` once.
///
/// # Errors
/// For anything that this reading, or some shell's, could get wrong.
pub fn scan(source: &str, shell: Shell, steps: &Steps) -> Result<Scan, Fault> {
    if source.len() > MAX_BYTES {
        return Err(Fault::new("", "it is longer than 64 KiB"));
    }
    if shell.language == Language::Other {
        return Err(Fault::new("", "the shell that would run it is not known"));
    }
    let strange = |c: char| c.is_control() && c != '\n' && c != '\t';
    if source.contains(strange) {
        return Err(Fault::new("", "it has control characters"));
    }
    Lexer::new(source, shell, steps).read()
}
