//! The settings with which this run's scripts run.

use std::time::Duration;

use crate::error::Result;
use crate::host::Protocol;
use crate::run_context::RunContext;
use crate::script::{Limit, Settings};
use crate::sys::last_word;

/// The part of a call that is not spent waiting for a script, as by default.
const BESIDES_SCRIPT: Duration = Duration::from_secs(2);

impl RunContext {
    /// The settings for the scripts of a skill.
    ///
    /// # Errors
    /// If the configuration or a policy contains a mistake, because what it forbids is then
    /// unknown.
    pub fn script_settings(&self, skill: &str) -> Result<Settings> {
        Ok(self.config()?.script(skill))
    }

    /// How long a call of this host waits for a script before it becomes a job. Extends the call's
    /// deadline accordingly.
    ///
    /// # Errors
    /// As [`RunContext::script_settings`].
    pub fn script_wait(&self) -> Result<Option<Duration>> {
        let seconds = self.config()?.call_seconds.with_env(&self.env);
        let wait = match self.protocol {
            Some(Protocol::Environment) => seconds.environment,
            Some(Protocol::Stdin) => seconds.stdin,
            None => None,
        };
        let wait = wait.map(Limit::duration);
        if let Some(wait) = wait {
            last_word::allow(wait + BESIDES_SCRIPT);
        }
        Ok(wait)
    }
}
