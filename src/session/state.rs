//! The state file's model. It keeps a snapshot of each active skill's restriction: what is
//! enforced is what was activated, whatever happens to the files meanwhile
//! (docs/spec/restriction.md#several-skills).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::KeptArguments;
use super::SessionKey;
use super::contexts::Contexts;

/// What the owner of an activation begins with that is kept for a conversation. No session's key
/// does.
pub(super) const OF_CONTEXT: &str = "context:";

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The format. A file of any other version is unreadable, never guessed at.
    pub version: u32,
    /// How often it was written: of two copies, the one with more is the newer.
    #[serde(default)]
    pub serial: u64,
    /// By session key.
    pub sessions: BTreeMap<String, Session>,
    /// What is kept of conversations, by their names (`scope = "context"`).
    #[serde(default, skip_serializing_if = "Contexts::is_empty")]
    pub contexts: Contexts,
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
    /// The skills activated so far, most recent last. Those that are no longer active still
    /// matter: what they deny stays denied (docs/spec/restriction.md#several-skills).
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
    /// Which of the active skills, by their directories, are so because they are always on in this
    /// conversation.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub always: BTreeSet<String>,
    /// Whether its skills are kept for that conversation beyond this process of the host.
    #[serde(default, skip_serializing_if = "is_false")]
    pub kept: bool,
    /// By directory, when each active skill was activated, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub began: BTreeMap<String, u64>,
}

/// An activation that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The session's key; `None` for one that was kept for a conversation.
    pub session: Option<String>,
    /// The conversation it was in, if it is known.
    pub context: Option<String>,
    /// The skill.
    pub skill: String,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// Why.
    pub why: End,
}

/// Why an activation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its host process is gone.
    HostGone,
    /// The same host has begun anew.
    NextStart,
    /// Another was activated in its place.
    Replaced,
    /// The model unloaded it.
    Unloaded,
    /// The host has entered another conversation, where it is not always on.
    ContextLeft,
    /// The user ended it, or chose that nothing is kept.
    Deactivated,
}

/// How an activated skill stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is active.
    #[default]
    Active,
    /// Another was activated in its place. Its denials hold, and where the user's `stacking`
    /// combines skills, so does the rest of its restriction.
    Replaced,
    /// It was unloaded. Its denials hold.
    Unloaded,
}

/// An active skill as it was when it was activated. Its directory says which it is: another layer
/// may have a skill of the same name.
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
    /// How it stands.
    #[serde(default, skip_serializing_if = "Standing::is_active")]
    pub standing: Standing,
    /// The digest of the arguments with which its instructions were handed to the model, once
    /// they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<String>,
    /// Those arguments, where they are short enough to be kept: the instructions are handed over with
    /// them again. State of an earlier version has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<KeptArguments>,
}

/// That the model was handed an active skill's instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handed {
    /// The skill's directory.
    pub dir: String,
    /// The digest of the arguments.
    pub digest: String,
    /// See [`ActiveSkill::arguments`].
    pub arguments: Option<KeptArguments>,
}

impl Session {
    /// Whether a skill that was activated restricts anything.
    pub fn is_restricted(&self) -> bool {
        self.activated.iter().any(ActiveSkill::is_restricted)
    }

    /// The skills that are active, most recent last.
    pub fn active(&self) -> impl DoubleEndedIterator<Item = &ActiveSkill> + Clone {
        self.activated
            .iter()
            .filter(|skill| skill.standing == Standing::Active)
    }

    /// Whose the activation of the skill in `dir` is: this session's, or the conversation's for
    /// which it is kept.
    pub fn owner(&self, key: &SessionKey, dir: &str) -> String {
        match &self.context {
            Some(context) if self.kept && !self.always.contains(dir) => {
                format!("{OF_CONTEXT}{context}")
            }
            _ => key.as_str().to_owned(),
        }
    }

    /// Its activations, now that they are over. Those that are kept for a conversation are not.
    pub(super) fn ended(&self, key: &str, why: End) -> Vec<Ended> {
        let lasting = self.activated.iter().filter(|_| !self.kept);
        // The end of an unloaded one was told; what it denied is news to who deactivates only.
        let lasting =
            lasting.filter(|skill| skill.standing != Standing::Unloaded || why == End::Deactivated);
        lasting
            .map(|skill| Ended {
                session: Some(key.to_owned()),
                ..self.end(skill, why)
            })
            .collect()
    }

    /// The end of one activation, of no session as yet.
    pub(super) fn end(&self, skill: &ActiveSkill, why: End) -> Ended {
        let began = self.began.get(&skill.dir).copied();
        Ended {
            session: None,
            context: self.context.clone(),
            skill: skill.name.clone(),
            began: began.unwrap_or(self.changed * 1000),
            why,
        }
    }
}

impl State {
    /// The format this program reads and writes.
    pub const VERSION: u32 = 1;

    /// Whether nothing is in force by it: should it be lost, no call is permitted by that.
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

impl ActiveSkill {
    /// Whether it takes anything away from the model.
    pub fn is_restricted(&self) -> bool {
        self.allowed.is_some() || !self.denied.is_empty()
    }

    /// Takes over what it denied before: denials last as long as the session, whatever its file says
    /// by now (docs/spec/restriction.md#several-skills).
    pub(super) fn keep_denying(&mut self, former: &Self) {
        for entry in &former.denied {
            if !self.denied.contains(entry) {
                self.denied.push(entry.clone());
            }
        }
    }

    /// Whether it is the same skill in the same form, however it stands.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let plain = |skill: &Self| Self {
            standing: Standing::Active,
            handed: None,
            arguments: None,
            ..skill.clone()
        };
        plain(self) == plain(other)
    }
}

impl Standing {
    // The signature is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_active(&self) -> bool {
        *self == Self::Active
    }
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}
