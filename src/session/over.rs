//! Whether an activation is over, and ending one that failed: what running a skill's hooks asks of
//! the state.

use super::key::SessionKey;
use super::loading::Changed;
use super::state::{Ended, OF_CONTEXT};
use super::store::Store;
use crate::error::Result;

impl Store {
    /// Takes a skill out of force again whose activation failed; see [`super::Session::withdraw`]. Answers
    /// its end, if it did.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn withdraw(&self, key: &SessionKey, dir: &str) -> Result<Vec<Ended>> {
        let mut ended = Vec::new();
        self.change_session(key, |session, _| {
            ended = session.withdraw(dir);
            Ok(())
        })?;
        Ok(Changed {
            ended,
            ..Changed::default()
        }
        .of(key)
        .ended)
    }

    /// Whether the skill in `dir` is certainly not active any more for this owner; see [`super::Session::owner`].
    pub fn is_over(&self, owner: &str, dir: &str) -> bool {
        let Ok(state) = self.record.read() else {
            return false;
        };
        let state = state.unwrap_or_default();
        if let Some(context) = owner.strip_prefix(OF_CONTEXT) {
            return state.contexts.is_over(context, dir);
        }
        match state.sessions.get(owner) {
            Some(session) => session.active().all(|active| active.dir != dir),
            // What was thrown away may have said that it is active.
            None => state.reset.is_none() || SessionKey::has_ended(owner),
        }
    }
}
