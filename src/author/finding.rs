//! One finding about a skill, with its place.

use serde::Serialize;

use crate::skill::{Diagnostic, Level, one_line, rules};

/// One finding about a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A stable code from the table of rules.
    pub code: String,
    /// Its severity.
    pub level: Level,
    /// The file, as reached from the given path.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong, on one line.
    pub message: String,
    /// What to do, on one line.
    pub remedy: String,
}

/// All findings about some skills.
#[derive(Debug, Serialize)]
pub struct Findings {
    /// The number of skills examined.
    pub skills: usize,
    /// Sorted by file and line.
    pub findings: Vec<Finding>,
}

impl Finding {
    /// A finding of one of our rules, with the level and remedy from the table.
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

    /// A diagnostic as a finding.
    pub fn of_diagnostic(found: &Diagnostic, file: String, place: (usize, usize)) -> Self {
        Self::new(&found.code(), file, place, &found.to_string())
    }

    /// The same finding with another level, chosen by the room that found it.
    #[must_use]
    pub fn level(self, level: Level) -> Self {
        Self { level, ..self }
    }
}

impl Findings {
    /// The number of findings of a level.
    pub fn count(&self, level: Level) -> usize {
        let of_level = self.findings.iter().filter(|found| found.level == level);
        of_level.count()
    }

    /// Whether a skill failed.
    pub fn has_errors(&self) -> bool {
        self.count(Level::Error) > 0
    }
}
