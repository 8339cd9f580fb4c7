//! What stays active for a conversation beyond its host processes (`scope = "context"`): the same
//! snapshots as in a session, by conversation name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::active::{ActiveSkill, End, Ended, Session, Standing, forget_others};
use crate::error::{Error, Result};

/// Conversations whose active skills are kept; each is about 1 KB that every call reads.
const CONTEXTS: usize = 100;

/// Every conversation for which something is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contexts {
    /// By the conversation's name: when it was last changed, [`Session::activated`] and
    /// [`Session::began`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    known: BTreeMap<String, Session>,
}

impl Contexts {
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The conversations for which something is kept.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.known.keys()
    }

    /// Whether the skill in `dir` is no longer active in this conversation.
    pub fn is_over(&self, context: &str, dir: &str) -> bool {
        let is_it = |kept: &ActiveSkill| kept.dir == dir && kept.standing == Standing::Active;
        let kept = self.known.get(context);
        !kept.is_some_and(|kept| kept.activated.iter().any(is_it))
    }

    /// Whether any conversation is restricted. A session whose conversation is unknown is then
    /// treated as if it were in that one.
    pub fn restrict(&self) -> bool {
        let mut kept = self.known.values().flat_map(|context| &context.activated);
        kept.any(ActiveSkill::is_restricted)
    }

    /// Moves `session` into the conversation `context`; with `keep`, restores what is kept for it.
    pub fn enter(&self, session: &mut Session, context: &str, keep: bool) {
        let is_there = session.context.as_deref() == Some(context);
        session.has_always &= is_there;
        if !keep {
            session.context = Some(context.to_owned());
            session.kept = false;
            return;
        }
        if session.kept && is_there {
            return;
        }
        let kept = self.known.get(context).cloned().unwrap_or_default();
        let (mut activated, mut began) = (kept.activated, kept.began);
        if session.kept {
            session.always.clear();
        } else {
            // They were activated before the conversation was known.
            let mut own = std::mem::take(&mut session.activated);
            keep_denying(&mut own, &activated);
            activated.retain(|skill| own.iter().all(|newer| newer.dir != skill.dir));
            activated.extend(own);
            began.append(&mut session.began);
        }
        session.activated = activated;
        session.began = began;
        session.context = Some(context.to_owned());
        session.kept = true;
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
        let mine = |skill: &ActiveSkill| {
            let mut known = before.iter().chain(&session.activated);
            known.any(|other| other.dir == skill.dir)
        };
        let mut kept = self.known.get(name).cloned().unwrap_or_default();
        kept.changed = session.changed;
        let (others, former): (Vec<_>, Vec<_>) =
            kept.activated.into_iter().partition(|skill| !mine(skill));
        kept.activated = others;
        // Always-on skills follow from the configuration, not from the conversation.
        let own = |skill: &&ActiveSkill| !session.always.contains(&skill.dir);
        let mut own: Vec<ActiveSkill> = session.activated.iter().filter(own).cloned().collect();
        keep_denying(&mut own, &former);
        kept.activated.extend(own);
        kept.began.extend(session.began.clone());
        forget_others(&mut kept.began, &kept.activated);
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
        let free = self.known.iter().filter(|(_, context)| {
            let mut skills = context.activated.iter();
            !skills.any(ActiveSkill::is_restricted)
        });
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
    pub fn forget(&mut self, context: Option<&str>) -> Vec<Ended> {
        let meant = |name: &String, _: &mut Session| context.is_none_or(|it| it == name);
        let mut ended = Vec::new();
        for (name, kept) in self.known.extract_if(.., meant) {
            let session = Session {
                context: Some(name),
                ..kept
            };
            let ends = session.activated.iter();
            ended.extend(ends.map(|skill| session.end(skill, End::Deactivated)));
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

    fn skill(name: &str, restricted: bool) -> ActiveSkill {
        ActiveSkill {
            name: name.to_owned(),
            tool: format!("skill_{name}"),
            dir: format!("/{name}"),
            digest: "sha256:0".to_owned(),
            allowed: restricted.then(Vec::new),
            denied: Vec::new(),
            standing: Standing::Active,
            handed: None,
            arguments: None,
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
        let mut contexts = Contexts::default();
        let mut first = session("a", &[skill("x", true)], 1);
        contexts.keep(&first, &[]).unwrap();
        contexts.enter(&mut first, "b", true);
        assert!(first.activated.is_empty());
        let mut next = Session::default();
        contexts.enter(&mut next, "a", true);
        assert_eq!(next.activated, [skill("x", true)]);
    }

    #[test]
    fn what_is_kept_is_not_taken_for_what_was_always_on_elsewhere() {
        let mut contexts = Contexts::default();
        contexts
            .keep(&session("a", &[skill("x", true)], 1), &[])
            .unwrap();
        let mut other = session("b", &[skill("x", true)], 1);
        other.always.insert("/x".to_owned());
        contexts.keep(&other, &[]).unwrap();
        assert_eq!(contexts.known.len(), 1);
        contexts.enter(&mut other, "a", true);
        assert!(other.always.is_empty() && other.activated == [skill("x", true)]);
    }

    #[test]
    fn what_another_process_added_stays() {
        let mut contexts = Contexts::default();
        contexts
            .keep(&session("a", &[skill("x", true)], 1), &[])
            .unwrap();
        contexts
            .keep(&session("a", &[skill("y", false)], 1), &[])
            .unwrap();
        let mut next = Session::default();
        contexts.enter(&mut next, "a", true);
        assert_eq!(next.activated, [skill("x", true), skill("y", false)]);
        // A skill in `before` that is no longer active was unloaded.
        contexts
            .keep(&session("a", &[], 2), &next.activated)
            .unwrap();
        assert!(contexts.is_empty());
    }

    #[test]
    fn only_the_quietest_unrestricted_conversation_makes_room() {
        let mut contexts = Contexts::default();
        for n in 0..CONTEXTS as u64 {
            let restricted = n != 7 && n != 3;
            let one = session(&format!("c{n}"), &[skill("x", restricted)], 1000 - n);
            contexts.keep(&one, &[]).unwrap();
        }
        for (name, gone) in [("new", "c7"), ("newer", "c3")] {
            let one = session(name, &[skill("x", true)], 2000);
            contexts.keep(&one, &[]).unwrap();
            let known = &contexts.known;
            assert!(known.contains_key(name) && !known.contains_key(gone));
        }
        let one = session("newest", &[skill("x", false)], 3000);
        let refused = contexts.keep(&one, &[]).unwrap_err();
        assert!(refused.next_step().unwrap().contains("deactivate"));
    }
}
