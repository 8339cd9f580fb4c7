//! That the state cannot be known, and why.

use crate::error::Error;

/// Why the state cannot be known. Whatever was restricted must be taken to be still
/// (docs/spec/restriction.md#fail-closed).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// For a person, a fragment.
    pub reason: String,
}

impl Unreadable {
    /// The file may have said something, and is gone.
    pub(super) fn thrown_away() -> Self {
        Self {
            reason: "it was corrupt and had to be thrown away".to_owned(),
        }
    }

    /// The file may have said something of this conversation, and is gone.
    pub(super) fn lost() -> Self {
        Self {
            reason: "what this conversation had active was lost with a corrupt file".to_owned(),
        }
    }

    /// Some conversation is restricted, and this may be that one.
    pub(super) fn not_entered() -> Self {
        Self {
            reason: "which conversation this is could not be recorded".to_owned(),
        }
    }

    /// What to tell whoever needs the state.
    pub fn error(&self) -> Error {
        Error::new(format!(
            "the record of active skills cannot be read: {}",
            self.reason
        ))
        .hint("the next prompt resets it, or else the user does with `agent-skills deactivate`")
    }
}
