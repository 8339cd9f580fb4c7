//! Extracts links, code spans and code blocks from Markdown. Precise enough to find references; it
//! renders nothing.

/// The part of a line that is parsed, in bytes; finding the ends of code and links takes quadratic
/// time.
const LINE: usize = 8_000;

/// The parts of a text, each with its offset.
#[derive(Debug, Default)]
pub struct Markdown<'a> {
    /// Targets of links and images, as written.
    pub links: Vec<(usize, &'a str)>,
    /// Code spans.
    pub spans: Vec<(usize, &'a str)>,
    /// Fenced code blocks.
    pub blocks: Vec<Block<'a>>,
}

/// A fenced code block.
#[derive(Debug)]
pub struct Block<'a> {
    /// The first word after the fence, in lowercase.
    pub language: String,
    /// The offset of its text.
    pub at: usize,
    /// Its text.
    pub text: &'a str,
}

impl<'a> Markdown<'a> {
    /// Parses a text.
    pub fn of(text: &'a str) -> Self {
        let mut found = Self::default();
        let mut fence: Option<(&str, usize, String)> = None;
        let mut comment = false;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let trimmed = line.trim_start_matches([' ', '\t', '>']).trim_end();
            let marks = fence_marks(trimmed);
            if let Some((open, begun, language)) = &fence {
                let closes = marks.starts_with(open) && trimmed.len() == marks.len();
                if closes {
                    found.blocks.push(Block {
                        language: language.clone(),
                        at: *begun,
                        text: &text[*begun..start],
                    });
                    fence = None;
                }
                continue;
            }
            if comment {
                comment = !line.contains("-->");
                continue;
            }
            if !marks.is_empty() && !trimmed[marks.len()..].contains('`') {
                let word = trimmed[marks.len()..].split_whitespace().next();
                fence = Some((marks, at, word.unwrap_or_default().to_lowercase()));
                continue;
            }
            if let Some(open) = line.find("<!--") {
                comment = !line[open..].contains("-->");
                found.inline(&line[..open], start);
                continue;
            }
            found.inline(line, start);
        }
        found
    }

    fn inline(&mut self, line: &'a str, start: usize) {
        let line = &line[..line.floor_char_boundary(LINE)];
        let mut at = 0;
        if let Some((_, target)) = definition(line) {
            let offset = target.as_ptr() as usize - line.as_ptr() as usize;
            self.links.push((start + offset, target));
            return;
        }
        while at < line.len() {
            let rest = &line[at..];
            if let Some(escaped) = rest.strip_prefix('\\') {
                at += 1 + escaped.chars().next().map_or(0, char::len_utf8);
            } else if rest.starts_with('`') {
                let ticks = rest.len() - rest.trim_start_matches('`').len();
                let inner = &rest[ticks..];
                match closing_ticks(inner, ticks) {
                    Some(end) => {
                        self.spans.push((start + at + ticks, &inner[..end]));
                        at += ticks + end + ticks;
                    }
                    None => at += ticks,
                }
            } else if let Some(inner) = rest.strip_prefix("](") {
                let end = closing_parenthesis(inner);
                let target = inner[..end].trim_start();
                let target = match target.strip_prefix('<') {
                    Some(bracketed) => bracketed.split('>').next().unwrap_or(bracketed),
                    None => target.split(char::is_whitespace).next().unwrap_or(target),
                };
                let offset = target.as_ptr() as usize - line.as_ptr() as usize;
                self.links.push((start + offset, target));
                at += 2 + end;
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
    }
}

/// The backticks or tildes that open or close a block; empty if the line has no fence.
fn fence_marks(line: &str) -> &str {
    let mark = if line.starts_with("```") {
        '`'
    } else if line.starts_with("~~~") {
        '~'
    } else {
        return "";
    };
    &line[..line.len() - line.trim_start_matches(mark).len()]
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

/// `[name]: target`.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, target) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    let target = target.split_whitespace().next()?;
    (!name.is_empty() && !name.contains(']') && !name.starts_with('^')).then_some((name, target))
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
        let found = Markdown::of(text);
        let links: Vec<_> = found.links.iter().map(|(_, link)| *link).collect();
        assert_eq!(links, ["x/a.md", "b c.png", "g.md", "i(1).md"]);
        let spans: Vec<_> = found.spans.iter().map(|(_, span)| *span).collect();
        assert_eq!(spans, ["[c](no.md)", "d ` e"]);
        assert_eq!(
            (found.blocks[0].language.as_str(), found.blocks[0].text),
            ("sh", "[h](h.md)\n")
        );
        for (at, link) in &found.links {
            assert!(text[*at..].starts_with(link));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\[|\\]|\\(|\\)|`{1,3}|~~~|<!--|-->|\\n|\\\\|é|a|: |<|>){0,40}") {
            Markdown::of(&text);
        }
    }
}
