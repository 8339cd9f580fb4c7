//! Whether an activation is over, and how a failed one is undone: what the hooks of skills need to
//! know about the state.

use super::active::{Ended, OF_CONTEXT};
use super::key::SessionKey;
use super::loading::Changed;
use super::store::Store;
use crate::error::Result;

impl Store {
    /// Undoes the activation of a skill, see [`super::Session::withdraw`]. Returns its end, if it
    /// ended.
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

    /// Whether the skill in `dir` is certainly no longer active for this owner, see
    /// [`super::Session::owner`].
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
            // In the discarded state it may have been active.
            None => state.reset.is_none() || SessionKey::has_ended(owner),
        }
    }
}
