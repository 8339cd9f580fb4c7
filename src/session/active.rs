//! What is active in one session: a snapshot of each activated skill's restriction, enforced
//! whatever happens to the skill's files later (docs/spec/restriction.md#several-skills).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::key::SessionKey;
use crate::skill::Skill;

/// Arguments of an activation that are kept. Every call reads them, for up to five skills in each
/// of a hundred conversations.
const KEPT_ARGUMENTS: usize = 8 * 1024;

/// Prefix of the owner of an activation kept for a conversation. No session key starts with it.
pub(super) const OF_CONTEXT: &str = "context:";

/// What is active and known in one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The realm in which the key's process id is valid.
    pub realm: String,
    /// Seconds since 1970 at the last change.
    pub changed: u64,
    /// The skills activated so far, most recent last. Inactive ones are kept because what they deny
    /// stays denied (docs/spec/restriction.md#several-skills).
    #[serde(default)]
    pub activated: Vec<ActiveSkill>,
    /// Tools that belong to MCP servers according to the host. `mcp__server__tool` in a skill means
    /// only these, never another tool of that name.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub mcp_tools: BTreeSet<String>,
    /// Whether the host offers a tool for sub-agents. Set when a hook reports it and a skill
    /// depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agents: Option<bool>,
    /// The conversation (`context_name`), once a hook has reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The directories of the skills that are active because they are always on in this
    /// conversation.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub always: BTreeSet<String>,
    /// Whether those of this conversation were put in force; calls are decided only then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_always: bool,
    /// Whether its skills stay active for that conversation after this host process ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// When each active skill was activated, by directory, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub began: BTreeMap<String, u64>,
    /// The user's prompt at which its skills became active, as an agent that numbers prompts names
    /// it. Another one ends them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Of a subagent with a session of its own, the session of the main agent, where its skills are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main: Option<String>,
    /// The restricted skills that had ended when it began, each with its conversation: the model still
    /// knows of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<(String, String)>,
    /// The directories of the skills that an agent itself has made active. A call of its skill tool
    /// alone may yet be refused by the agent, so it grants nothing.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub confirmed: BTreeSet<String>,
}

/// An activation that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The session's key; `None` for an activation kept for a conversation.
    pub session: Option<String>,
    /// The conversation it was in, if known.
    pub context: Option<String>,
    /// The skill's name.
    pub skill: String,
    /// Whether it restricted calls.
    pub restricted: bool,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// Why.
    pub why: End,
}

/// Why an activation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Its host process is gone.
    HostGone,
    /// The same host process began another session.
    NextStart,
    /// The user has submitted another prompt.
    NextPrompt,
    /// Another skill was activated in its place.
    Replaced,
    /// The model unloaded it.
    Unloaded,
    /// The host entered another conversation, in which the skill is not always on.
    ContextLeft,
    /// The user ended it, or turned off `scope = "context"`.
    Deactivated,
}

/// The status of an activated skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is active.
    #[default]
    Active,
    /// Another skill was activated in its place. Its denials stay, and so does the rest of its
    /// restriction if the user's `stacking` combines skills.
    Replaced,
    /// It was unloaded. Its denials stay.
    Unloaded,
}

/// A skill as it was when it was activated. It is identified by its directory, because another
/// layer may have a skill of the same name.
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
    /// `allowed-tools` as written; `None` if absent, which allows everything.
    pub allowed: Option<Vec<String>>,
    /// `disallowed-tools` as written.
    #[serde(default)]
    pub denied: Vec<String>,
    /// Its status.
    #[serde(default, skip_serializing_if = "Standing::is_active")]
    pub standing: Standing,
    /// The digest of the arguments with which its instructions were handed to the model; `None`
    /// until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<String>,
    /// Those arguments, if short enough, for handing over the instructions again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

/// The arguments of a call as the state keeps them: text of the user or the model, never
/// instructions and never a command. `None` if there are none, or they are too long; those exist
/// only in the conversation.
fn short_arguments(given: Option<&str>) -> Option<String> {
    let text = given?.trim();
    let is_short = !text.is_empty() && text.len() <= KEPT_ARGUMENTS;
    is_short.then(|| text.to_owned())
}

impl Session {
    /// Whether any activated skill restricts anything.
    pub fn is_restricted(&self) -> bool {
        self.activated.iter().any(ActiveSkill::is_restricted)
    }

    /// Whether its host is in a conversation.
    pub(super) fn is_live(&self) -> bool {
        self.context.is_some() || !self.activated.is_empty()
    }

    /// The active skills, most recent last.
    pub fn active(&self) -> impl DoubleEndedIterator<Item = &ActiveSkill> + Clone {
        self.activated
            .iter()
            .filter(|skill| skill.standing == Standing::Active)
    }

    /// The skill in `dir`, active or not.
    pub(super) fn find(&self, dir: &str) -> Option<&ActiveSkill> {
        self.activated.iter().find(|skill| skill.dir == dir)
    }

    /// Records that the model was handed the instructions of these active skills, with these
    /// arguments.
    pub fn hand(&mut self, handed: &[(&Skill, Option<&str>)]) {
        for active in &mut self.activated {
            let is_it = |(skill, _): &&(&Skill, _)| skill.dir == Path::new(&active.dir);
            if let Some((_, arguments)) = handed.iter().find(is_it) {
                active.handed = Some(digest(*arguments));
                active.arguments = short_arguments(*arguments);
            }
        }
    }

    /// The most recently loaded skill.
    pub fn latest(&self) -> Option<&ActiveSkill> {
        self.active().next_back()
    }

    /// The skill in `dir`, if it is active.
    pub fn active_in(&self, dir: impl AsRef<OsStr>) -> Option<&ActiveSkill> {
        let dir = dir.as_ref();
        self.active().find(|skill| dir == skill.dir.as_str())
    }

    /// Whether the model was handed the skill's current instructions with these arguments, in an
    /// activation that has not ended.
    pub fn has_handed(&self, skill: &Skill, arguments: Option<&str>) -> bool {
        let is_the_same = |active: &ActiveSkill| {
            active.digest == skill.digest && active.handed == Some(digest(arguments))
        };
        self.active_in(&skill.dir).is_some_and(is_the_same)
    }

    /// The last arguments of an active skill, unless they were too long to be kept.
    pub fn last_arguments(&self, skill: &Skill) -> Option<String> {
        self.active_in(&skill.dir)?.arguments.clone()
    }

    /// Who owns the activation of the skill in `dir`: this session, or the conversation for which
    /// it is kept.
    pub fn owner(&self, key: &SessionKey, dir: &Path) -> String {
        let is_always_on = self.always.contains(&*dir.to_string_lossy());
        match &self.context {
            Some(context) if self.kept && !is_always_on => {
                format!("{OF_CONTEXT}{context}")
            }
            _ => key.as_str().to_owned(),
        }
    }

    /// The ends of its activations, without those kept for a conversation, which go on.
    pub(super) fn ended(&self, key: &str, why: End) -> Vec<Ended> {
        let lasting = self.activated.iter().filter(|_| !self.kept);
        // The end of an unloaded skill was reported when it was unloaded; that its denials end too
        // is reported only if the user deactivates it.
        let lasting =
            lasting.filter(|skill| skill.standing != Standing::Unloaded || why == End::Deactivated);
        lasting
            .map(|skill| Ended {
                session: Some(key.to_owned()),
                ..self.end(skill, why)
            })
            .collect()
    }

    /// The end of one activation, without a session's key.
    pub(super) fn end(&self, skill: &ActiveSkill, why: End) -> Ended {
        let began = self.began.get(&skill.dir).copied();
        Ended {
            session: None,
            context: self.context.clone(),
            skill: skill.name.clone(),
            restricted: skill.is_restricted(),
            began: began.unwrap_or(self.changed * 1000),
            why,
        }
    }
}

impl ActiveSkill {
    /// Whether it restricts the model at all.
    pub fn is_restricted(&self) -> bool {
        self.allowed.is_some() || !self.denied.is_empty()
    }

    /// Takes over the denials of its earlier version: they last as long as the session, whatever
    /// the file says now (docs/spec/restriction.md#several-skills).
    pub(super) fn keep_denying(&mut self, former: &Self) {
        for entry in &former.denied {
            if !self.denied.contains(entry) {
                self.denied.push(entry.clone());
            }
        }
    }

    /// Whether it is the same skill with the same content, whatever its status.
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

/// Forgets when others than these skills were activated.
pub(super) fn forget_others(began: &mut BTreeMap<String, u64>, skills: &[ActiveSkill]) {
    began.retain(|dir, _| skills.iter().any(|skill| skill.dir == *dir));
}

fn digest(arguments: Option<&str>) -> String {
    let text = arguments.unwrap_or_default().trim();
    format!("{:x}", Sha256::digest(text))[..32].to_owned()
}

impl Standing {
    // serde requires this signature.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_active(&self) -> bool {
        *self == Self::Active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_and_overlong_ones_are_not_kept() {
        let longest = "é".repeat(KEPT_ARGUMENTS / 2);
        let longer = format!("{longest}x");
        for (given, kept) in [
            (None, None),
            (Some(" \n"), None),
            (Some(" a  b\n"), Some("a  b")),
            (Some(longest.as_str()), Some(longest.as_str())),
            (Some(longer.as_str()), None),
        ] {
            assert_eq!(short_arguments(given).as_deref(), kept);
        }
    }
}
