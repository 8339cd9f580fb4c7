//! The time limit of a script: what was asked for, up to the maximum.

use std::time::Duration;

use crate::error::{Error, Result};

/// The limit for `timeout_secs`, at most `most`, which is also the default.
///
/// # Errors
/// When it is zero, negative, not a number, or more than `most`.
pub fn time_limit(timeout_secs: Option<f64>, most: Duration) -> Result<Duration> {
    let Some(asked) = timeout_secs else {
        return Ok(most);
    };
    let hint = format!(
        "give more than 0 and at most {}, or leave it out",
        most.as_secs_f64()
    );
    if asked.is_nan() || asked <= 0.0 {
        let text = format!("`timeout_secs` must be a positive number of seconds, not {asked}");
        return Err(Error::new(text).hint(hint));
    }
    if asked > most.as_secs_f64() {
        let text = format!("`timeout_secs` {asked} is more than a script may take");
        return Err(Error::new(text).hint(hint));
    }
    // A limit that rounds to zero would end every script before it begins.
    Ok(Duration::from_secs_f64(asked).max(Duration::from_millis(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn more_than_possible_is_an_error_that_says_what_is() {
        for huge in [121.0, 1e300, f64::INFINITY] {
            let error = time_limit(Some(huge), MOST).unwrap_err();
            assert!(
                error.to_string().contains("more than a script may take"),
                "{error}"
            );
            assert!(error.next_step().unwrap().contains("at most 120"));
        }
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
