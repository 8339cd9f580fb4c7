//! Whether an activation is over, and ending one that failed: what running a skill's hooks needs of
//! the state.

use super::active::{Ended, OF_CONTEXT};
use super::key::SessionKey;
use super::loading::Changed;
use super::store::Store;
use crate::error::Result;

impl Store {
    /// Undoes the activation of a skill that failed; see [`super::Session::withdraw`]. Returns its
    /// end, if it ended.
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

    /// Whether the skill in `dir` is certainly no longer active for this owner; see
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
            // The discarded state may have said that it is active.
            None => state.reset.is_none() || SessionKey::has_ended(owner),
        }
    }
}
