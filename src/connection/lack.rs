//! What a connection lacks, with the next step.

use std::fmt;

/// What is wrong with a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// What it is, as a sentence fragment.
    pub what: String,
    /// The next step.
    pub next: String,
}

impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.what, self.next)
    }
}
