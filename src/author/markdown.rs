//! Extracts links, code spans and code blocks from Markdown, and the shell commands in a skill's
//! instructions. Precise enough to find references; it renders nothing.

use super::source::{Source, offset_in};

/// The part of a line that is parsed, in bytes; finding the ends of code and links takes quadratic
/// time.
const LINE: usize = 8_000;
/// Maximum number of commands examined per body.
const COMMANDS: usize = 200;
/// The languages of code blocks with commands.
pub(super) const SHELLS: [&str; 5] = ["sh", "bash", "shell", "zsh", "console"];

/// The parts of a text.
#[derive(Debug, Default)]
pub struct Markdown<'a> {
    /// Targets of links and images, as written.
    pub links: Vec<&'a str>,
    /// Code spans.
    pub spans: Vec<&'a str>,
    /// Fenced code blocks.
    pub blocks: Vec<Block<'a>>,
}

/// A fenced code block.
#[derive(Debug)]
pub struct Block<'a> {
    /// The first word after the fence, in lowercase.
    pub language: String,
    /// Its text.
    pub text: &'a str,
}

impl<'a> Markdown<'a> {
    /// Parses a text.
    pub fn parse(text: &'a str) -> Self {
        let mut found = Self::default();
        let mut fence: Option<(&str, usize, String)> = None;
        let mut comment = false;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let trimmed = line.trim_start_matches([' ', '\t', '>']).trim_end();
            let marks = fence_marks(trimmed);
            let behind = &trimmed[marks.len()..];
            if let Some((open, begun, language)) = &mut fence {
                if marks.starts_with(&**open) && behind.is_empty() {
                    let (text, language) = (&text[*begun..start], std::mem::take(language));
                    found.blocks.push(Block { language, text });
                    fence = None;
                }
            } else if comment {
                comment = !line.contains("-->");
            } else if !marks.is_empty() && !behind.contains('`') {
                let word = behind.split_whitespace().next();
                fence = Some((marks, at, word.unwrap_or_default().to_lowercase()));
            } else {
                let (line, rest) = line.split_at(line.find("<!--").unwrap_or(line.len()));
                comment = !rest.is_empty() && !rest.contains("-->");
                found.inline(line);
            }
        }
        found
    }

    fn inline(&mut self, line: &'a str) {
        let line = &line[..line.floor_char_boundary(LINE)];
        if let Some(target) = definition(line) {
            self.links.push(target);
            return;
        }
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if let Some(escaped) = rest.strip_prefix('\\') {
                let mut after = escaped.chars();
                after.next();
                rest = after.as_str();
            } else if first == '`' {
                let inner = rest.trim_start_matches('`');
                let ticks = rest.len() - inner.len();
                rest = inner;
                if let Some(end) = closing_ticks(inner, ticks) {
                    self.spans.push(&inner[..end]);
                    rest = &inner[end + ticks..];
                }
            } else if let Some(inner) = rest.strip_prefix("](") {
                let (target, after) = inner.split_at(closing_parenthesis(inner));
                let target = target.trim_start();
                let target = match target.strip_prefix('<') {
                    Some(bracketed) => bracketed.split('>').next(),
                    None => target.split(char::is_whitespace).next(),
                };
                self.links.extend(target);
                rest = after;
            } else {
                rest = &rest[first.len_utf8()..];
            }
        }
    }
}

/// The backticks or tildes that open or close a block; empty if the line has no fence.
fn fence_marks(line: &str) -> &str {
    let marks = |mark| &line[..line.len() - line.trim_start_matches(mark).len()];
    let mut marks = ['`', '~'].map(marks).into_iter();
    marks.find(|marks| marks.len() >= 3).unwrap_or_default()
}

/// The offset of the next run of exactly as many backticks.
fn closing_ticks(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let begin = at + found;
        let run = text[begin..].len() - text[begin..].trim_start_matches('`').len();
        if run == ticks {
            return Some(begin);
        }
        at = begin + run;
    }
    None
}

fn closing_parenthesis(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return at,
            ')' => depth -= 1,
            _ => {}
        }
    }
    text.trim_end().len()
}

/// The target of `[name]: target`.
fn definition(line: &str) -> Option<&str> {
    let (name, target) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    let is_name = !name.is_empty() && !name.contains(']') && !name.starts_with('^');
    target.split_whitespace().next().filter(|_| is_name)
}

/// The shell commands in the body's code blocks, with their places, without comments and prompts.
pub fn commands(source: &Source) -> Vec<((usize, usize), String)> {
    let mut commands = Vec::new();
    let mut blocks = Markdown::parse(source.body_text()).blocks;
    blocks.retain(|block| SHELLS.contains(&block.language.as_str()));
    for block in blocks {
        for part in parts(block.text.trim_end()) {
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

/// The commands of a block with their prompts and comments. One that spans lines is kept whole; the
/// shell grammar splits it. Of a session only what was typed counts.
pub(super) fn parts(block: &str) -> Vec<&str> {
    let typed = block.lines().filter(|line| line.starts_with("$ "));
    let typed: Vec<&str> = typed.collect();
    if !typed.is_empty() {
        return typed;
    }
    let is_whole = block.contains("\\\n")
        || block.contains("<<")
        || block.lines().any(|line| line.starts_with(' '));
    if is_whole {
        vec![block]
    } else {
        block.lines().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_spans_and_blocks_are_told_apart() {
        let text = "See [a](x/a.md \"t\") and ![b](<b c.png>), `[c](no.md)` ``d ` e``.\n\
                    <!-- [f](f.md) -->\n[g]: g.md\n```sh title\n[h](h.md)\n```\n\\[i](i(1).md)\n\
                    - ~~~\n  j\n  ~~~\n";
        let found = Markdown::parse(text);
        assert_eq!(found.links, ["x/a.md", "b c.png", "g.md", "i(1).md"]);
        assert_eq!(found.spans, ["[c](no.md)", "d ` e"]);
        assert_eq!(
            (found.blocks[0].language.as_str(), found.blocks[0].text),
            ("sh", "[h](h.md)\n")
        );
        assert!(text[offset_in(text, found.links[2])..].starts_with("g.md\n"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\[|\\]|\\(|\\)|`{1,3}|~~~|<!--|-->|\\n|\\\\|é|a|: |<|>){0,40}") {
            Markdown::parse(&text);
        }
    }
}
