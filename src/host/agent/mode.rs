//! What our hook does in an agent: restrict, grant, both, or ask the person.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, named};

/// What the hook answers beside silence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It denies what the active skills do not grant.
    #[default]
    Restrict,
    /// It allows, without a question, what they provably grant, and denies nothing else than what a
    /// policy or `disallowed-tools` denies.
    Grant,
    /// It does both.
    Both,
    /// It has the agent ask its user about what they do not grant.
    Ask,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Restrict, Self::Grant, Self::Both, Self::Ask];

    /// Its word on the command line and in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restrict => "restrict",
            Self::Grant => "grant",
            Self::Both => "both",
            Self::Ask => "ask",
        }
    }

    /// Whether what the active skills grant is allowed without a question.
    pub fn grants(self) -> bool {
        matches!(self, Self::Grant | Self::Both)
    }

    /// Whether what they do not grant is stopped.
    pub fn restricts(self) -> bool {
        self != Self::Grant
    }

    /// The same where a policy demands that skills be restricted.
    #[must_use]
    pub fn at_least_restricting(self) -> Self {
        match self {
            Self::Grant | Self::Both => Self::Both,
            Self::Restrict | Self::Ask => Self::Restrict,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        named(word, "a mode", &Self::ALL, Self::as_str)
    }
}
