//! Prompts of agents whose one session has many: another prompt ends what the last one had active.

use std::path::Path;

use super::Store;
use super::active::{End, Ended, Session};
use super::key::{self, SessionKey, now};
use super::store::is_over;
use crate::error::Result;

impl Store {
    /// Ends what the session has active if it began at another prompt than `prompt`, or at any if
    /// that is `None`, and sessions that have ended. Asks under the lock, so that several hooks of
    /// one prompt may call it, in any order with its activations.
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written; everything stays active then.
    pub fn enter_prompt(&self, key: &SessionKey, prompt: Option<&str>) -> Result<Vec<Ended>> {
        let realm = key::realm();
        self.change_known(|state| {
            let mut ended = Vec::new();
            state.sessions.retain(|other, session| {
                if other == key.as_str() {
                    if prompt.is_some() && session.prompt.as_deref() == prompt {
                        return true;
                    }
                    ended.extend(session.ended(other, End::NextPrompt));
                    *session = Session {
                        realm: std::mem::take(&mut session.realm),
                        changed: now(),
                        prompt: prompt.map(str::to_owned),
                        ..Session::default()
                    };
                    return true;
                }
                let is_over = is_over(other, session, &realm);
                if is_over {
                    ended.extend(session.ended(other, End::HostGone));
                }
                !is_over
            });
            // A session without anything needs no record.
            let begins = prompt.is_some() && !state.sessions.contains_key(key.as_str());
            if begins && !state.may_have_lost(key) {
                let session = state.sessions.entry(key.as_str().to_owned()).or_default();
                (session.realm, session.changed) = (realm, now());
                session.prompt = prompt.map(str::to_owned);
            }
            Ok(ended)
        })
    }

    /// Records that the session `key` is a subagent's of the session named `main`.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn belongs_to(&self, key: &SessionKey, main: &str) -> Result<()> {
        self.change_session(key, |session, _| {
            session.main = Some(main.to_owned());
            Ok(())
        })
    }

    /// Records another identity of the prompt at which the session's skills became active.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn name_prompt(&self, key: &SessionKey, prompt: &str) -> Result<()> {
        self.change_session(key, |session, _| {
            session.prompt = Some(prompt.to_owned());
            Ok(())
        })
    }

    /// Records that an agent itself has made the skill in `dir` active.
    ///
    /// # Errors
    /// As [`Store::load`]; the skill then grants nothing.
    pub fn confirm(&self, key: &SessionKey, dir: &Path) -> Result<()> {
        self.change_session(key, |session, _| {
            if session.active_in(dir).is_some() {
                session.confirmed.insert(dir.display().to_string());
            }
            Ok(())
        })
    }
}
