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
    /// The settings for scripts.
    ///
    /// # Errors
    /// If the configuration or a policy contains a mistake, because what it forbids is then
    /// unknown.
    pub fn script_settings(&self) -> Result<Settings> {
        Ok(self.config()?.script().with_env(&self.env))
    }

    /// How long a call of this host waits for a script before it becomes a job. Extends the call's
    /// deadline accordingly.
    pub fn script_wait(&self, settings: &Settings) -> Option<Duration> {
        let wait = match self.protocol? {
            Protocol::Environment => settings.call_seconds.environment,
            Protocol::Stdin => settings.call_seconds.stdin,
        };
        let wait = wait.map(Limit::duration)?;
        last_word::allow(wait + BESIDES_SCRIPT);
        Some(wait)
    }
}
