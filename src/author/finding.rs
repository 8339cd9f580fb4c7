//! One remark on a skill, at a place.

use serde::Serialize;

use super::rules;
use crate::skill::{Level, one_line};

/// One remark on a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable; see the table of rules.
    pub code: String,
    /// How much it matters.
    pub level: Level,
    /// The file, as it was reached from the path that was given.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What it is, on one line.
    pub message: String,
    /// What to do, on one line.
    pub remedy: String,
}

/// Everything that was found in some skills.
#[derive(Debug, Serialize)]
pub struct Findings {
    /// How many skills were looked at.
    pub skills: usize,
    /// By file and line.
    pub findings: Vec<Finding>,
}

impl Finding {
    /// A finding of a rule of ours, with the level and remedy that the table has for it.
    pub fn new(code: &str, file: String, (line, column): (usize, usize), message: &str) -> Self {
        Self {
            code: code.to_owned(),
            level: rules::level(code),
            file,
            line,
            column,
            message: one_line(message),
            remedy: rules::remedy(code).to_owned(),
        }
    }

    /// The same with another level: who found it knows better.
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        Self { level, ..self }
    }
}

impl Findings {
    /// How many there are of a level.
    pub fn count(&self, level: Level) -> usize {
        let of_level = self.findings.iter().filter(|found| found.level == level);
        of_level.count()
    }

    /// Whether a skill failed.
    pub fn has_errors(&self) -> bool {
        self.count(Level::Error) > 0
    }
}
