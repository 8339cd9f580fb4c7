//! What a decision rests on: the rule of a skill or policy that granted or refused each part of a
//! call.

use std::fmt;

/// A rule and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedRule {
    /// The skill or policy.
    pub source: String,
    /// The entry as written.
    pub rule: String,
}

/// Why part of a call is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// This rule grants it.
    Rule(CitedRule),
    /// It needs no rule, for this reason.
    NeedsNoRule(&'static str),
}

/// A part of a call, and what granted or refused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// [`CALL`] for the whole call; of a shell command `command`, `subcommand`, `redirection` or
    /// `syntax`.
    pub kind: &'static str,
    /// The tool's name, or the part as written.
    pub text: String,
    /// What grants it, or why it is refused.
    pub outcome: Result<Grant, String>,
}

/// The kind of a part that is the whole call.
pub const CALL: &str = "call";

impl Part {
    /// A part of this kind.
    pub fn new(kind: &'static str, text: &str, outcome: Result<Grant, String>) -> Self {
        Self {
            kind,
            text: text.to_owned(),
            outcome,
        }
    }
}

impl CitedRule {
    /// The reason given when this rule denies something.
    pub fn denies(&self) -> String {
        format!("`{}` denies it with `{}`", self.source, self.rule)
    }
}

impl Grant {
    /// The skill or policy whose rule it is; `None` if it needs no rule.
    pub fn source(&self) -> Option<&str> {
        match self {
            Self::Rule(cited) => Some(&cited.source),
            Self::NeedsNoRule(_) => None,
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Rule(cited) => &cited.rule,
            Self::NeedsNoRule(reason) => reason,
        })
    }
}
