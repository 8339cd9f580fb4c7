//! The findings about skills, as text for people and in formats for other programs.

use super::prelude::*;
use crate::error::opening;
use crate::skill::rules;
use crate::sys::text::count;

/// One finding about a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LintFinding {
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

impl LintFinding {
    /// A finding of one of our rules, with the level and remedy from the table.
    pub fn new(code: &str, file: String, (line, column): (usize, usize), message: &str) -> Self {
        let unreadable = Some(Path::new(&file)).filter(|_| code == "unreadable");
        let remedy = unreadable.and_then(opening);
        Self {
            code: code.to_owned(),
            level: rules::level(code),
            file,
            line,
            column,
            message: one_line(message),
            remedy: remedy.unwrap_or_else(|| rules::remedy(code)),
        }
    }

    /// A finding about the text of a `SKILL.md`.
    pub fn of_format(found: skill_format::Finding, file: String) -> Self {
        let message = found.message + rules::in_this_program(&found.code);
        let mut new = Self::new(&found.code, file, found.place, &message).level(found.level);
        new.remedy = found.remedy + rules::fix(&found.code);
        new
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

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// Lines for people
    Text,
    /// The findings as JSON
    Json,
    /// Workflow commands of GitHub Actions
    Github,
}

/// Renders the findings about so many skills, sorted by file and line.
pub fn render(skills: usize, findings: &[LintFinding], format: ReportFormat) -> String {
    match format {
        ReportFormat::Text => text(skills, findings),
        ReportFormat::Github => findings.iter().map(github).collect(),
        // As all our JSON (docs/json.md).
        ReportFormat::Json => {
            let value = json!({"schema": 1, "skills": skills, "findings": findings});
            format!("{value:#}\n")
        }
    }
}

/// For people: one line for each finding, one for its remedy, and a summary.
fn text(skills: usize, findings: &[LintFinding]) -> String {
    let line = |found: &LintFinding| {
        let [file, message, remedy] =
            [&found.file, &found.message, &found.remedy].map(|it| one_line(it));
        let (line, column, level) = (found.line, found.column, found.level.as_str());
        let code = &found.code;
        format!("{file}:{line}:{column}: {level}: {message} ({code})\n  help: {remedy}\n")
    };
    let lines: String = findings.iter().map(line).collect();
    let counts = [Level::Error, Level::Warning, Level::Note].map(|level| {
        let of_level = findings.iter().filter(|found| found.level == level);
        count(of_level.count(), level.as_str())
    });
    let skills = count(skills, "skill");
    format!("{lines}{skills}: {}\n", counts.join(", "))
}

/// A workflow command of GitHub Actions, which shows it next to changed lines.
fn github(found: &LintFinding) -> String {
    let command = match found.level {
        Level::Note => "notice",
        level => level.as_str(),
    };
    let [file, title] = [&found.file, &found.code].map(|it| property(it));
    let [message, remedy] = [&found.message, &found.remedy].map(|it| data(it));
    let (line, column) = (found.line, found.column);
    format!(
        "::{command} file={file},line={line},col={column},title={title}::{message}%0A{remedy}\n"
    )
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_is_called_cannot_end_a_command() {
        let finding = LintFinding::new(
            "body-empty",
            "a,b:c%\n::x/SKILL.md".to_owned(),
            (1, 2),
            "m%",
        );
        assert_eq!(
            github(&finding),
            "::warning file=a%2Cb%3Ac%25%0A%3A%3Ax/SKILL.md,line=1,col=2,title=body-empty::m%25%0A\
             write what the model is to do\n"
        );
    }
}
