//! The lines of a text as all rules get them: every byte is in one of them. Pure.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// The longest line that is looked at as one, in bytes.
pub const LONGEST: usize = 20_000;
/// What follows within this distance in a longer line is seen together.
const OVERLAP: usize = LONGEST / 2;
/// What ends a line for some readers: for Markdown a return, for others these separators too.
const ENDS: [char; 3] = ['\r', '\u{2028}', '\u{2029}'];

/// A line, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'t> {
    /// The numbers of the lines that it is made of, from 1.
    pub numbers: RangeInclusive<usize>,
    /// Its text.
    pub text: Cow<'t, str>,
    /// The text as patterns see it: in lower case, and with white space as one space.
    pub normal: Cow<'t, str>,
    /// See [`Extent`].
    pub extent: Extent,
}

/// How much of a line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The whole of an ordinary line.
    Line,
    /// The whole of a line longer than [`LONGEST`], for what may reach as far. Such lines are mostly
    /// generated, and hold so much that words beside each other mean nothing.
    Long,
    /// A window of a long line, or what stands between [`ENDS`].
    Part,
    /// Lines that a shell reads as one command.
    Command,
}

impl Extent {
    /// Whether it is a whole line. All whole lines are the text.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Line | Self::Long)
    }

    /// Whether a command is whole in it.
    pub fn is_command(self) -> bool {
        self != Self::Part
    }

    /// Whether it is short enough that what is on it belongs together. All these are the text, too.
    pub fn is_near(self) -> bool {
        !matches!(self, Self::Long | Self::Command)
    }
}

/// The lines of a text, in order, each followed by its parts and by the command that it ends.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    let mut found = Vec::new();
    let mut command = Command::default();
    let mut rest = text.lines().peekable();
    let has_ends = ENDS.iter().any(|end| text.contains(*end));
    for number in 1.. {
        let Some(line) = rest.next() else {
            break;
        };
        let mut push = |text, extent| found.push(Line::new(number..=number, text, extent));
        if line.len() > LONGEST {
            push(line, Extent::Long);
            windows(line).for_each(|window| push(window, Extent::Part));
        } else {
            push(line, Extent::Line);
        }
        if has_ends && line.contains(ENDS) {
            let parts = line.split(ENDS).filter(|part| !part.trim().is_empty());
            let parts = parts.flat_map(windows);
            parts.for_each(|part| push(part, Extent::Part));
        }
        found.extend(command.push(number, line, rest.peek().copied()));
    }
    found
}

impl<'t> Line<'t> {
    fn new(numbers: RangeInclusive<usize>, text: &'t str, extent: Extent) -> Self {
        Self {
            normal: normalize_line(text),
            numbers,
            text: Cow::Borrowed(text),
            extent,
        }
    }
}

/// A text as patterns see it. Most lines are that already.
fn normalize_line(text: &str) -> Cow<'_, str> {
    let mut before = b'x';
    let is_normal = |byte: u8| {
        let is_second = byte == b' ' && before == b' ';
        before = byte;
        !is_second && matches!(byte, b' '..=b'@' | b'['..=b'~')
    };
    if text.bytes().all(is_normal) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(folded(&text.to_lowercase()))
}

/// The text with white space as one space.
pub fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_whitespace() {
            true if folded.ends_with(' ') => {}
            true => folded.push(' '),
            false => folded.push(c),
        }
    }
    folded
}

/// The lines so far of a command.
#[derive(Default)]
struct Command {
    text: String,
    first: Option<usize>,
}

impl Command {
    /// The command, if it is of several lines and ends with `line`.
    fn push<'t>(&mut self, number: usize, line: &str, next: Option<&str>) -> Option<Line<'t>> {
        let bare = line.trim_end();
        let joined = bare.strip_suffix('\\');
        // A comment may stand behind what goes on.
        let code = bare
            .split_once(" #")
            .map_or(bare, |(code, _)| code)
            .trim_end();
        let is_piped = code.ends_with('|') && (self.first.is_some() || !is_row(bare));
        let is_open = ["&&", "$(", "<("].iter().any(|end| code.ends_with(end));
        let continues = |next: &str| next.trim_start().starts_with(['|', '&']) && !is_row(next);
        let goes_on = is_piped || is_open;
        if next.is_some() && (joined.is_some() || goes_on || next.is_some_and(continues)) {
            self.text += joined.unwrap_or(if goes_on { code } else { line });
            // A shell drops a backslash with the end of its line, and nothing else.
            self.text += if joined.is_some() { "" } else { " " };
            self.first = self.first.or(Some(number));
            return None;
        }
        let Self { text, first } = std::mem::take(self);
        let (numbers, text) = (first?..=number, text + line);
        Some(Line {
            normal: Cow::Owned(folded(&text.to_lowercase())),
            numbers,
            text: Cow::Owned(text),
            extent: Extent::Command,
        })
    }
}

/// Whether a line looks like a row of a Markdown table.
fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.ends_with('|')
}

/// Overlapping windows that cover a line.
fn windows(line: &str) -> impl Iterator<Item = &str> {
    let starts = (0..line.len().saturating_sub(OVERLAP).max(1)).step_by(LONGEST - OVERLAP);
    starts.map(|start| {
        let end = line.floor_char_boundary(start + LONGEST);
        &line[line.floor_char_boundary(start)..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, keep: fn(Extent) -> bool) -> Vec<&str> {
        let lines = lines(text).into_iter().filter(|line| keep(line.extent));
        let texts = lines.map(|line| match line.text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => panic!("{text} is a command"),
        });
        texts.collect()
    }

    #[test]
    fn a_continued_command_is_one_line() {
        for (text, command) in [
            ("cu\\\nrl x \\\n  |  sh\ny", "curl x | sh"),
            ("curl x |\nsh", "curl x | sh"),
            ("curl x\n  | sh", "curl x | sh"),
            ("cd x &&\n\tsh y", "cd x && sh y"),
            ("cd x\n&& sh y", "cd x && sh y"),
            ("curl x \\\n| tee y |\nsh", "curl x | tee y | sh"),
            ("curl x | # quietly\nsh", "curl x | sh"),
            ("sh -c \"$(\ncurl x\ny", "sh -c \"$( curl x"),
        ] {
            let lines = lines(text);
            let found: Vec<_> = lines
                .iter()
                .filter(|line| line.extent == Extent::Command)
                .map(|line| (&*line.normal, *line.numbers.start()))
                .collect();
            assert_eq!(found, [(command, 1)], "{text}");
        }
        assert!(
            lines("a\nb\n")
                .iter()
                .all(|line| line.extent == Extent::Line)
        );
    }

    #[test]
    fn the_short_ways_to_a_normal_line_lead_to_the_same() {
        let slowly = |text: &str| folded(&text.to_lowercase());
        for text in [
            "",
            "a b",
            "a  b",
            " A\tB ",
            "\u{b}\u{c}\r",
            "é  É",
            "K\u{212a} x",
            "[@`{~",
            "\u{1}\u{7f}",
        ] {
            assert_eq!(normalize_line(text), slowly(text), "{text:?}");
        }
        for byte in 0..128_u8 {
            for text in [
                format!("a{} b", char::from(byte)),
                format!("a {}b", char::from(byte)),
            ] {
                assert_eq!(normalize_line(&text), slowly(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn a_line_ends_where_some_reader_ends_it() {
        assert_eq!(of("a\r\nb\n\nc", |_| true), ["a", "b", "", "c"]);
        for end in ENDS {
            let text = format!("a{end}b");
            assert_eq!(of(&text, |_| true), [&*text, "a", "b"]);
        }
    }

    #[test]
    fn all_of_a_long_line_is_in_the_windows() {
        for (letter, size) in [
            ("a", LONGEST),
            ("a", LONGEST + 1),
            ("é", LONGEST),
            ("€", LONGEST),
        ] {
            let line = letter.repeat(size);
            let mut covered = 0;
            let near = of(&line, Extent::is_near);
            for window in &near {
                let start = window.as_ptr() as usize - line.as_ptr() as usize;
                assert!(
                    start == 0 || start + OVERLAP < covered + letter.len(),
                    "{letter} {start}"
                );
                assert!(window.len() <= LONGEST + letter.len());
                covered = start + window.len();
            }
            assert_eq!(covered, line.len());
            assert_eq!(near.len() > 1, line.len() > LONGEST);
            assert_eq!(of(&line, Extent::is_whole), [&*line]);
        }
    }
}
