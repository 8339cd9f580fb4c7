//! Workflow commands of GitHub Actions, which shows them next to changed lines.

use std::fmt::Write;

use crate::author::Findings;
use crate::skill::Level;

/// One command per finding.
pub fn render(findings: &Findings) -> String {
    let mut text = String::new();
    for found in &findings.findings {
        let command = match found.level {
            Level::Note => "notice",
            level => level.as_str(),
        };
        let _ = writeln!(
            text,
            "::{command} file={},line={},col={},title={}::{}%0A{}",
            property(&found.file),
            found.line,
            found.column,
            property(&found.code),
            data(&found.message),
            data(&found.remedy)
        );
    }
    text
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
    use crate::author::Finding;

    #[test]
    fn what_a_file_is_called_cannot_end_a_command() {
        let finding = Finding::new(
            "body-empty",
            "a,b:c%\n::x/SKILL.md".to_owned(),
            (1, 2),
            "m%",
        );
        let findings = Findings {
            skills: 1,
            findings: vec![finding],
        };
        assert_eq!(
            render(&findings),
            "::warning file=a%2Cb%3Ac%25%0A%3A%3Ax/SKILL.md,line=1,col=2,title=body-empty::m%25%0A\
             write what the model is to do\n"
        );
    }
}
