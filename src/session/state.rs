//! The state file's model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::active::Session;
use super::contexts::Contexts;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The format. A file of any other version is unreadable and never guessed at.
    pub version: u32,
    /// How often it was written; the copy with the higher number is newer.
    #[serde(default)]
    pub serial: u64,
    /// By session key.
    pub sessions: BTreeMap<String, Session>,
    /// What is kept of conversations, by name (`scope = "context"`).
    #[serde(default, skip_serializing_if = "Contexts::is_empty")]
    pub contexts: Contexts,
    /// Set if the file was corrupt and had to be discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

/// When an unreadable state file was discarded. Nobody knows which sessions it had restricted, so
/// all older ones stay closed until their next `on_start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// The realm in which `ticks` counts.
    pub realm: String,
    /// Start ticks of the process that discarded it.
    pub ticks: u64,
}

impl State {
    /// The format this program reads and writes.
    pub const VERSION: u32 = 1;

    /// Whether it holds no activation, so that losing it would permit no call.
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
