//! The model of the state file, and the error if the state is unknown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::active::{Ended, Session};
use super::contexts::Contexts;
use super::key::{SessionKey, has_expired};
use crate::error::Error;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// The version of the format. A file with another version counts as unreadable.
    pub version: u32,
    /// By session key.
    pub sessions: BTreeMap<String, Session>,
    /// What is kept for conversations (`scope = "context"`).
    #[serde(default, skip_serializing_if = "Contexts::is_empty")]
    pub contexts: Contexts,
    /// Whether an unreadable file was discarded. Which sessions it restricted is unknown, so the calls
    /// of each session without an entry are refused until its own next prompt, or until the user
    /// says that nothing is active.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

impl State {
    /// The format this program reads and writes.
    pub const VERSION: u32 = 1;

    /// The session with this key, if it is known and of the realm of this process.
    ///
    /// # Errors
    /// If it is not, and may have been in a file that was discarded.
    pub fn session(&self, key: &SessionKey) -> Result<Option<&Session>, Unreadable> {
        let session = self.sessions.get(key.as_str());
        match session.filter(|session| key.is_here(&session.realm)) {
            None if self.reset => Err(Unreadable::ThrownAway),
            known => Ok(known),
        }
    }

    /// Forgets the sessions that cannot come back. Returns the activations that ended.
    pub fn forget_ended(&mut self, realm: &str) -> Vec<Ended> {
        let mut ended = Vec::new();
        self.sessions.retain(|key, session| {
            let is_over = is_over(key, session, realm);
            if is_over {
                ended.extend(session.ended(key, super::End::HostGone));
            }
            !is_over
        });
        ended
    }
}

/// Whether a session cannot come back. Without a process to check, as in another realm, its age
/// decides.
fn is_over(key: &str, session: &Session, realm: &str) -> bool {
    if SessionKey::name(key).is_none() && session.realm == realm {
        SessionKey::has_ended(key)
    } else {
        has_expired(session.changed)
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            sessions: BTreeMap::new(),
            contexts: Contexts::default(),
            reset: false,
        }
    }
}

/// Why the state is unknown. Whatever was restricted has to be treated as still restricted
/// (docs/spec/restriction.md#fail-closed). The text is a fragment for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The discarded file may have contained this session.
    #[error("it was damaged, and another session's prompt has begun a new one")]
    ThrownAway,
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
