//! The error that the state is unknown, with its reason.

use crate::error::Error;

/// Why the state is unknown. Anything that was restricted must be assumed to be so still
/// (docs/spec/restriction.md#fail-closed).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// For a person; a fragment.
    pub reason: String,
}

impl Unreadable {
    /// The state may have covered this session, and is gone.
    pub(super) fn thrown_away() -> Self {
        Self {
            reason: "it was corrupt and had to be thrown away".to_owned(),
        }
    }

    /// The state may have covered this conversation, and is gone.
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

    /// The error for callers that need the state.
    pub fn error(&self) -> Error {
        Error::new(format!(
            "the record of active skills cannot be read: {}",
            self.reason
        ))
        .hint("the next prompt resets it, or else the user does with `agent-skills deactivate`")
    }
}
