//! How restrictions are enforced: the user's settings as plain data, with their defaults. Does not
//! know where they are read from.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What happens to a call that a restriction does not allow, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enforce {
    /// It runs.
    Off,
    /// It runs, and the refusal becomes a note.
    Warn,
    /// It is blocked.
    #[default]
    Restrict,
}

/// What a further activation does to the current restriction, loosest first
/// (docs/spec/restriction.md#several-skills).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stacking {
    /// The last skill's restriction applies, even if it has none.
    #[default]
    Replace,
    /// The lists of always-on and earlier skills apply too; each must allow the call.
    Intersect,
}

/// Whose scripts may run without a rule that grants them, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptScope {
    /// Those of every skill, including skills that are not offered.
    Any,
    /// Those of every skill in the catalog.
    Listed,
    /// The active skill's.
    #[default]
    Own,
}

/// Who may end a restriction before the next prompt, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deactivate {
    /// The model too.
    Model,
    /// A person.
    #[default]
    User,
}

/// The user's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What happens to a call that is not allowed.
    pub enforce: Enforce,
    /// The skills whose restrictions restrict, whatever `enforce` says, by name.
    pub required: BTreeSet<String>,
    /// How two active skills combine.
    pub stacking: Stacking,
    /// Whether `… | head -20` needs no rule for `head` (docs/spec/restriction.md#pipe-filters).
    pub pipe_filters: bool,
    /// Whose scripts may run.
    pub scripts: ScriptScope,
    /// Tools that no restriction forbids, by name.
    pub always_allowed: Vec<String>,
    /// Who may end a restriction.
    pub deactivate: Deactivate,
    /// Whether a model may propose changes to skills; if not, a tool of that name is another
    /// plugin's.
    pub proposals: bool,
    /// Whether it may propose new ones.
    pub new_skills: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enforce: Enforce::default(),
            required: BTreeSet::new(),
            stacking: Stacking::default(),
            pipe_filters: true,
            scripts: ScriptScope::default(),
            always_allowed: Vec::new(),
            deactivate: Deactivate::default(),
            proposals: true,
            new_skills: true,
        }
    }
}

impl Settings {
    /// What happens to a call that this skill does not allow.
    pub fn enforcement(&self, skill: &str) -> Enforce {
        if self.required.contains(skill) {
            Enforce::Restrict
        } else {
            self.enforce
        }
    }
}
