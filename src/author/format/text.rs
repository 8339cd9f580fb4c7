//! Findings for people: one line for each, and one for its remedy.

use std::fmt::Write;

use crate::author::Findings;
use crate::skill::{Level, one_line};
use crate::sys::text::count;

/// The findings and a summary.
pub fn render(findings: &Findings) -> String {
    let mut text = String::new();
    for found in &findings.findings {
        let _ = writeln!(
            text,
            "{}:{}:{}: {}: {} ({})\n  help: {}",
            one_line(&found.file),
            found.line,
            found.column,
            found.level.as_str(),
            one_line(&found.message),
            found.code,
            one_line(&found.remedy)
        );
    }
    let levels = [Level::Error, Level::Warning, Level::Note];
    let counts = levels.map(|level| count(findings.count(level), level.as_str()));
    let _ = writeln!(
        text,
        "{}: {}",
        count(findings.skills, "skill"),
        counts.join(", ")
    );
    text
}
