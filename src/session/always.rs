//! Skills that are always on: they come before the skills activated in the conversation, in the
//! order of the configuration, and end when another conversation is entered.

use super::active::{ActiveSkill, End, Session, Standing};
use super::key::SessionKey;
use super::loading::{Changed, in_session};
use super::store::Store;
use crate::error::Result;
use crate::sys::Moment;

impl Store {
    /// Makes `wanted` always on in this session, besides what was so before, and records that this
    /// was done; `None` ends all, or says that it is not known yet which. One that is active already
    /// keeps its position. Returns what began, and what was always on before and no longer is.
    ///
    /// # Errors
    /// When something has to change and the state cannot be read, locked in time or written.
    /// Nothing has changed then.
    pub fn keep_always_on(
        &self,
        key: &SessionKey,
        wanted: Option<&[ActiveSkill]>,
    ) -> Result<Changed> {
        let nothing_to_do = match self.session(key) {
            Ok(now) => arranged(&now, wanted) == now,
            // What an unknown state has active stays active.
            Err(_) => wanted.is_none_or(<[_]>::is_empty),
        };
        if nothing_to_do {
            return Ok(Changed::default());
        }
        self.change(key, |session| {
            let after = arranged(session, wanted);
            let is_left = |skill: &&ActiveSkill| after.find(&skill.dir).is_some();
            let gone = session.activated.iter().filter(|skill| !is_left(skill));
            let ended = gone.map(|skill| session.end(skill, End::ContextLeft));
            let ended = in_session(key, ended.collect());
            let was_active = |skill: &&ActiveSkill| {
                let mut active = session.active();
                active.any(|other| other.is_same_as(skill))
            };
            let new = after.active().filter(|skill| !was_active(skill));
            let began: Vec<String> = new.map(|skill| skill.dir.clone()).collect();
            let now = Moment::now().0;
            *session = after;
            let times = began.iter().map(|dir| (dir.clone(), now));
            session.began.extend(times);
            Ok(Changed { began, ended })
        })
    }
}

/// The session with `wanted` always on: after the skills that are no longer active, before those
/// that were activated. What was always on before stays so in this conversation, whatever has become
/// of its files: a model may have changed them, or what decides about them.
fn arranged(session: &Session, wanted: Option<&[ActiveSkill]>) -> Session {
    let has_always = wanted.is_some();
    let is_always = |skill: &ActiveSkill| session.always.contains(&skill.dir);
    let (besides, mut below): (Vec<_>, Vec<_>) = session
        .activated
        .iter()
        .filter(|skill| !is_always(skill))
        .cloned()
        .partition(|skill| skill.standing == Standing::Active);
    let former = |wanted: &[ActiveSkill]| {
        let is_new = |skill: &&ActiveSkill| wanted.iter().all(|other| other.dir != skill.dir);
        let always = session.activated.iter().filter(|skill| is_always(skill));
        let mut former: Vec<_> = always.filter(is_new).cloned().collect();
        for skill in &mut former {
            skill.standing = Standing::Active;
        }
        [&former, wanted].concat()
    };
    let mut wanted = wanted.map_or_else(Vec::new, former);
    wanted.retain(|skill| besides.iter().all(|other| other.dir != skill.dir));
    below.retain(|skill| wanted.iter().all(|other| other.dir != skill.dir));
    for skill in &mut wanted {
        if let Some(former) = session.find(&skill.dir) {
            skill.keep_denying(former);
        }
        let known = session.active().find(|known| known.is_same_as(skill));
        skill.handed = known.and_then(|known| known.handed.clone());
        let known = session.active_in(&skill.dir);
        skill.arguments = known.and_then(|known| known.arguments.clone());
    }
    let always = wanted.iter().map(|skill| skill.dir.clone()).collect();
    let activated = below.into_iter().chain(wanted).chain(besides).collect();
    Session {
        activated,
        always,
        has_always,
        ..session.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Loading;

    fn skill(name: &str, allowed: &str) -> ActiveSkill {
        ActiveSkill {
            name: name.to_owned(),
            tool: format!("skill_{name}"),
            dir: format!("/{name}"),
            digest: "sha256:0".to_owned(),
            allowed: Some(vec![allowed.to_owned()]),
            denied: Vec::new(),
            standing: Standing::Active,
            handed: None,
            arguments: None,
        }
    }

    #[test]
    fn always_on_skills_lie_below_the_activated_in_their_order() {
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
        let load = |name: &str| {
            let one = vec![skill(name, "Read")];
            store.load(&key, one, Loading::InPlace, 9).unwrap();
        };
        load("own");
        let wanted = [skill("b", "Read"), skill("own", "Read"), skill("a", "Read")];
        let kept = store.keep_always_on(&key, Some(&wanted)).unwrap();
        assert_eq!(
            (names(), kept.began),
            (own(&["b", "a", "own"]), own(&["/b", "/a"]))
        );
        let again = store.keep_always_on(&key, Some(&wanted)).unwrap();
        assert!(again.began.is_empty() && again.ended.is_empty());
        let kept = store
            .keep_always_on(&key, Some(&[skill("a", "Grep"), skill("c", "Read")]))
            .unwrap();
        // What a prompt leaves out stays in force.
        assert_eq!(
            (names(), kept.began),
            (own(&["b", "a", "c", "own"]), own(&["/a", "/c"]))
        );
        assert!(kept.ended.is_empty());
        // Replaced skills come first, because the last one decides.
        load("c");
        let last = [skill("c", "Read")];
        store.keep_always_on(&key, Some(&last)).unwrap();
        assert_eq!(names(), own(&["own", "b", "a", "c"]));
        assert!(store.session(&key).unwrap().has_always);
        store.keep_always_on(&key, None).unwrap();
        assert!(!store.session(&key).unwrap().has_always);
        assert_eq!(names(), own(&["own"]));
    }

    fn own(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }
}
