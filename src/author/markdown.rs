//! Extracts links, code spans and code blocks from Markdown, and the commands that a skill's texts tell
//! a model to run. Precise enough to find references; it renders nothing and decides nothing.

use super::prelude::*;
/// The part of a line that is parsed, in bytes; finding the ends of code and links takes quadratic
/// time.
const LINE: usize = 8_000;
/// Maximum number of commands examined per body.
const IN_BODY: usize = 200;
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
pub fn commands(source: &SkillSource) -> Vec<((usize, usize), String)> {
    let mut commands = Vec::new();
    let mut blocks = Markdown::parse(source.body_text()).blocks;
    blocks.retain(|block| SHELLS.contains(&block.language.as_str()));
    for block in blocks {
        for part in parts(block.text.trim_end()) {
            let has_placeholder = |command: &str| {
                let mut operands = command.split('<').skip(1);
                operands.any(|rest| rest.starts_with(char::is_alphabetic))
            };
            // A placeholder is not a redirection.
            let command = typed(part).filter(|command| !has_placeholder(command));
            if let Some(command) = command.filter(|_| commands.len() < IN_BODY) {
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
}

/// The commands in the skill's texts, each place once. `is_program` knows the programs whose names
/// make a span a command.
pub fn documented(source: &SkillSource, is_program: &dyn Fn(&str) -> bool) -> Vec<Documented> {
    let dir = &source.skill.dir;
    let mut found = Vec::new();
    collect(source.body_text(), (dir, is_program), &mut found);
    for (_, text) in other_texts(dir) {
        collect(&text, (dir, is_program), &mut found);
    }
    found
}

fn collect(
    text: &str,
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
        if let Some(written) = typed(part).filter(|_| found.len() < COMMANDS) {
            found.push(Documented {
                written: written.to_owned(),
                command: filled(&required(written), &dir.display().to_string()),
            });
        }
    }
}

/// The command of a part without its prompt; `None` for a comment or an option.
fn typed(part: &str) -> Option<&str> {
    let command = part.trim().trim_start_matches("$ ");
    (!command.is_empty() && !command.starts_with(['#', '-'])).then_some(command)
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

    fn commands(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let is_program = |word: &str| ["git", "npx"].contains(&word);
        collect(text, (Path::new("/s"), &is_program), &mut found);
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
