//! Skills that are always on: they lie below whatever is activated in the conversation, in the
//! order of the configuration, and end when another conversation is entered.

use super::key::SessionKey;
use super::state::{ActiveSkill, Ended, Session};
use super::store::Store;
use crate::error::Result;
use crate::sys::Moment;

/// What changed when the skills that are always on were put in force.
#[derive(Debug, Default)]
pub struct Kept {
    /// The names of those that were not in force before, or not in this form.
    pub new: Vec<String>,
    /// What was always on before and is no longer.
    pub ended: Vec<Ended>,
}

impl Store {
    /// Makes `wanted` the skills that are always on in this session. One that was activated
    /// besides stays where it is: it is in force already.
    ///
    /// # Errors
    /// When there is something to change and the state cannot be read, locked in time or written:
    /// then nothing changed.
    pub fn keep_always_on(&self, key: &SessionKey, wanted: &[ActiveSkill]) -> Result<Kept> {
        let nothing_to_do = match self.session(key) {
            Ok(now) => arranged(&now, wanted) == now,
            // What is not known stays in force.
            Err(_) => wanted.is_empty(),
        };
        if nothing_to_do {
            return Ok(Kept::default());
        }
        let mut kept = Kept::default();
        self.change_session(key, |session| {
            let after = arranged(session, wanted);
            let is_left = |end: &Ended| {
                let mut left = after.activated.iter();
                left.any(|skill| skill.name == end.skill)
            };
            kept.ended = session.ended(key.as_str(), false);
            kept.ended.retain(|end| !is_left(end));
            let new = |skill: &&ActiveSkill| !session.activated.contains(skill);
            let names = after.activated.iter().filter(new);
            kept.new = names.map(|skill| skill.name.clone()).collect();
            *session = after;
            for name in &kept.new {
                session.began.insert(name.clone(), Moment::now().0);
            }
            Ok(())
        })?;
        Ok(kept)
    }
}

/// The session with exactly `wanted` always on.
fn arranged(session: &Session, wanted: &[ActiveSkill]) -> Session {
    let mut besides = session.activated.clone();
    besides.retain(|skill| !session.always.contains(&skill.name));
    let is_besides = |skill: &&ActiveSkill| besides.iter().any(|other| other.name == skill.name);
    let mut activated: Vec<_> = wanted.to_vec();
    activated.retain(|skill| !is_besides(&skill));
    let always = activated.iter().map(|skill| skill.name.clone()).collect();
    activated.extend(besides);
    Session {
        activated,
        always,
        ..session.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, allowed: &str) -> ActiveSkill {
        ActiveSkill {
            name: name.to_owned(),
            tool: format!("skill_{name}"),
            dir: "/x".to_owned(),
            digest: "sha256:0".to_owned(),
            allowed: Some(vec![allowed.to_owned()]),
            denied: Vec::new(),
        }
    }

    #[test]
    fn what_is_always_on_lies_below_in_its_order_and_what_was_activated_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (store, key) = (
            Store::at(dir.path()),
            SessionKey::of_call(&crate::sys::Env::default()),
        );
        let names = || {
            let session = store.session(&key).unwrap();
            let name = |skill: &ActiveSkill| skill.name.clone();
            session.activated.iter().map(name).collect::<Vec<_>>()
        };
        store.activate(&key, skill("own", "Read")).unwrap();
        let wanted = [skill("b", "Read"), skill("own", "Read"), skill("a", "Read")];
        let kept = store.keep_always_on(&key, &wanted).unwrap();
        assert_eq!(
            (names(), kept.new),
            (own(&["b", "a", "own"]), own(&["b", "a"]))
        );
        let again = store.keep_always_on(&key, &wanted).unwrap();
        assert!(again.new.is_empty() && again.ended.is_empty());
        let kept = store
            .keep_always_on(&key, &[skill("a", "Grep"), skill("c", "Read")])
            .unwrap();
        assert_eq!(
            (names(), kept.new),
            (own(&["a", "c", "own"]), own(&["a", "c"]))
        );
        assert_eq!((kept.ended.len(), kept.ended[0].skill.as_str()), (1, "b"));
        store.activate(&key, skill("a", "Read")).unwrap();
        store.keep_always_on(&key, &[]).unwrap();
        assert_eq!(names(), own(&["own", "a"]), "the model called it besides");
    }

    fn own(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }
}
