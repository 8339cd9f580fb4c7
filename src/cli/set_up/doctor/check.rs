//! The result of one check, with its remedy.

use crate::cli::prelude::*;
use serde::Serialize;

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

/// One check, in the format that `--json` documents.
#[derive(Serialize)]
pub struct Check {
    /// The area that it belongs to.
    pub area: &'static str,
    /// Stable, lowercase, hyphenated.
    pub code: &'static str,
    /// Its outcome.
    pub outcome: Outcome,
    /// What was found and why, as a sentence fragment on one line.
    pub message: String,
    /// The next step, if there is one.
    pub remedy: Option<String>,
    /// Performs that step, if no decision is needed.
    #[serde(skip)]
    pub fix: Option<Fix>,
    /// Whether there is such a fix.
    pub fixable: bool,
}

impl Check {
    fn new(code: &'static str, outcome: Outcome, message: &str, remedy: Option<&str>) -> Self {
        Self {
            area: "",
            code,
            outcome,
            message: one_line(message),
            remedy: remedy.map(one_line),
            fix: None,
            fixable: false,
        }
    }

    /// A check that succeeded.
    pub fn ok(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Outcome::Ok, &message.into(), None)
    }

    /// See [`Outcome::Warn`].
    pub fn warn(code: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(code, Outcome::Warn, &message.into(), Some(&remedy.into()))
    }

    /// See [`Outcome::Fail`].
    pub fn fail(code: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(code, Outcome::Fail, &message.into(), Some(&remedy.into()))
    }

    /// A check that failed with a room's error.
    pub fn from_error(code: &'static str, error: &Error, otherwise: &str) -> Self {
        let remedy = error.next_step().unwrap_or(otherwise);
        Self::fail(code, error.to_string(), remedy)
    }

    /// Adds what `--fix` does about it.
    #[must_use]
    pub fn fix(self, fix: impl FnOnce() -> Result<String> + 'static) -> Self {
        Self {
            fix: Some(Box::new(fix)),
            fixable: true,
            ..self
        }
    }
}
