//! How long a script may run: what was asked for, within what this call can wait.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::sys::limits;

/// A script's time limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeLimit {
    /// The limit in force.
    pub limit: Duration,
    /// What to tell the caller when less was granted than asked for.
    pub note: Option<String>,
}

/// The limit for `timeout_secs`, at most `most`, which is also the default
/// ([`limits::SCRIPT_SECONDS`], or [`limits::HOST_CALL_SECONDS`] where the host sets a limit of
/// its own).
///
/// # Errors
/// When it is zero, negative or not a number.
pub fn time_limit(timeout_secs: Option<f64>, most: Duration) -> Result<TimeLimit> {
    let most = most.min(Duration::from_secs(limits::SCRIPT_SECONDS));
    let Some(asked) = timeout_secs else {
        return Ok(TimeLimit {
            limit: most,
            note: None,
        });
    };
    if asked.is_nan() || asked <= 0.0 {
        let text = format!("`timeout_secs` must be a positive number of seconds, not {asked}");
        return Err(Error::new(text).hint(format!("give 1 to {}, or leave it out", most.as_secs())));
    }
    if asked > most.as_secs_f64() {
        let most_secs = most.as_secs_f64();
        let note =
            format!("timeout_secs {asked} was lowered to {most_secs}, the most possible here");
        return Ok(TimeLimit {
            limit: most,
            note: Some(note),
        });
    }
    // A limit so small that it rounds to nothing would end every script before it begins.
    let limit = Duration::from_secs_f64(asked).max(Duration::from_millis(1));
    Ok(TimeLimit { limit, note: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(25);

    #[test]
    fn what_is_asked_for_is_granted_up_to_the_most() {
        let granted = |asked| time_limit(asked, MOST).unwrap();
        assert_eq!(
            granted(None),
            TimeLimit {
                limit: MOST,
                note: None
            }
        );
        assert_eq!(granted(Some(2.0)).limit, Duration::from_secs(2));
        assert_eq!(granted(Some(0.5)).limit, Duration::from_millis(500));
        assert_eq!(
            granted(Some(25.0)),
            TimeLimit {
                limit: MOST,
                note: None
            }
        );
        for huge in [26.0, 1e300, f64::INFINITY] {
            let limit = granted(Some(huge));
            assert_eq!(limit.limit, MOST);
            assert!(
                limit
                    .note
                    .unwrap()
                    .ends_with("lowered to 25, the most possible here")
            );
        }
    }

    #[test]
    fn no_host_is_granted_more_than_the_cap_of_all_scripts() {
        let limit = time_limit(Some(5000.0), Duration::from_secs(9999)).unwrap();
        assert_eq!(limit.limit, Duration::from_secs(limits::SCRIPT_SECONDS));
    }

    #[test]
    fn zero_negative_and_no_number_are_errors() {
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            let error = time_limit(Some(bad), MOST).unwrap_err();
            assert!(
                error.to_string().contains("positive number of seconds"),
                "{error}"
            );
        }
    }
}
