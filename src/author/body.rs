//! Checks the length of the instructions and extracts their shell commands.

use super::finding::Finding;
use super::markdown::Markdown;
use super::source::Source;

/// Lines of a body above which `validate` advises to move details to files (specification).
const BODY_LINES: usize = 500;

/// Maximum number of commands examined per body.
const COMMANDS: usize = 200;

/// Findings on the size of the instructions.
pub fn lint(source: &Source) -> Vec<Finding> {
    let body = source.body_text().trim();
    let mut found = Vec::new();
    let mut say = |code: &str, offset: usize, message: &str| {
        found.push(Finding::new(
            code,
            source.file(),
            source.place(offset),
            message,
        ));
    };
    if body.is_empty() {
        say("body-empty", source.body, "there are no instructions");
        return found;
    }
    let lines = body.lines().count();
    if lines > BODY_LINES {
        let message = format!("the body has {lines} lines, over {BODY_LINES}");
        say("body-lines", source.body, &message);
    }
    found
}

/// The shell commands in the body's code blocks, with their places, without comments and prompts.
pub fn commands(source: &Source) -> Vec<((usize, usize), String)> {
    let shells = ["sh", "bash", "shell", "zsh", "console"];
    let mut commands = Vec::new();
    let markdown = Markdown::of(source.body_text());
    for block in markdown
        .blocks
        .iter()
        .filter(|block| shells.contains(&block.language.as_str()))
    {
        let begun = |text: &str| {
            source.body + (text.as_ptr() as usize - source.body_text().as_ptr() as usize)
        };
        let text = block.text.trim_end();
        // A command that spans lines is kept whole; the shell grammar splits it.
        let whole = text.contains("\\\n")
            || text.contains("<<")
            || text.lines().any(|line| line.starts_with(' '));
        let parts: Vec<&str> = if whole {
            vec![text]
        } else {
            text.lines().collect()
        };
        for part in parts {
            let command = part.trim().trim_start_matches("$ ");
            // A placeholder is not a redirection.
            let placeholder = command
                .split('<')
                .skip(1)
                .any(|rest| rest.starts_with(|c: char| c.is_alphabetic()));
            if commands.len() < COMMANDS
                && !command.is_empty()
                && !command.starts_with(['#', '-'])
                && !placeholder
            {
                commands.push((source.place(begun(part)), command.to_owned()));
            }
        }
    }
    commands
}
