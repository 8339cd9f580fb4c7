//! What an administrator or a user can configure about scripts: plain data with defaults. It does
//! not know where the values come from.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::environment::PassEnv;
use super::sandbox::Confinement;
use crate::error::Error;
use crate::sys::limits;

/// Seconds a script may take altogether, unless configured.
const SCRIPT_SECONDS: f64 = 120.0;

/// The settings of one skill's scripts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Which of the host's variables they get.
    pub pass_env: PassEnv,
    /// How they are confined (Linux).
    pub confinement: Confinement,
    /// Seconds each may take altogether.
    pub timeout: Limit,
}

/// A configurable number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Limit(Duration);

impl Default for Limit {
    fn default() -> Self {
        Self(Duration::from_secs_f64(SCRIPT_SECONDS))
    }
}

impl TryFrom<f64> for Limit {
    type Error = String;

    /// A limit in seconds, unless they are zero, less, or more than can be configured.
    fn try_from(seconds: f64) -> Result<Self, String> {
        let most = limits::SCRIPT_SECONDS_MOST;
        if seconds > 0.0 && seconds <= most {
            return Ok(Self(Duration::from_secs_f64(seconds)));
        }
        Err(format!(
            "{seconds} is not a number of seconds above 0 and up to {most}"
        ))
    }
}

impl From<Limit> for f64 {
    fn from(limit: Limit) -> Self {
        limit.0.as_secs_f64()
    }
}

impl Limit {
    /// The limit as a duration.
    pub fn duration(self) -> Duration {
        self.0
    }
}

/// The limit for `timeout_secs`, at most `most`, which is also the default.
///
/// # Errors
/// When it is zero, negative, not a number, or more than `most`.
pub fn time_limit(timeout_secs: Option<f64>, most: Duration) -> Result<Duration, Error> {
    let Some(asked) = timeout_secs else {
        return Ok(most);
    };
    let most = most.as_secs_f64();
    if asked.is_nan() || asked <= 0.0 || asked > most {
        let text = format!("`timeout_secs` must be above 0 and at most {most}, not {asked}");
        return Err(Error::new(text).hint("give a number within that, or leave it out"));
    }
    // A limit rounded to zero would end every script before it begins.
    Ok(Duration::from_secs_f64(asked).max(Duration::from_millis(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Mode;

    #[test]
    fn nothing_chosen_is_the_documented_defaults() {
        let settings = Settings::default();
        assert_eq!(settings.timeout.duration(), Duration::from_mins(2));
        assert_eq!(settings.pass_env, PassEnv::NotSecret);
        assert_eq!(settings.confinement.mode, Mode::Off);
    }

    const MOST: Duration = Duration::from_mins(2);

    #[test]
    fn what_is_asked_for_is_granted_up_to_the_most() {
        let granted = |asked| time_limit(asked, MOST).unwrap();
        assert_eq!(granted(None), MOST);
        assert_eq!(granted(Some(2.0)), Duration::from_secs(2));
        assert_eq!(granted(Some(0.5)), Duration::from_millis(500));
        assert_eq!(granted(Some(1e-300)), Duration::from_millis(1));
        assert_eq!(granted(Some(120.0)), MOST);
    }

    #[test]
    fn what_is_not_possible_is_an_error_that_says_what_is() {
        for bad in [121.0, 1e300, f64::INFINITY, 0.0, -0.0, -1.0, f64::NAN] {
            let error = time_limit(Some(bad), MOST).unwrap_err().to_string();
            assert!(error.contains("above 0 and at most 120, not"), "{error}");
        }
    }
}
