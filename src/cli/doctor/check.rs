//! One thing that was looked at, how it is, and its remedy.

use serde::Serialize;

use crate::error::{Error, Result};

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As it should be.
    Ok,
    /// It works, though probably not as it was meant.
    Warn,
    /// Broken.
    Fail,
}

/// Repairs something; answers what was done.
pub type Fix = Box<dyn FnOnce() -> Result<String>>;

/// One thing that was looked at.
pub struct Check {
    /// Stable, lowercase, hyphenated.
    pub code: &'static str,
    /// How it is.
    pub outcome: Outcome,
    /// The thing and the reason, a fragment.
    pub message: String,
    /// The next step, where there is one.
    pub remedy: Option<String>,
    /// Does that step, where no decision is in it.
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

    /// As it should be.
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

    /// What an error of one of the rooms says.
    pub fn of_error(code: &'static str, error: &Error, otherwise: &str) -> Self {
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

    /// What `--fix` does about it.
    #[must_use]
    pub fn fix(self, fix: impl FnOnce() -> Result<String> + 'static) -> Self {
        Self {
            fix: Some(Box::new(fix)),
            ..self
        }
    }
}
