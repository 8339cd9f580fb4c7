//! What is active in one session: a snapshot of each activated skill's restriction, enforced
//! whatever happens to the skill's files later (docs/spec/restriction.md#several-skills); and how
//! loading and unloading change it. Pure; the store saves the result.
//!
//! The active skills are an ordered list, most recent last. A skill's own tool loads it as the
//! user's `stacking` says; `skill_session` says itself whether it adds or replaces.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::key::SessionKey;
use crate::error::{Error, Result};
use crate::host::ours;
use crate::skill::Skill;
use crate::sys::UnixMillis;
use skill_permission::vocabulary;
use skill_permission::vocabulary::Capability;

/// Arguments of an activation that are kept. Every call reads them, for up to five skills in each
/// of a hundred conversations.
const KEPT_ARGUMENTS: usize = 8 * 1024;

/// Skills activated in one session. Nobody needs more, and each is parsed in every call.
const SESSION_SKILLS: usize = 200;

/// Prefix of the owner of an activation kept for a conversation. No session key starts with it.
pub(super) const OF_CONTEXT: &str = "context:";

/// What is active and known in one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The realm in which the key's process id is valid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
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
pub struct EndedActivation {
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
    pub why: EndReason,
}

/// Why an activation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
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
pub enum ActivationStatus {
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
    #[serde(default, rename = "standing")]
    #[serde(skip_serializing_if = "is_active")]
    pub status: ActivationStatus,
    /// When it became active, in milliseconds since 1970; 0 if that is not known.
    #[serde(default)]
    pub began: u64,
    /// The digest of the arguments with which its instructions were handed to the model; `None`
    /// until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<String>,
    /// Those arguments, if short enough, for handing over the instructions again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

/// What happens to the skills that are active already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadMode {
    /// They stay.
    Add,
    /// They are replaced, but restrict as the user's `stacking` says. Their denials stay.
    InPlace,
    /// They are unloaded.
    Replace {
        /// Whether restricted skills may be unloaded.
        ends_restricted: bool,
    },
}

/// The result of loading or unloading.
#[derive(Debug, Default)]
pub struct SessionChange {
    /// The directories of skills that were not active before, or whose content has changed.
    pub began: Vec<String>,
    /// Activations that ended.
    pub ended: Vec<EndedActivation>,
}

impl SessionChange {
    /// Whether the skill in `dir` became active.
    pub fn has_begun(&self, dir: &Path) -> bool {
        self.began.iter().any(|began| dir == Path::new(began))
    }
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

    /// The active skills, most recent last.
    pub fn active(&self) -> impl DoubleEndedIterator<Item = &ActiveSkill> + Clone {
        let activated = self.activated.iter();
        activated.filter(|skill| skill.is_active())
    }

    /// Records that the model was handed the instructions of these active skills, with these
    /// arguments.
    pub fn hand(&mut self, handed: &[(&Skill, Option<&str>)]) {
        for active in &mut self.activated {
            let is_of_skill = |(skill, _): &&(&Skill, _)| skill.dir == Path::new(&active.dir);
            if let Some((_, arguments)) = handed.iter().find(is_of_skill) {
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
    pub fn was_handed_over(&self, skill: &Skill, arguments: Option<&str>) -> bool {
        let is_the_same = |active: &ActiveSkill| {
            active.digest == skill.digest && active.handed == Some(digest(arguments))
        };
        self.active_in(&skill.dir).is_some_and(is_the_same)
    }

    /// The last arguments of an active skill, unless they were too long to be kept.
    pub fn last_arguments(&self, skill: &Skill) -> Option<&str> {
        self.active_in(&skill.dir)?.arguments.as_deref()
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
    pub(super) fn ended(&self, key: &str, why: EndReason) -> Vec<EndedActivation> {
        let lasting = self.activated.iter().filter(|_| !self.kept);
        // The end of an unloaded skill was reported when it was unloaded; that its denials end too
        // is reported only if the user deactivates it.
        let lasting = lasting.filter(|skill| {
            skill.status != ActivationStatus::Unloaded || why == EndReason::Deactivated
        });
        lasting
            .map(|skill| EndedActivation {
                session: Some(key.to_owned()),
                ..self.end(skill, why)
            })
            .collect()
    }

    /// Makes `skills` active, in this order, after those that stay.
    ///
    /// # Errors
    /// When it would unload a restricted skill that may not be unloaded, or more than `most` would
    /// be active. Discard the session then: it may be changed in part.
    pub fn load(
        &mut self,
        skills: Vec<ActiveSkill>,
        loading: LoadMode,
        most: usize,
    ) -> Result<SessionChange> {
        let mut changed = SessionChange::default();
        match loading {
            LoadMode::Add => {}
            LoadMode::InPlace => {
                let others = |skill: &ActiveSkill| is_other(skill, &skills);
                changed.ended = self.leave(others, ActivationStatus::Replaced);
            }
            LoadMode::Replace { ends_restricted } => {
                changed.ended = self.unload(|skill| is_other(skill, &skills), ends_restricted)?;
            }
        }
        for mut skill in skills {
            let known = self.activated.iter().position(|old| old.dir == skill.dir);
            let before = known.map(|at| self.activated.remove(at));
            if let Some(old) = &before {
                skill.keep_denying(old);
            }
            let before = before.filter(ActiveSkill::is_active);
            let is_same = before.as_ref().is_some_and(|old| old.is_same_as(&skill));
            skill.began = UnixMillis::now().0;
            if let Some(old) = before {
                skill.arguments = old.arguments;
                if is_same {
                    (skill.handed, skill.began) = (old.handed, old.began);
                }
            }
            if !is_same {
                changed.began.push(skill.dir.clone());
            }
            self.activated.push(skill);
        }
        let count = self.active().count();
        if count > most {
            let text = format!("{count} skills would be active, and at most {most} may be");
            return Err(Error::new(text).hint(
                "load fewer, or first unload some: skill_session {\"action\": \"unload\", \
                 \"names\": […]}; the user can change `max_active`",
            ));
        }
        if self.activated.len() > SESSION_SKILLS {
            let text = format!("{SESSION_SKILLS} skills were already activated in this session");
            return Err(Error::new(text).hint("the user can run `agent-skills deactivate`"));
        }
        Ok(changed)
    }

    /// Makes those active skills inactive that are meant. Their denials stay.
    ///
    /// # Errors
    /// When one is restricted and may not be unloaded. Nothing has changed then.
    pub fn unload(
        &mut self,
        meant: impl Fn(&ActiveSkill) -> bool,
        ends_restricted: bool,
    ) -> Result<Vec<EndedActivation>> {
        let restricts = |skill: &&ActiveSkill| skill.is_restricted() && meant(skill);
        if let Some(skill) = self.active().find(restricts).filter(|_| !ends_restricted) {
            let text = format!(
                "the skill `{}` restricts which tools may be used, so only the user can end it",
                skill.name
            );
            return Err(Error::new(text).hint(
                "`agent-skills deactivate` is for the user to run; a load with mode \"add\" keeps it",
            ));
        }
        Ok(self.leave(meant, ActivationStatus::Unloaded))
    }

    /// Gives active skills another standing. A replaced one goes on restricting, so it ends only if
    /// it restricts nothing.
    fn leave(
        &mut self,
        meant: impl Fn(&ActiveSkill) -> bool,
        status: ActivationStatus,
    ) -> Vec<EndedActivation> {
        let is_unloaded = status == ActivationStatus::Unloaded;
        let why = if is_unloaded {
            EndReason::Unloaded
        } else {
            EndReason::Replaced
        };
        let ends = |skill: &&ActiveSkill| meant(skill) && (is_unloaded || !skill.is_restricted());
        let ended = self.active().filter(ends);
        let ended = ended.map(|skill| self.end(skill, why)).collect();
        for skill in &mut self.activated {
            if skill.is_active() && meant(skill) {
                skill.status = status;
                skill.allowed.take_if(|_| is_unloaded);
            }
        }
        // What is neither active nor restricts is forgotten.
        self.activated
            .retain(|skill| skill.is_active() || skill.is_restricted());
        ended
    }

    /// Unloads the skill in `dir`, whose activation failed, unless it is always on or its
    /// instructions were handed over before: then only the user may end its restrictions. If no
    /// other skill is active, the one that it replaced becomes active again.
    pub fn withdraw(&mut self, dir: &str) -> Vec<EndedActivation> {
        let failed = |skill: &ActiveSkill| skill.dir == dir && skill.handed.is_none();
        if self.always.contains(dir) || !self.active().any(failed) {
            return Vec::new();
        }
        let ended = self.leave(|skill| skill.dir == dir, ActivationStatus::Unloaded);
        let is_none_left = self.active().next().is_none();
        let mut others = self.activated.iter_mut().filter(|skill| skill.dir != dir);
        if is_none_left
            && let Some(last) = others.next_back()
            && last.status == ActivationStatus::Replaced
        {
            last.status = ActivationStatus::Active;
        }
        ended
    }

    /// The session with `wanted` always on: after the skills that are no longer active, before those
    /// that were activated. What was always on before stays so in this conversation, whatever has become
    /// of its files: a model may have changed them, or what decides about them.
    pub(super) fn with_always_on(&self, wanted: Option<&[ActiveSkill]>) -> Self {
        let is_always = |skill: &ActiveSkill| self.always.contains(&skill.dir);
        let (former, others): (Vec<_>, Vec<_>) =
            self.activated.iter().cloned().partition(is_always);
        let (besides, mut below): (Vec<_>, Vec<_>) =
            others.into_iter().partition(ActiveSkill::is_active);
        let mut always = wanted.map_or_else(Vec::new, |wanted| {
            let former = former.into_iter().filter(|skill| is_other(skill, wanted));
            former.chain(wanted.iter().cloned()).collect()
        });
        always.retain(|skill| is_other(skill, &besides));
        below.retain(|skill| is_other(skill, &always));
        keep_denying(&mut always, &self.activated);
        for skill in &mut always {
            skill.status = ActivationStatus::Active;
            let known = self.active_in(&skill.dir);
            let same = known.filter(|known| known.is_same_as(skill));
            skill.handed = same.and_then(|known| known.handed.clone());
            skill.began = same.map_or_else(|| UnixMillis::now().0, |known| known.began);
            skill.arguments = known.and_then(|known| known.arguments.clone());
        }
        Self {
            always: always.iter().map(|skill| skill.dir.clone()).collect(),
            has_always: wanted.is_some(),
            activated: below.into_iter().chain(always).chain(besides).collect(),
            ..self.clone()
        }
    }

    /// The end of one activation, without a session's key.
    pub(super) fn end(&self, skill: &ActiveSkill, why: EndReason) -> EndedActivation {
        EndedActivation {
            session: None,
            context: self.context.clone(),
            skill: skill.name.clone(),
            restricted: skill.is_restricted(),
            began: match skill.began {
                0 => self.changed * 1000,
                began => began,
            },
            why,
        }
    }
}

impl ActiveSkill {
    /// Whether it is active now.
    pub fn is_active(&self) -> bool {
        self.status == ActivationStatus::Active
    }

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
            status: ActivationStatus::Active,
            began: 0,
            handed: None,
            arguments: None,
            ..skill.clone()
        };
        plain(self) == plain(other)
    }
}

/// Attributes ended activations to the session with this key.
pub fn in_session(key: &SessionKey, mut ended: Vec<EndedActivation>) -> Vec<EndedActivation> {
    for end in &mut ended {
        end.session = Some(key.as_str().to_owned());
    }
    ended
}

/// Whether a skill is none of `skills`.
pub fn is_other(skill: &ActiveSkill, skills: &[ActiveSkill]) -> bool {
    skills.iter().all(|new| new.dir != skill.dir)
}

fn digest(arguments: Option<&str>) -> String {
    format!("{:x}", Sha256::digest(arguments.unwrap_or_default().trim()))[..32].to_owned()
}

// serde requires this signature.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_active(status: &ActivationStatus) -> bool {
    *status == ActivationStatus::Active
}

/// The snapshot of a skill that becomes active.
pub fn snapshot(skill: &Skill, tool: &str) -> ActiveSkill {
    let allowed = skill.fields.allowed_tools();
    ActiveSkill {
        name: skill.name.to_string(),
        tool: tool.to_owned(),
        dir: skill.dir.display().to_string(),
        digest: skill.digest.clone(),
        // Some authors list clients under `tools`, so a list that names no tool is not a
        // restriction.
        allowed: allowed
            .filter(|entries| !skill.fields.tools_are_ambiguous() || names_a_tool(entries)),
        denied: skill.fields.disallowed_tools(),
        status: ActivationStatus::Active,
        began: 0,
        handed: None,
        arguments: None,
    }
}

fn names_a_tool(entries: &[String]) -> bool {
    let mut words = entries
        .iter()
        .flat_map(|it| it.split([' ', ',', '(', '\n']));
    words.any(|word| {
        Capability::named(word).is_some()
            || vocabulary::find_tool(word).is_some()
            || vocabulary::program_words(word).is_some()
            || ours::FIXED.contains(&word)
            || word.starts_with("skill_")
            || word.starts_with("mcp__")
    })
}

/// Conversations whose active skills are kept; each is about 1 KB that every call reads.
const CONTEXTS: usize = 100;

/// Every conversation for which something is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversations {
    /// By the conversation's name: when it was last changed, and [`Session::activated`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) known: BTreeMap<String, Session>,
}

impl Conversations {
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Moves `session` into the conversation `context`; with `keep`, restores what is kept for it.
    pub fn enter(&self, session: &mut Session, context: &str, keep: bool) {
        let is_there = session.context.as_deref() == Some(context);
        session.has_always &= is_there;
        session.context = Some(context.to_owned());
        let was_kept = std::mem::replace(&mut session.kept, keep);
        if !keep || was_kept && is_there {
            return;
        }
        let kept = self.known.get(context).cloned().unwrap_or_default();
        let mut activated = kept.activated;
        if was_kept {
            session.always.clear();
        } else {
            // They were activated before the conversation was known.
            let mut own = std::mem::take(&mut session.activated);
            keep_denying(&mut own, &activated);
            activated.retain(|skill| is_other(skill, &own));
            activated.extend(own);
        }
        session.activated = activated;
    }

    /// Keeps what is active in `session`, of which `before` was active before. What another process
    /// has added to the conversation since then stays.
    ///
    /// # Errors
    /// When the limit of kept conversations is reached and all of them are restricted.
    pub fn keep(&mut self, session: &Session, before: &[ActiveSkill]) -> Result<()> {
        let Some(name) = session.context.as_ref().filter(|_| session.kept) else {
            return Ok(());
        };
        let is_others =
            |skill: &ActiveSkill| is_other(skill, before) && is_other(skill, &session.activated);
        let mut kept = self.known.get(name).cloned().unwrap_or_default();
        kept.changed = session.changed;
        let (others, former): (Vec<_>, Vec<_>) = kept.activated.into_iter().partition(is_others);
        kept.activated = others;
        // Always-on skills follow from the configuration, not from the conversation.
        let own = |skill: &&ActiveSkill| !session.always.contains(&skill.dir);
        let mut own: Vec<ActiveSkill> = session.activated.iter().filter(own).cloned().collect();
        keep_denying(&mut own, &former);
        kept.activated.extend(own);
        if kept.activated.is_empty() {
            self.known.remove(name);
            return Ok(());
        }
        if !self.known.contains_key(name) && self.known.len() >= CONTEXTS {
            self.make_room()?;
        }
        self.known.insert(name.clone(), kept);
        Ok(())
    }

    /// Forgets the unrestricted conversation that has been idle longest.
    fn make_room(&mut self) -> Result<()> {
        let free = self.known.iter().filter(|(_, it)| !it.is_restricted());
        let oldest = free.min_by_key(|(_, context)| context.changed);
        let Some(name) = oldest.map(|(name, _)| name.clone()) else {
            let text = format!("{CONTEXTS} conversations have restricted skills active");
            return Err(Error::new(text).hint(
                "the user can end some with `agent-skills deactivate --context NAME`, or all \
                 with `agent-skills deactivate`",
            ));
        };
        self.known.remove(&name);
        Ok(())
    }

    /// Forgets one conversation, or all, at the user's request.
    pub fn forget(&mut self, context: Option<&str>) -> Vec<EndedActivation> {
        let meant = |name: &String, _: &mut Session| context.is_none_or(|it| it == name);
        let mut ended = Vec::new();
        for (name, kept) in self.known.extract_if(.., meant) {
            let session = Session {
                context: Some(name),
                ..kept
            };
            let ends = session.activated.iter();
            ended.extend(ends.map(|skill| session.end(skill, EndReason::Deactivated)));
        }
        ended
    }
}

fn keep_denying(skills: &mut [ActiveSkill], former: &[ActiveSkill]) {
    for skill in skills {
        if let Some(former) = former.iter().find(|former| former.dir == skill.dir) {
            skill.keep_denying(former);
        }
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

    #[test]
    fn a_list_of_clients_names_no_tool() {
        let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        assert!(!names_a_tool(&own(&["claude-code", "codex"])));
        assert!(names_a_tool(&own(&["claude-code", "Bash(git:*)"])));
    }

    fn skill(name: &str, allowed: Option<&str>, denied: &[&str]) -> ActiveSkill {
        ActiveSkill {
            name: name.to_owned(),
            tool: format!("skill_{name}"),
            dir: format!("/{name}"),
            digest: "sha256:0".to_owned(),
            allowed: allowed.map(|list| vec![list.to_owned()]),
            denied: denied.iter().map(|entry| (*entry).to_owned()).collect(),
            status: ActivationStatus::Active,
            began: 0,
            handed: None,
            arguments: None,
        }
    }

    fn free(name: &str) -> ActiveSkill {
        skill(name, None, &[])
    }

    fn active(session: &Session) -> Vec<&str> {
        session.active().map(|skill| skill.name.as_str()).collect()
    }

    const REPLACE: LoadMode = LoadMode::Replace {
        ends_restricted: false,
    };

    #[test]
    fn added_ones_come_last_and_each_stands_once() {
        let mut session = Session::default();
        session
            .load(vec![free("a"), free("b")], LoadMode::Add, 5)
            .unwrap();
        let again = session.load(vec![free("a")], LoadMode::Add, 5).unwrap();
        assert_eq!(
            (active(&session), again.began.len()),
            (vec!["b", "a"], 0),
            "it was active already"
        );
    }

    #[test]
    fn loading_the_same_twice_is_loading_it_once() {
        for loading in [LoadMode::Add, LoadMode::InPlace, REPLACE] {
            let mut session = Session::default();
            session.load(vec![free("z")], loading, 5).unwrap();
            session
                .load(vec![free("a"), free("b")], loading, 5)
                .unwrap();
            let once = session.clone();
            let twice = session
                .load(vec![free("a"), free("b")], loading, 5)
                .unwrap();
            assert_eq!(session, once);
            assert!(twice.began.is_empty() && twice.ended.is_empty());
        }
    }

    #[test]
    fn a_restricted_skill_is_unloaded_by_permission_only() {
        let mut session = Session::default();
        let strict = skill("a", Some("Read"), &["WebFetch"]);
        session.load(vec![strict], LoadMode::Add, 5).unwrap();
        let before = session.clone();
        assert!(session.unload(|skill| skill.name == "a", false).is_err());
        assert_eq!(session, before);
        assert!(before.clone().load(vec![free("b")], REPLACE, 5).is_err());
        let by_permission = LoadMode::Replace {
            ends_restricted: true,
        };
        let changed = session.load(vec![free("b")], by_permission, 5).unwrap();
        assert_eq!((changed.ended.len(), active(&session)), (1, vec!["b"]));
        let left = &session.activated[0];
        assert_eq!(
            (left.status, &left.allowed, left.denied.len()),
            (ActivationStatus::Unloaded, &None, 1)
        );
    }

    #[test]
    fn a_replacement_leaves_earlier_restrictions_on_record() {
        let mut session = Session::default();
        session
            .load(vec![skill("a", Some("Read"), &[])], LoadMode::InPlace, 5)
            .unwrap();
        session.load(vec![free("b")], LoadMode::InPlace, 5).unwrap();
        assert_eq!(active(&session), ["b"]);
        assert_eq!(session.activated[0].status, ActivationStatus::Replaced);
        assert!(session.activated[0].allowed.is_some());
    }

    #[test]
    fn a_failed_activation_is_undone_and_an_earlier_one_is_not() {
        let strict = skill("a", Some("Read"), &["WebFetch"]);
        let mut session = Session::default();
        session
            .load(vec![skill("b", Some("Write"), &[])], LoadMode::InPlace, 5)
            .unwrap();
        session.load(vec![strict], LoadMode::InPlace, 5).unwrap();
        let failed = session.clone();
        assert_eq!(session.withdraw("/a").len(), 1);
        assert_eq!(active(&session), ["b"]);
        let left = session.activated.last().unwrap();
        assert_eq!((&left.allowed, left.denied.len()), (&None, 1));
        let mut handed = failed.clone();
        handed.activated[1].handed = Some("x".to_owned());
        let mut always = failed;
        always.always.insert("/a".to_owned());
        for mut session in [handed, always] {
            let before = session.clone();
            assert!(session.withdraw("/a").is_empty());
            assert_eq!(session, before);
        }
    }

    #[test]
    fn no_more_than_the_cap_are_active() {
        let mut session = Session::default();
        let names = ["a", "b", "c", "d", "e", "f"];
        let six = names.map(free).to_vec();
        assert!(session.clone().load(six.clone(), LoadMode::Add, 5).is_err());
        session.load(six[..5].to_vec(), LoadMode::Add, 5).unwrap();
        assert!(
            session
                .clone()
                .load(vec![free("f")], LoadMode::Add, 5)
                .is_err()
        );
        session.load(vec![free("f")], REPLACE, 5).unwrap();
        assert_eq!(active(&session), ["f"]);
    }

    #[test]
    fn a_handover_is_known_while_the_skill_is_unchanged() {
        let mut session = Session::default();
        session.load(vec![free("a")], LoadMode::InPlace, 5).unwrap();
        session.activated[0].handed = Some("x".to_owned());
        session.load(vec![free("a")], LoadMode::InPlace, 5).unwrap();
        assert!(session.activated[0].handed.is_some());
        let edited = ActiveSkill {
            digest: "sha256:1".to_owned(),
            ..free("a")
        };
        let changed = session.load(vec![edited], LoadMode::InPlace, 5).unwrap();
        assert_eq!(changed.began, ["/a"]);
        assert!(session.activated[0].handed.is_none());
    }

    #[test]
    fn a_record_that_would_grow_without_end_is_refused() {
        let mut session = Session::default();
        let strict = |n: usize| skill(&n.to_string(), None, &["WebFetch"]);
        for n in 0..SESSION_SKILLS {
            session.load(vec![strict(n)], LoadMode::InPlace, 5).unwrap();
        }
        let more = vec![strict(SESSION_SKILLS)];
        let refused = session.load(more, LoadMode::InPlace, 5).unwrap_err();
        assert!(refused.next_step().unwrap().contains("deactivate"));
    }

    fn kept(name: &str, restricted: bool) -> ActiveSkill {
        ActiveSkill {
            allowed: restricted.then(Vec::new),
            ..skill(name, None, &[])
        }
    }

    fn session(context: &str, skills: &[ActiveSkill], changed: u64) -> Session {
        Session {
            context: Some(context.to_owned()),
            kept: true,
            changed,
            activated: skills.to_vec(),
            ..Session::default()
        }
    }

    #[test]
    fn entering_gives_back_only_what_this_conversation_kept() {
        let mut contexts = Conversations::default();
        let mut first = session("a", &[kept("x", true)], 1);
        contexts.keep(&first, &[]).unwrap();
        contexts.enter(&mut first, "b", true);
        assert!(first.activated.is_empty());
        let mut next = Session::default();
        contexts.enter(&mut next, "a", true);
        assert_eq!(next.activated, [kept("x", true)]);
    }

    #[test]
    fn what_is_kept_is_not_taken_for_what_was_always_on_elsewhere() {
        let mut contexts = Conversations::default();
        contexts
            .keep(&session("a", &[kept("x", true)], 1), &[])
            .unwrap();
        let mut other = session("b", &[kept("x", true)], 1);
        other.always.insert("/x".to_owned());
        contexts.keep(&other, &[]).unwrap();
        assert_eq!(contexts.known.len(), 1);
        contexts.enter(&mut other, "a", true);
        assert!(other.always.is_empty() && other.activated == [kept("x", true)]);
    }

    #[test]
    fn what_another_process_added_stays() {
        let mut contexts = Conversations::default();
        contexts
            .keep(&session("a", &[kept("x", true)], 1), &[])
            .unwrap();
        contexts
            .keep(&session("a", &[kept("y", false)], 1), &[])
            .unwrap();
        let mut next = Session::default();
        contexts.enter(&mut next, "a", true);
        assert_eq!(next.activated, [kept("x", true), kept("y", false)]);
        // A skill in `before` that is no longer active was unloaded.
        contexts
            .keep(&session("a", &[], 2), &next.activated)
            .unwrap();
        assert!(contexts.is_empty());
    }

    #[test]
    fn only_the_quietest_unrestricted_conversation_makes_room() {
        let mut contexts = Conversations::default();
        for n in 0..CONTEXTS as u64 {
            let restricted = n != 7 && n != 3;
            let one = session(&format!("c{n}"), &[kept("x", restricted)], 1000 - n);
            contexts.keep(&one, &[]).unwrap();
        }
        for (name, gone) in [("new", "c7"), ("newer", "c3")] {
            let one = session(name, &[kept("x", true)], 2000);
            contexts.keep(&one, &[]).unwrap();
            let known = &contexts.known;
            assert!(known.contains_key(name) && !known.contains_key(gone));
        }
        let one = session("newest", &[kept("x", false)], 3000);
        let refused = contexts.keep(&one, &[]).unwrap_err();
        assert!(refused.next_step().unwrap().contains("deactivate"));
    }
}
