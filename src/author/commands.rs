//! Extracts the shell commands from a skill's instructions.

use super::markdown::Markdown;
use super::source::{Source, offset_in};

/// Maximum number of commands examined per body.
const COMMANDS: usize = 200;
/// The languages of code blocks with commands.
const SHELLS: [&str; 5] = ["sh", "bash", "shell", "zsh", "console"];

/// The shell commands in the body's code blocks, with their places, without comments and prompts.
pub fn commands(source: &Source) -> Vec<((usize, usize), String)> {
    let mut commands = Vec::new();
    let mut blocks = Markdown::parse(source.body_text()).blocks;
    blocks.retain(|block| SHELLS.contains(&block.language.as_str()));
    for block in blocks {
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
            let mut operands = command.split('<').skip(1);
            let placeholder = operands.any(|rest| rest.starts_with(char::is_alphabetic));
            let is_command = !command.is_empty() && !command.starts_with(['#', '-']);
            if is_command && !placeholder && commands.len() < COMMANDS {
                let place = source.place(offset_in(&source.text, part));
                commands.push((place, command.to_owned()));
            }
        }
    }
    commands
}
