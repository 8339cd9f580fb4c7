//! The error for an unknown state.

use crate::error::Error;

/// Why the state is unknown. Whatever was restricted has to be treated as still restricted
/// (docs/spec/restriction.md#fail-closed).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// A sentence fragment for a person.
    pub reason: String,
}

impl Unreadable {
    /// The lost state may have contained this session.
    pub(super) fn thrown_away() -> Self {
        Self {
            reason: "it was corrupt and had to be thrown away".to_owned(),
        }
    }

    /// The lost state may have contained this conversation.
    pub(super) fn lost() -> Self {
        Self {
            reason: "what this conversation had active was lost with a corrupt file".to_owned(),
        }
    }

    /// Some conversation is restricted, and the session may be in it.
    pub(super) fn not_entered() -> Self {
        Self {
            reason: "which conversation this is could not be recorded".to_owned(),
        }
    }

    /// As an error, for callers that cannot go on.
    pub fn error(&self) -> Error {
        Error::new(format!(
            "the record of active skills cannot be read: {}",
            self.reason
        ))
        .hint("the next prompt resets it, or else the user does with `agent-skills deactivate`")
    }
}
