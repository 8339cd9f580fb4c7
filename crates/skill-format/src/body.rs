//! Diagnostics on a body: its length, and commands that other clients would run.

use crate::Diagnostic;
use crate::limits;
use crate::text::tokens;

/// The diagnostics of a body.
pub fn diagnostics(body: &str) -> impl Iterator<Item = Diagnostic> {
    let tokens = tokens(body);
    let long = (tokens > limits::MANY_TOKENS).then_some(Diagnostic::ManyTokens(tokens));
    let commands = (!commands_run(body).is_empty()).then_some(Diagnostic::CommandsNotRun);
    long.into_iter().chain(commands)
}

/// The commands in a body that Claude Code runs when the skill becomes active, by the two patterns in
/// its release 2.1.330: `` (?<=^|\s)!`([^`]+)` `` and `` ```!\s*\n?([\s\S]*?)\n?``` ``. Here they are
/// plain text: half of those in real skills only describe the syntax.
pub fn commands_run(body: &str) -> Vec<&str> {
    const BLOCK: &str = "```!";
    const INLINE: &str = "!`";
    let blocks = body.match_indices(BLOCK).filter_map(|(at, _)| {
        let text = &body[at + BLOCK.len()..];
        Some(text[..text.find("```")?].trim())
    });
    let inline = body.match_indices(INLINE).filter_map(|(at, _)| {
        let before = body[..at].chars().next_back();
        // A blank in JavaScript, too.
        let is_free = before.is_none_or(|c| c.is_whitespace() || c == '\u{feff}');
        let text = &body[at + INLINE.len()..];
        let end = text.find('`').filter(|end| *end > 0 && is_free)?;
        Some(&text[..end])
    });
    blocks.chain(inline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_that_claude_code_runs() {
        for (body, commands) in [
            ("!`git status`", &["git status"][..]),
            ("a !`x`\n!`y\nz`", &["x", "y\nz"]),
            ("a!`x`, (!`y`), !``", &[]),
            ("```!\nmake\nls\n```", &["make\nls"]),
            ("in line ```! id ``` !`w`", &["id", "w"]),
            ("```! open", &[]),
            ("a\u{feff}!`x`", &["x"]),
        ] {
            assert_eq!(commands_run(body), commands, "{body:?}");
        }
    }

    #[test]
    fn many_tokens_and_commands_are_remarked() {
        let codes =
            |body: &str| -> Vec<String> { diagnostics(body).map(|found| found.code()).collect() };
        assert!(codes(&"x".repeat(4 * limits::MANY_TOKENS)).is_empty());
        assert_eq!(
            codes(&"x".repeat(4 * limits::MANY_TOKENS + 1)),
            ["many-tokens"]
        );
        assert_eq!(codes("!`git status`"), ["commands-not-run"]);
    }

    #[test]
    fn a_long_line_of_marks_is_read_once() {
        for marks in ["!", "```!", "!`", " !`"] {
            let body = marks.repeat(500_000);
            assert!(commands_run(&body).len() <= 500_000, "{marks}");
        }
    }

    #[test]
    fn commands_are_told_from_exclamations() {
        for (body, count) in [
            ("- Status: !`git status`\n!`ls` and !`id`", 3),
            ("```!\ngit log\n```", 1),
            ("~~~!\ngit log\n~~~\n(!`id`) and [!`ls`]", 0),
            ("Hello!`x` and `!x` !`` !`open", 0),
            ("plain", 0),
        ] {
            assert_eq!(commands_run(body).len(), count, "{body}");
        }
    }
}
