//! Which conversation a session is in, and which skills it therefore gains and loses.

use std::collections::BTreeSet;

use super::Store;
use super::active::Ended;
use super::key::SessionKey;
use super::state::State;
use crate::error::Result;
use crate::sys::{Durable, files};

impl Store {
    /// Records which conversation the session is in. The host tells only one hook, and later calls
    /// need it (docs/spec/hosts.md#hooks). With `keep`, what is kept for that conversation is
    /// restored, and what becomes active is kept for it; otherwise nothing is kept for any
    /// conversation. Returns the activations that ended. If the session's restrictions are unknown,
    /// nothing changes.
    ///
    /// # Errors
    /// When the state cannot be locked in time or written. If any conversation is restricted, the
    /// session's calls are then refused.
    pub fn enter(&self, key: &SessionKey, context: &str, keep: bool) -> Result<Vec<Ended>> {
        let is_settled = |state: &State| match state.session(key) {
            Some(session) => {
                session.context.as_deref() == Some(context)
                    && session.kept == keep
                    && session.knows_host(key)
                    && (keep || state.contexts.is_empty())
            }
            None => !state.sessions.contains_key(key.as_str()) && state.may_have_lost(key),
        };
        let mark = key.left_mark(self.record.path());
        // The record still names the old conversation, whose restrictions do not apply here. If the
        // mark cannot be written either, nothing more can be done.
        let leave = || {
            if keep {
                let _ = files::replace(&mark, b"", 0o600, Durable::No);
            }
        };
        match self.record.read() {
            Ok(state) if !state.as_deref().is_some_and(is_settled) => {}
            Ok(_) => {
                let _ = files::remove(&mark);
                return Ok(Vec::new());
            }
            Err(_) => {
                leave();
                return Ok(Vec::new());
            }
        }
        let entered = self.change_wherever(key, |session, contexts| {
            session.has_always &= session.context.as_deref() == Some(context);
            if keep {
                let there = session.kept && session.context.as_deref() == Some(context);
                if !there {
                    contexts.enter(session, context);
                }
                return Ok(Vec::new());
            }
            session.context = Some(context.to_owned());
            session.kept = false;
            Ok(contexts.forget(None))
        });
        if entered.is_ok() {
            let _ = files::remove(&mark);
        } else {
            leave();
        }
        entered
    }

    /// The conversations that sessions are in or for which something is kept; `None` if that was
    /// lost, because it may have been any.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn contexts(&self) -> Result<Option<BTreeSet<String>>> {
        let state = self.record.read()?.unwrap_or_default();
        let sessions = state.sessions.values();
        let mut names: BTreeSet<String> = sessions
            .filter_map(|session| session.context.clone())
            .collect();
        let Some(kept) = state.contexts.names() else {
            return Ok(None);
        };
        names.extend(kept);
        Ok(Some(names))
    }

    /// The conversation the session is in, if known.
    pub fn context(&self, key: &SessionKey) -> Option<String> {
        self.session(key).ok()?.context
    }
}
