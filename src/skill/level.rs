//! How bad a diagnostic or a finding is.

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

impl Level {
    /// The level as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
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
