//! Which conversation a session is in, and which skills it therefore gains and loses.

use std::collections::BTreeSet;
use std::fs::Metadata;

use super::Store;
use super::active::Ended;
use super::contexts::Entering;
use super::file::is_forgeable;
use super::key::SessionKey;
use super::state::{State, Unreadable};
use crate::error::Result;
use crate::sys::{Durable, files, limits};

impl Store {
    /// Records which conversation the session is in. The host tells only one hook, and later calls
    /// need it (docs/spec/hosts.md#hooks). With `keep`, what is kept for that conversation is
    /// restored, and what becomes active is kept for it; otherwise nothing is kept for any
    /// conversation. Returns the activations that ended. If the session's restrictions are unknown,
    /// nothing changes.
    ///
    /// # Errors
    /// When the state cannot be locked in time or written. The session is then decided in that
    /// conversation all the same, and its next change records it.
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
        let known = self.record.read();
        if matches!(&known, Ok(Some(state)) if is_settled(state)) {
            let _ = files::remove(&mark);
            return Ok(Vec::new());
        }
        let context = context.to_owned();
        let entering = Entering { context, keep };
        // Whatever happens from here on, the session is no longer in its former conversation. On a
        // full disk there is still room for the mark that it is in another one.
        let text = serde_json::to_vec(&entering).unwrap_or_default();
        let mut texts = [&text[..], b""].into_iter();
        texts.find(|text| files::replace(&mark, text, 0o600, Durable::No).is_ok());
        if known.is_err() {
            return Ok(Vec::new());
        }
        self.change_entering(key, Some(entering), |_, contexts| {
            Ok(if keep {
                Vec::new()
            } else {
                contexts.forget(None)
            })
        })
    }

    /// The conversation that the session entered without being recorded in it, if so.
    ///
    /// # Errors
    /// [`Unreadable::NotEntered`] if it is not known which.
    pub(super) fn entering(&self, key: &SessionKey) -> Result<Option<Entering>, Unreadable> {
        let mark = key.left_mark(self.record.path());
        let found = files::if_there(files::read_unlinked(&mark, limits::STATE_FILE));
        let parse = |(metadata, text): (Metadata, Vec<u8>)| {
            let entering = serde_json::from_slice(&text).ok();
            entering.filter(|_| !is_forgeable(&metadata))
        };
        match found.map_err(|_| Unreadable::NotEntered)?.map(parse) {
            Some(None) => Err(Unreadable::NotEntered),
            known => Ok(known.flatten()),
        }
    }

    /// Whether the host has certainly named no conversation in this session yet.
    pub fn is_before_first_prompt(&self, key: &SessionKey) -> bool {
        let may_be_later = |state: &State| match state.session(key) {
            Some(session) => session.context.is_some(),
            None => state.may_have_lost(key),
        };
        let state = self.record.read();
        state.is_ok_and(|state| !state.is_some_and(|state| may_be_later(&state)))
            && matches!(self.entering(key), Ok(None))
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
