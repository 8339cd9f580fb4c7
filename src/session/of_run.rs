//! The session of this call, and where its records are kept.

use super::{Seen, Session, SessionKey, Store, Unreadable};
use crate::facts::Facts;
use crate::sys::EntryName;
use crate::sys::process::ProcessId;

/// The host's context as reported in this call.
struct Context(String);

impl Facts {
    /// The host's context, as reported in this call or at the session's last prompt.
    pub fn context(&self) -> Option<String> {
        self.context_or_why().ok().flatten()
    }

    /// As [`Facts::context`]; `None` only if the host has reported none.
    ///
    /// # Errors
    /// If it is not known what the host has reported.
    pub fn context_or_why(&self) -> Result<Option<String>, Unreadable> {
        match self.known::<Context>() {
            Some(told) => Ok(Some(told.0.clone())),
            None => Ok(self.active()?.context),
        }
    }

    /// Remembers the reported context for the rest of this call.
    pub fn is_in(&self, context: &str) {
        self.once(|| Context(context.to_owned()));
    }

    /// The store of active skills.
    pub fn store(&self) -> Store {
        let store = self.once(|| Store::from_env(&self.run.dirs, &self.run.env));
        Store::clone(&store)
    }

    /// What is active in this session.
    ///
    /// # Errors
    /// See [`Store::session`].
    pub fn active(&self) -> Result<Session, Unreadable> {
        self.store().session(&self.session())
    }

    /// What was seen before, as recorded in this file.
    pub fn seen(&self, file: EntryName) -> Seen {
        Seen::at(self.store().dir(), file)
    }

    /// The host, our parent process: jobs of its calls end with it. `None` for a person's command,
    /// whose jobs may outlive the shell.
    pub fn host(&self) -> Option<ProcessId> {
        self.run.protocol?;
        let process = self.session().process();
        process.or_else(|| Some(ProcessId::parent()))
    }

    /// The session this call belongs to.
    pub fn session(&self) -> SessionKey {
        let session = self.once(|| match &self.run.agent {
            Some(calling) => SessionKey::of_agent(calling.agent, &calling.session),
            None => SessionKey::of_call(&self.run.env),
        });
        SessionKey::clone(&session)
    }
}
