//! What was found, and how much it matters.

use serde::Serialize;

use crate::skill::one_line;

/// How many characters of a line are shown.
const SHOWN: usize = 120;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Many honest skills have it; look at it.
    Warn,
    /// Few honest skills have it.
    High,
    /// No honest skill was seen to have it.
    Block,
}

/// One place that should be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// See [`Severity`].
    pub severity: Severity,
    /// Stable, lowercase, hyphenated.
    pub code: &'static str,
    /// The file, relative to the skill.
    pub file: String,
    /// The line, from 1; 0 when the whole file is meant.
    pub line: usize,
    /// What it is and why it matters.
    pub message: &'static str,
    /// The line's text, on one line and without what does not show.
    pub excerpt: String,
}

impl Severity {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warn => "warn",
            Self::High => "high",
            Self::Block => "block",
        }
    }
}

impl Finding {
    /// A finding in `line` of `file`.
    pub fn new(
        (severity, code, message): (Severity, &'static str, &'static str),
        file: &str,
        line: usize,
        text: &str,
    ) -> Self {
        Self {
            severity,
            code,
            file: file.to_owned(),
            line,
            message,
            excerpt: one_line(text).chars().take(SHOWN).collect(),
        }
    }

    /// Its line of a report.
    pub fn summary(&self) -> String {
        let place = match self.line {
            0 => one_line(&self.file),
            line => format!("{}:{line}", one_line(&self.file)),
        };
        let excerpt = if self.excerpt.is_empty() {
            String::new()
        } else {
            format!(": {}", self.excerpt)
        };
        format!(
            "{:5} {place} {} ({}){excerpt}",
            self.severity.as_str(),
            self.message,
            self.code
        )
    }
}
