//! The state file's model. It keeps a snapshot of each active skill's restriction: what is
//! enforced is what was activated, whatever happens to the files meanwhile (RESTRICTION.md §10).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The format. A file of any other version is unreadable, never guessed at.
    pub version: u32,
    /// By session key.
    pub sessions: BTreeMap<String, Session>,
    /// That the file was corrupt and had to be thrown away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

/// When an unreadable state file was thrown away. Which sessions it had restricted nobody knows,
/// so those that are older stay closed until their next `on_start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// The realm in which `ticks` counts.
    pub realm: String,
    /// Start ticks of the process that threw it away.
    pub ticks: u64,
}

/// One session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// In which the key's process id means something.
    pub realm: String,
    /// Seconds since 1970 at the last change.
    pub changed: u64,
    /// The skills activated so far, the one in force last. Those before it still matter: what
    /// they deny stays denied (RESTRICTION.md §8).
    #[serde(default)]
    pub activated: Vec<ActiveSkill>,
    /// Tools that the host said belong to MCP servers: `mcp__server__tool` in a skill means only
    /// these, never a tool of the same name from elsewhere.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub mcp_tools: BTreeSet<String>,
    /// Whether the host offers a tool for sub-agents, once a hook has told and a skill cares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agents: Option<bool>,
    /// The conversation it is in (`context_name`), once a hook has told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Which of the active skills are so because they are always on in this conversation.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub always: BTreeSet<String>,
    /// By name, when each active skill was activated, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub began: BTreeMap<String, u64>,
}

/// An activation that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The session's key.
    pub session: String,
    /// The conversation it was in, if it is known.
    pub context: Option<String>,
    /// The skill.
    pub skill: String,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// Whether its host process is gone; else the same host has begun anew.
    pub host_is_gone: bool,
}

/// An active skill as it was when it was activated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveSkill {
    /// Its name.
    pub name: String,
    /// Its tool's name.
    pub tool: String,
    /// Its directory.
    pub dir: String,
    /// The digest of its `SKILL.md`.
    pub digest: String,
    /// `allowed-tools` as written; `None` when it restricts nothing.
    pub allowed: Option<Vec<String>>,
    /// `disallowed-tools` as written.
    #[serde(default)]
    pub denied: Vec<String>,
}

impl Session {
    /// Whether a skill that was activated restricts anything.
    pub fn is_restricted(&self) -> bool {
        self.activated.iter().any(ActiveSkill::is_restricted)
    }

    /// Its activations, now that they are over.
    pub(super) fn ended(&self, key: &str, host_is_gone: bool) -> Vec<Ended> {
        let end = |skill: &ActiveSkill| Ended {
            session: key.to_owned(),
            context: self.context.clone(),
            skill: skill.name.clone(),
            began: self
                .began
                .get(&skill.name)
                .copied()
                .unwrap_or(self.changed * 1000),
            host_is_gone,
        };
        self.activated.iter().map(end).collect()
    }
}

impl State {
    /// The format this program reads and writes.
    pub const VERSION: u32 = 1;
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            sessions: BTreeMap::new(),
            reset: None,
        }
    }
}

impl ActiveSkill {
    /// Whether it takes anything away from the model.
    pub fn is_restricted(&self) -> bool {
        self.allowed.is_some() || !self.denied.is_empty()
    }
}
