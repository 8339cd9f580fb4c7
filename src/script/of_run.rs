//! The jobs of a run and their owner.

use super::{Jobs, Owner};
use crate::run_context::RunContext;

impl RunContext {
    /// Scripts that continue after the call that started them.
    pub fn jobs(&self) -> Jobs {
        Jobs::at(self.dirs.state(&self.env).join("jobs"))
    }

    /// The owner of this call's jobs: the conversation, which the host's next process continues, or
    /// else this host process.
    pub fn owner(&self) -> Owner {
        let session = self.session();
        match self.store().context(&session) {
            Some(context) => Owner::conversation(&context),
            None => Owner::session(session.as_str()),
        }
    }
}
