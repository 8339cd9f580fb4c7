//! Prompts of agents whose one session has many: another prompt ends what the last one had active.

use std::path::Path;

use super::Store;
use super::active::{End, Ended, Session};
use super::key::{self, SessionKey, now};
use crate::error::Result;

impl Store {
    /// Ends what the session has active if it began at another prompt than `prompt`, or at any if
    /// that is `None`, and sessions that have ended. Asks under the lock, so that several hooks of
    /// one prompt may call it, in any order with its activations.
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written; everything stays active then.
    pub fn enter_prompt(&self, key: &SessionKey, prompt: Option<&str>) -> Result<Vec<Ended>> {
        self.change_known(|state| {
            let mut ended = Vec::new();
            // A session without anything needs no record.
            let begins = prompt.is_some() && state.session(key).is_ok();
            let known = state.sessions.contains_key(key.as_str());
            if known || begins {
                let session = state.sessions.entry(key.as_str().to_owned()).or_default();
                if !known || prompt.is_none() || session.prompt.as_deref() != prompt {
                    ended = session.ended(key.as_str(), End::NextPrompt);
                    *session = Session {
                        changed: now(),
                        prompt: prompt.map(str::to_owned),
                        ..Session::default()
                    };
                }
            }
            ended.extend(state.forget_ended(&key::realm()));
            Ok(ended)
        })
    }

    /// Records that the session `key` is a subagent's of the session named `main`, where its skills
    /// are: of itself nothing can have been lost.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn belongs_to(&self, key: &SessionKey, main: &str) -> Result<()> {
        self.change_known(|state| {
            let session = state.sessions.entry(key.as_str().to_owned()).or_default();
            (session.changed, session.main) = (now(), Some(main.to_owned()));
            Ok(())
        })
    }

    /// Records another identity of the prompt at which the session's skills became active.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn name_prompt(&self, key: &SessionKey, prompt: &str) -> Result<()> {
        self.change(key, |session| {
            session.prompt = Some(prompt.to_owned());
            Ok(())
        })
    }

    /// Records that an agent itself has made the skill in `dir` active.
    ///
    /// # Errors
    /// As [`Store::load`]; the skill then grants nothing.
    pub fn confirm(&self, key: &SessionKey, dir: &Path) -> Result<()> {
        self.change(key, |session| {
            if session.active_in(dir).is_some() {
                session.confirmed.insert(dir.display().to_string());
            }
            Ok(())
        })
    }
}
