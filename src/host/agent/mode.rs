//! What our hook does in an agent: restrict, grant, both, or ask the person.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// What the hook answers beside silence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == word);
        found.ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str).join(", ");
            let word = word.escape_debug();
            Error::new(format!("`{word}` is not a mode: there are {words}"))
        })
    }
}
