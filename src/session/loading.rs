//! How loading and unloading change a session's skills. Pure; the store saves the result.
//!
//! The active skills are an ordered list, most recent last. A skill's own tool loads it as the
//! user's `stacking` says; `skill_session` says itself whether it adds or replaces.

use std::path::Path;

use super::SessionKey;
use super::active::{ActiveSkill, End, Ended, Session, Standing, forget_others};
use crate::error::{Error, Result};
use crate::sys::Moment;

/// Skills activated in one session. Nobody needs more, and each is parsed in every call.
const SESSION_SKILLS: usize = 200;

/// What happens to the skills that are active already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loading {
    /// They stay.
    Add,
    /// They are replaced, but restrict as the user's `stacking` says. Their denials stay.
    InPlace,
    /// They are unloaded.
    Replace {
        /// Whether restricted skills may be unloaded.
        restricted_too: bool,
    },
}

/// The result of loading or unloading.
#[derive(Debug, Default)]
pub struct Changed {
    /// The directories of skills that were not active before, or whose content has changed.
    pub began: Vec<String>,
    /// Activations that ended.
    pub ended: Vec<Ended>,
}

impl Changed {
    /// Whether the skill in `dir` became active.
    pub fn has_begun(&self, dir: &Path) -> bool {
        self.began.iter().any(|began| dir == Path::new(began))
    }
}

/// Attributes ended activations to the session with this key.
pub fn in_session(key: &SessionKey, mut ended: Vec<Ended>) -> Vec<Ended> {
    for end in &mut ended {
        end.session = Some(key.as_str().to_owned());
    }
    ended
}

impl Session {
    /// Makes `skills` active, in this order, after those that stay.
    ///
    /// # Errors
    /// When it would unload a restricted skill that may not be unloaded, or more than `most` would
    /// be active. Discard the session then: it may be changed in part.
    pub fn load(
        &mut self,
        skills: Vec<ActiveSkill>,
        loading: Loading,
        most: usize,
    ) -> Result<Changed> {
        let mut changed = Changed::default();
        match loading {
            Loading::Add => {}
            Loading::InPlace => {
                let others = |skill: &ActiveSkill| is_other(skill, &skills);
                changed.ended = self.leave(others, Standing::Replaced);
            }
            Loading::Replace { restricted_too } => {
                changed.ended = self.unload(|skill| is_other(skill, &skills), restricted_too)?;
            }
        }
        for mut skill in skills {
            let known = self.activated.iter().position(|old| old.dir == skill.dir);
            let before = known.map(|at| self.activated.remove(at));
            if let Some(old) = &before {
                skill.keep_denying(old);
            }
            let before = before.filter(|old| old.standing == Standing::Active);
            if let Some(old) = &before {
                skill.arguments.clone_from(&old.arguments);
            }
            match before {
                Some(old) if old.is_same_as(&skill) => skill.handed = old.handed,
                _ => {
                    self.began.insert(skill.dir.clone(), Moment::now().0);
                    changed.began.push(skill.dir.clone());
                }
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
        restricted_too: bool,
    ) -> Result<Vec<Ended>> {
        let held = |skill: &&ActiveSkill| skill.is_restricted() && meant(skill);
        if let Some(held) = self.active().find(held).filter(|_| !restricted_too) {
            let text = format!(
                "the skill `{}` restricts which tools may be used, so only the user can end it",
                held.name
            );
            return Err(Error::new(text).hint(
                "`agent-skills deactivate` is for the user to run; a load with mode \"add\" keeps it",
            ));
        }
        Ok(self.leave(meant, Standing::Unloaded))
    }

    /// Gives active skills another standing. A replaced one goes on restricting, so it ends only if
    /// it restricts nothing.
    fn leave(&mut self, meant: impl Fn(&ActiveSkill) -> bool, standing: Standing) -> Vec<Ended> {
        let is_unloaded = standing == Standing::Unloaded;
        let why = if is_unloaded {
            End::Unloaded
        } else {
            End::Replaced
        };
        let ends = |skill: &&ActiveSkill| meant(skill) && (is_unloaded || !skill.is_restricted());
        let ended = self.active().filter(ends);
        let ended = ended.map(|skill| self.end(skill, why)).collect();
        for skill in &mut self.activated {
            if skill.standing == Standing::Active && meant(skill) {
                skill.standing = standing;
                skill.allowed.take_if(|_| is_unloaded);
            }
        }
        self.forget_what_holds_nothing();
        ended
    }

    /// Unloads the skill in `dir`, whose activation failed, unless it is always on or its
    /// instructions were handed over before: then only the user may end its restrictions. If no
    /// other skill is active, the one that it replaced becomes active again.
    pub fn withdraw(&mut self, dir: &str) -> Vec<Ended> {
        let failed = |skill: &ActiveSkill| skill.dir == dir && skill.handed.is_none();
        if self.always.contains(dir) || !self.active().any(failed) {
            return Vec::new();
        }
        let ended = self.leave(|skill| skill.dir == dir, Standing::Unloaded);
        let is_none_left = self.active().next().is_none();
        let mut others = self.activated.iter_mut().filter(|skill| skill.dir != dir);
        if is_none_left
            && let Some(last) = others.next_back()
            && last.standing == Standing::Replaced
        {
            last.standing = Standing::Active;
        }
        ended
    }

    /// Drops inactive skills without restrictions.
    fn forget_what_holds_nothing(&mut self) {
        self.activated
            .retain(|skill| skill.standing == Standing::Active || skill.is_restricted());
        forget_others(&mut self.began, &self.activated);
    }
}

/// Whether a skill is none of `skills`.
pub fn is_other(skill: &ActiveSkill, skills: &[ActiveSkill]) -> bool {
    skills.iter().all(|new| new.dir != skill.dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, allowed: Option<&str>, denied: &[&str]) -> ActiveSkill {
        ActiveSkill {
            name: name.to_owned(),
            tool: format!("skill_{name}"),
            dir: format!("/{name}"),
            digest: "sha256:0".to_owned(),
            allowed: allowed.map(|list| vec![list.to_owned()]),
            denied: denied.iter().map(|entry| (*entry).to_owned()).collect(),
            standing: Standing::Active,
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

    const REPLACE: Loading = Loading::Replace {
        restricted_too: false,
    };

    #[test]
    fn added_ones_come_last_and_each_stands_once() {
        let mut session = Session::default();
        session
            .load(vec![free("a"), free("b")], Loading::Add, 5)
            .unwrap();
        let again = session.load(vec![free("a")], Loading::Add, 5).unwrap();
        assert_eq!(
            (active(&session), again.began.len()),
            (vec!["b", "a"], 0),
            "it was active already"
        );
    }

    #[test]
    fn loading_the_same_twice_is_loading_it_once() {
        for loading in [Loading::Add, Loading::InPlace, REPLACE] {
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
        session.load(vec![strict], Loading::Add, 5).unwrap();
        let before = session.clone();
        assert!(session.unload(|skill| skill.name == "a", false).is_err());
        assert_eq!(session, before);
        assert!(before.clone().load(vec![free("b")], REPLACE, 5).is_err());
        let by_permission = Loading::Replace {
            restricted_too: true,
        };
        let changed = session.load(vec![free("b")], by_permission, 5).unwrap();
        assert_eq!((changed.ended.len(), active(&session)), (1, vec!["b"]));
        let left = &session.activated[0];
        assert_eq!(
            (left.standing, &left.allowed, left.denied.len()),
            (Standing::Unloaded, &None, 1)
        );
    }

    #[test]
    fn a_replacement_leaves_earlier_restrictions_on_record() {
        let mut session = Session::default();
        session
            .load(vec![skill("a", Some("Read"), &[])], Loading::InPlace, 5)
            .unwrap();
        session.load(vec![free("b")], Loading::InPlace, 5).unwrap();
        assert_eq!(active(&session), ["b"]);
        assert_eq!(session.activated[0].standing, Standing::Replaced);
        assert!(session.activated[0].allowed.is_some());
    }

    #[test]
    fn a_failed_activation_is_undone_and_an_earlier_one_is_not() {
        let strict = skill("a", Some("Read"), &["WebFetch"]);
        let mut session = Session::default();
        session
            .load(vec![skill("b", Some("Write"), &[])], Loading::InPlace, 5)
            .unwrap();
        session.load(vec![strict], Loading::InPlace, 5).unwrap();
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
        assert!(session.clone().load(six.clone(), Loading::Add, 5).is_err());
        session.load(six[..5].to_vec(), Loading::Add, 5).unwrap();
        assert!(
            session
                .clone()
                .load(vec![free("f")], Loading::Add, 5)
                .is_err()
        );
        session.load(vec![free("f")], REPLACE, 5).unwrap();
        assert_eq!(active(&session), ["f"]);
    }

    #[test]
    fn a_handover_is_known_while_the_skill_is_unchanged() {
        let mut session = Session::default();
        session.load(vec![free("a")], Loading::InPlace, 5).unwrap();
        session.activated[0].handed = Some("x".to_owned());
        session.load(vec![free("a")], Loading::InPlace, 5).unwrap();
        assert!(session.activated[0].handed.is_some());
        let edited = ActiveSkill {
            digest: "sha256:1".to_owned(),
            ..free("a")
        };
        let changed = session.load(vec![edited], Loading::InPlace, 5).unwrap();
        assert_eq!(changed.began, ["/a"]);
        assert!(session.activated[0].handed.is_none());
    }

    #[test]
    fn a_record_that_would_grow_without_end_is_refused() {
        let mut session = Session::default();
        let strict = |n: usize| skill(&n.to_string(), None, &["WebFetch"]);
        for n in 0..SESSION_SKILLS {
            session.load(vec![strict(n)], Loading::InPlace, 5).unwrap();
        }
        let more = vec![strict(SESSION_SKILLS)];
        let refused = session.load(more, Loading::InPlace, 5).unwrap_err();
        assert!(refused.next_step().unwrap().contains("deactivate"));
    }
}
