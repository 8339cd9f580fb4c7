//! The session of a run, and where its records are.

use super::{Refusals, SessionKey, Store};
use crate::run_context::RunContext;
use crate::sys::process::ProcessId;

/// The host's context, as this call reported it.
struct Context(String);

impl RunContext {
    /// The host's context, as reported by this call or the session's last prompt.
    pub fn context(&self) -> Option<String> {
        let told = self.known::<Context>().map(|told| told.0.clone());
        told.or_else(|| self.store().context(&self.session()))
    }

    /// Remembers the context reported by the host, for this call.
    pub fn is_in(&self, context: &str) {
        self.once(|| Context(context.to_owned()));
    }

    /// The record of active skills.
    pub fn store(&self) -> Store {
        let store = self.once(|| Store::of(&self.dirs, &self.env));
        Store::clone(&store)
    }

    /// The record of refused calls.
    pub fn refusals(&self) -> Refusals {
        Refusals::at(self.store().dir())
    }

    /// The calling host, our parent; what it started ends with it. `None` for a person's command,
    /// which may outlive its shell with `nohup`.
    pub fn host(&self) -> Option<ProcessId> {
        self.protocol?;
        let process = self.session().process();
        process.or_else(|| Some(ProcessId::parent()))
    }

    /// The session this call belongs to.
    pub fn session(&self) -> SessionKey {
        let session = self.once(|| SessionKey::of_call(&self.env));
        SessionKey::clone(&session)
    }
}
