//! The commands that a skill's texts tell a model to run: in code blocks and code spans of its
//! `SKILL.md` and of the other Markdown files in its directory. It does not decide about them.

use std::path::{Path, PathBuf};

use super::markdown::{Block, Markdown, SHELLS, parts};
use super::source::{OWN_DIRECTORY, Source, offset_in, other_texts};

/// Commands of one skill that are collected; more say nothing new.
const COMMANDS: usize = 1000;
/// The longest placeholder, such as `<name of the file>`.
const PLACEHOLDER: usize = 60;
/// What stands for a placeholder: a word of any command, and of no entry.
const FILLED: &str = "…";
/// Words before a place in which a negation counts.
const BEFORE: usize = 6;

/// A command in a skill's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documented {
    /// As the author wrote it.
    pub written: String,
    /// The same with the skill's directory, [`FILLED`] for each placeholder, and without what is
    /// optional.
    pub command: String,
    /// The file, relative to the skill.
    pub file: String,
}

/// The commands in the skill's texts, each place once. `is_program` knows the programs whose names
/// make a span a command.
pub fn documented(source: &Source, is_program: &dyn Fn(&str) -> bool) -> Vec<Documented> {
    let dir = &source.skill.dir;
    let mut found = Vec::new();
    let body = source.body_text().to_owned();
    let own = std::iter::once((PathBuf::from("SKILL.md"), body));
    for (path, text) in own.chain(other_texts(dir)) {
        let shown = path.display().to_string();
        collect(&text, &shown, (dir, is_program), &mut found);
    }
    found.truncate(COMMANDS);
    found
}

fn collect(
    text: &str,
    file: &str,
    (dir, is_program): (&Path, &dyn Fn(&str) -> bool),
    found: &mut Vec<Documented>,
) {
    let begins = |text: &str| {
        let mut words = text.split_whitespace();
        words.next().is_some_and(is_program) && words.next().is_some_and(|word| word != "=")
    };
    let markdown = Markdown::parse(text);
    let blocks = markdown.blocks.iter();
    let in_blocks = blocks.flat_map(|block: &Block| {
        let is_shell = SHELLS.contains(&block.language.as_str());
        let is_unnamed = block.language.is_empty();
        let mut all = parts(block.text.trim_end());
        all.retain(|part| is_shell || is_unnamed && begins(part.trim_start_matches("$ ")));
        all
    });
    let spans = markdown.spans.iter().copied().filter(|span| {
        let before = &text[..offset_in(text, span)].trim_end_matches('`');
        // Some clients run a span behind `!` when they load the skill.
        before.ends_with('!') || begins(span) && !is_negated(before)
    });
    for part in in_blocks.chain(spans) {
        let written = part.trim().trim_start_matches("$ ");
        let is_command = !written.is_empty() && !written.starts_with(['#', '-']);
        if is_command && found.len() < COMMANDS {
            found.push(Documented {
                written: written.to_owned(),
                command: filled(&required(written), &dir.display().to_string()),
                file: file.to_owned(),
            });
        }
    }
}

/// The command without `[--what is optional]`.
fn required(written: &str) -> String {
    let mut text = String::new();
    let mut rest = written;
    while let Some(at) = rest.find(" [") {
        let (before, behind) = rest.split_at(at);
        text += before;
        let inside = &behind[2..];
        let is_option = inside.starts_with(|c: char| c.is_alphabetic() || "-<…".contains(c));
        let end = inside.find(']').filter(|end| *end <= PLACEHOLDER);
        if let Some(end) = end.filter(|_| is_option) {
            rest = &inside[end + 1..];
        } else {
            text += " [";
            rest = inside;
        }
    }
    text + rest
}

/// The command with the skill's directory and [`FILLED`] for each `<placeholder>`.
fn filled(written: &str, dir: &str) -> String {
    let mut text = written.to_owned();
    for own in OWN_DIRECTORY {
        text = text.replace(own, dir);
    }
    let mut filled = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('<') {
        let (before, behind) = rest.split_at(at);
        filled += before;
        let end = behind.find('>').filter(|end| *end <= PLACEHOLDER);
        let inside = end.map(|end| &behind[1..end]);
        let is_placeholder = inside.is_some_and(|inside| {
            let ends = |c: char| c.is_alphabetic();
            let is_part = |c: char| c.is_alphanumeric() || "_-. /|:".contains(c);
            inside.starts_with(ends) && !inside.ends_with(' ') && inside.chars().all(is_part)
        });
        match end {
            Some(end) if is_placeholder && !filled.ends_with('<') => {
                filled += FILLED;
                rest = &behind[end + 1..];
            }
            _ => {
                filled.push('<');
                rest = &behind[1..];
            }
        }
    }
    filled + rest
}

/// Whether a sentence ends in a negation of its next word.
pub fn is_negated(before: &str) -> bool {
    let sentence = before.rsplit(['.', '\n', ';']).next();
    let sentence = sentence.unwrap_or_default().to_lowercase();
    let words = sentence.rsplit(|c: char| !c.is_alphanumeric() && c != '\'');
    let mut last = words.filter(|word| !word.is_empty()).take(BEFORE);
    last.any(|word| ["not", "never", "no", "don't", "avoid", "without", "instead"].contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let is_program = |word: &str| ["git", "npx"].contains(&word);
        collect(text, "SKILL.md", (Path::new("/s"), &is_program), &mut found);
        found.into_iter().map(|one| one.command).collect()
    }

    #[test]
    fn blocks_and_spans_give_commands() {
        let text = "Run `git log` or `npx` or !`date`; never `git push x`, and `foo bar`.\n\
                    ```bash\nmake\n# no\ncurl -o <file> x\n```\n\
                    ```console\n$ ls a\nb c\n```\n\
                    ```\nsrc/\ngit diff x\n```\n```python\nimport x\n```\n";
        assert_eq!(
            commands(text),
            [
                "make",
                "curl -o … x",
                "ls a",
                "git diff x",
                "git log",
                "date"
            ]
        );
    }

    #[test]
    fn placeholders_are_filled_and_redirections_kept() {
        for (written, expected) in [
            ("npx a <your file> --b=<x|y>", "npx a … --b=…"),
            ("npx a [--b c] [d] [ -f x ]", "npx a [ -f x ]"),
            ("cat <<EOF > out", "cat <<EOF > out"),
            ("sort <in >out", "sort <in >out"),
            (
                "python ${CLAUDE_SKILL_DIR}/x.py {baseDir}/y",
                "python /s/x.py /s/y",
            ),
            ("a < b", "a < b"),
        ] {
            assert_eq!(filled(&required(written), "/s"), expected);
        }
    }
}
