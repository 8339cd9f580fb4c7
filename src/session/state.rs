//! The model of the state file, and the error if the state is unknown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::active::Session;
use super::contexts::Contexts;
use super::key::{self, SessionKey};
use crate::error::Error;
use crate::sys::process::ProcessId;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The version of the format. A file with another version counts as unreadable.
    pub version: u32,
    /// How often the state was written; the copy with the highest number is the newest.
    #[serde(default)]
    pub serial: u64,
    /// By session key.
    pub sessions: BTreeMap<String, Session>,
    /// What is kept for conversations (`scope = "context"`).
    #[serde(default, skip_serializing_if = "Contexts::is_empty")]
    pub contexts: Contexts,
    /// Set if a corrupt file was discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

/// When an unreadable state file was discarded. Which sessions it restricted is unknown, so the
/// calls of all older ones are refused until their next `on_start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// The realm in which `ticks` is valid.
    pub realm: String,
    /// Start ticks of the process that discarded it.
    pub ticks: u64,
}

impl Reset {
    /// A file is discarded now, by this process.
    pub(super) fn now() -> Self {
        Self {
            realm: key::realm(),
            ticks: ProcessId::current().start,
        }
    }
}

impl State {
    /// The format this program reads and writes.
    pub const VERSION: u32 = 1;

    /// Whether this session may have been in a file that was discarded.
    pub(super) fn may_have_lost(&self, key: &SessionKey) -> bool {
        let reset = self.reset.as_ref();
        reset.is_some_and(|it| it.realm == key::realm() && key.is_older_than(it.ticks))
    }

    /// The session with this key, if it is of the realm of this process.
    pub(super) fn session(&self, key: &SessionKey) -> Option<&Session> {
        let session = self.sessions.get(key.as_str());
        session.filter(|session| key.is_here(&session.realm))
    }

    /// Whether it contains no activation, so that losing it would permit nothing.
    pub(super) fn holds_nothing(&self) -> bool {
        let is_free = |session: &Session| session.activated.is_empty();
        self.sessions.values().all(is_free) && self.contexts.is_empty() && self.reset.is_none()
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            serial: 0,
            sessions: BTreeMap::new(),
            contexts: Contexts::default(),
            reset: None,
        }
    }
}

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
