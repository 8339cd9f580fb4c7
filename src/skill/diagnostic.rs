//! Diagnostics: remarks on a skill that still loads, or the reason why it does not.

use serde::{Deserialize, Serialize};

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Unusual, but without consequence.
    Note,
    /// The skill works, but probably not as its author intended.
    Warning,
    /// The skill is not offered to the model.
    Error,
}

/// The severity of a finding of the scan, lowest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing
    Note,
    /// Many honest skills have it
    Warn,
    /// Few honest skills have it
    High,
    /// No honest skill was seen to have it
    Block,
}

impl Severity {
    /// The severity as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warn => "warn",
            Self::High => "high",
            Self::Block => "block",
        }
    }
}

/// One diagnostic, with a code that is stable across releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable, lowercase, hyphenated.
    pub code: String,
    /// See [`Level`].
    pub level: Level,
    /// One sentence for a person: what is wrong, why, and what to do.
    pub message: String,
}

impl Diagnostic {
    /// See [`Level::Note`].
    pub fn note(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            level: Level::Note,
            message: message.into(),
        }
    }

    /// See [`Level::Warning`].
    pub fn warning(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            level: Level::Warning,
            message: message.into(),
        }
    }

    /// See [`Level::Error`].
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            level: Level::Error,
            message: message.into(),
        }
    }
}
