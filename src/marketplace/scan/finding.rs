//! What was found, and how severe it is.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::skill::{Severity, one_line, shown_name};
use crate::sys::text::shorten;

const SHOWN: usize = 120;

/// What a place has: a severity, a stable, lowercase, hyphenated code, and what that means.
pub type FindingKind = (Severity, &'static str, &'static str);

/// One place to review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScanFinding {
    /// See [`Severity`].
    pub severity: Severity,
    /// Stable, lowercase, hyphenated.
    pub code: &'static str,
    /// The file, relative to the skill.
    pub file: String,
    /// The line, from 1; 0 for the whole file.
    pub line: usize,
    /// What it is and why it matters.
    pub message: &'static str,
    /// The line's text, on one line and without invisible characters.
    pub excerpt: String,
    /// What was judged: the digest of its whole text, since an excerpt can be of several. `None` for
    /// the file itself.
    #[serde(skip)]
    pub judged: Option<String>,
}

impl ScanFinding {
    /// A finding in `line` of `file`; it judges the file itself, unless it [covers](Self::covers) a
    /// text.
    pub fn new(
        (severity, code, message): FindingKind,
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
            excerpt: shorten(&one_line(text), SHOWN),
            judged: None,
        }
    }

    /// Makes it stand for this text, too.
    pub fn covers(&mut self, text: &str) {
        let before = self.judged.take().unwrap_or_default();
        self.judged = Some(format!("{:x}", Sha256::digest(before + text)));
    }

    /// The finding as one line of a report.
    pub fn summary(&self) -> String {
        format!("{:5} {}", self.severity.as_str(), self.remark())
    }

    /// The same without its severity.
    pub fn remark(&self) -> String {
        let place = match self.line {
            0 => shown_name(&self.file),
            line => format!("{}:{line}", shown_name(&self.file)),
        };
        let (message, code, excerpt) = (self.message, self.code, &self.excerpt);
        let colon = if excerpt.is_empty() { "" } else { ": " };
        format!("{place} {message} ({code}){colon}{excerpt}")
    }
}
