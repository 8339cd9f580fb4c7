//! The error for an unknown state.

use crate::error::Error;

/// Why the state is unknown. Whatever was restricted has to be treated as still restricted
/// (docs/spec/restriction.md#fail-closed). The text is a fragment for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The lost state may have contained this session.
    #[error("it was corrupt and had to be thrown away")]
    ThrownAway,
    /// The lost state may have contained this conversation.
    #[error("what this conversation had active was lost with a corrupt file")]
    Lost,
    /// The session's conversation is not known, and it may be a restricted one.
    #[error("which conversation this is could not be recorded")]
    NotEntered,
    /// The file cannot be read, or not trusted.
    #[error("{0}")]
    File(String),
}

impl From<Unreadable> for Error {
    fn from(why: Unreadable) -> Self {
        Self::caused("the record of active skills cannot be read", why)
            .hint("the next prompt resets it, or else the user does with `agent-skills deactivate`")
    }
}
