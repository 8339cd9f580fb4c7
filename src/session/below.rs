//! Whether this process is below a host, so that the model may be the caller. The session of a
//! process is that host's; a named one records its hosts.

use super::Store;
use super::active::Session;
use super::key::{self, SessionKey, has_expired};
use super::state::{State, Unreadable};
use crate::error::Result;
use crate::sys::process::ProcessId;

/// Ancestors of a call that are recorded; the host is among the nearest.
const RECORDED: usize = 32;

/// The processes above this call, if the session is named.
fn above(key: &SessionKey) -> Option<Vec<ProcessId>> {
    let is_named = key.process().is_none();
    is_named.then(|| ProcessId::ancestors().take(RECORDED).collect())
}

impl Session {
    /// Records what this call of the session comes from.
    pub(super) fn note_host(&mut self, key: &SessionKey) {
        if let Some(above) = above(key) {
            let hosts = self.hosts.get_or_insert_default();
            hosts.note(&key::realm(), &above);
        }
    }

    /// Whether [`Session::note_host`] would add nothing.
    pub(super) fn knows_host(&self, key: &SessionKey) -> bool {
        let above = || ProcessId::ancestors().take(RECORDED);
        let hosts = self.hosts.as_ref();
        key.process().is_some() || hosts.is_some_and(|hosts| hosts.knows(&key::realm(), above()))
    }

    /// Forgets everything but which processes are hosts of a named session; returns whether any is
    /// or may be. Only the end of a host ends that: a process below it can begin its session too.
    pub(super) fn keeps_hosts(&mut self, text: &str) -> bool {
        *self = Self {
            realm: std::mem::take(&mut self.realm),
            changed: self.changed,
            hosts: self.hosts.take(),
            ..Self::default()
        };
        SessionKey::name(text).is_some()
            && match &mut self.hosts {
                Some(hosts) => hosts.forget_ended(&key::realm()),
                None => !has_expired(self.changed),
            }
    }

    /// Whether one of these processes is, or may be, a host of this named session.
    fn is_above(&self, above: &[ProcessId]) -> bool {
        match &self.hosts {
            Some(hosts) => hosts
                .of_here(&key::realm())
                .any(|host| above.contains(&host)),
            None => !has_expired(self.changed),
        }
    }
}

impl Store {
    /// Records the host of a named session that exists.
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written.
    pub fn note_host(&self, key: &SessionKey) -> Result<()> {
        if key.process().is_some() {
            return Ok(());
        }
        let state = self.record.read()?.unwrap_or_default();
        if state.session(key).is_none_or(|it| it.knows_host(key)) {
            return Ok(());
        }
        self.change_session(key, |_, _| Ok(()))
    }

    /// Whether a host in a conversation is an ancestor of this process, so that the model may be
    /// the caller. With `beyond_parent` the direct parent does not count.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn is_below_a_host(&self, beyond_parent: bool) -> Result<bool, Unreadable> {
        let state = self.record.read()?.unwrap_or_default();
        let above = ProcessId::ancestors().skip(beyond_parent.into());
        Ok(self.has_host_among(&state, &above.collect::<Vec<_>>()))
    }

    /// Whether one of these processes is a host in a conversation according to `state`, or by its
    /// own mark.
    pub(super) fn has_host_among(&self, state: &State, above: &[ProcessId]) -> bool {
        let in_use = |process: &ProcessId| {
            let key = SessionKey::of_process(*process);
            let is_known = state
                .session(&key)
                .is_some_and(|session| session.context.is_some() || !session.activated.is_empty());
            is_known || key.left_mark(self.record.path()).exists()
        };
        let mut sessions = state.sessions.iter();
        above.iter().any(in_use)
            || sessions
                .any(|(key, session)| SessionKey::name(key).is_some() && session.is_above(above))
    }

    /// The named session whose host an earlier version did not record, if there is one.
    pub fn without_host(&self) -> Option<String> {
        let state = self.record.read().ok()??;
        let is_unknown = |session: &Session| session.hosts.is_none() && session.is_above(&[]);
        let mut sessions = state.sessions.iter();
        sessions.find_map(|(key, session)| {
            let name = SessionKey::name(key)?;
            is_unknown(session).then(|| name.to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::hosts::Hosts;
    use super::super::key::now;
    use super::super::store::is_over;
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn only_the_end_of_its_host_ends_a_named_session() {
        let mut host = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let above = [ProcessId::from_pid(host.id())];
        let mut hosts = Hosts::default();
        hosts.note(&key::realm(), &above);
        let mut session = Session {
            hosts: Some(hosts),
            ..Session::default()
        };
        assert!(!session.clone().keeps_hosts("1-1"));
        assert!(session.keeps_hosts("named:a") && session.is_above(&above));
        host.kill().unwrap();
        host.wait().unwrap();
        assert!(!session.keeps_hosts("named:a"));
    }

    #[test]
    fn a_session_is_not_too_old_while_its_host_runs() {
        let host = ProcessId::from_pid(std::process::id());
        let mut hosts = Hosts::default();
        hosts.note(&key::realm(), &[host]);
        let mut session = Session {
            changed: 1,
            hosts: Some(hosts),
            ..Session::default()
        };
        assert!(!is_over("named:a", &session, &key::realm()));
        assert!(is_over("named:a", &session, "elsewhere"));
        session.hosts = None;
        assert!(is_over("named:a", &session, &key::realm()));
    }

    #[test]
    fn without_a_record_everything_may_be_below_the_host() {
        let mut session = Session {
            changed: now(),
            ..Session::default()
        };
        assert!(session.is_above(&[]) && session.keeps_hosts("named:a"));
        assert!(session.is_above(&[]));
        session.changed = 1;
        assert!(!session.is_above(&[]) && !session.keeps_hosts("named:a"));
    }
}
