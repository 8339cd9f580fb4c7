//! The result of one check, with its remedy.

use serde::Serialize;

use crate::error::{Error, Result};

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Correct.
    Ok,
    /// It works, but probably not as intended.
    Warn,
    /// Broken.
    Fail,
}

/// Repairs something; returns what was done.
pub type Fix = Box<dyn FnOnce() -> Result<String>>;

/// One check.
pub struct Check {
    /// Stable, lowercase, hyphenated.
    pub code: &'static str,
    /// Its outcome.
    pub outcome: Outcome,
    /// What was found and why, as a sentence fragment.
    pub message: String,
    /// The next step, if there is one.
    pub remedy: Option<String>,
    /// Performs that step, if no decision is needed.
    pub fix: Option<Fix>,
}

impl Check {
    fn new(code: &'static str, outcome: Outcome, message: String) -> Self {
        Self {
            code,
            outcome,
            message,
            remedy: None,
            fix: None,
        }
    }

    /// A check that succeeded.
    pub fn ok(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Outcome::Ok, message.into())
    }

    /// See [`Outcome::Warn`].
    pub fn warn(code: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(code, Outcome::Warn, message.into()).remedy(remedy.into())
    }

    /// See [`Outcome::Fail`].
    pub fn fail(code: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(code, Outcome::Fail, message.into()).remedy(remedy.into())
    }

    /// A check that failed with a room's error.
    pub fn from_error(code: &'static str, error: &Error, otherwise: &str) -> Self {
        Self::fail(
            code,
            error.to_string(),
            error.next_step().unwrap_or(otherwise),
        )
    }

    fn remedy(self, remedy: String) -> Self {
        Self {
            remedy: Some(remedy),
            ..self
        }
    }

    /// Adds what `--fix` does about it.
    #[must_use]
    pub fn fix(self, fix: impl FnOnce() -> Result<String> + 'static) -> Self {
        Self {
            fix: Some(Box::new(fix)),
            ..self
        }
    }
}
