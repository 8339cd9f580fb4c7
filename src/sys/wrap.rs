//! Breaks lines between words, so that they fit a terminal.

use std::io::IsTerminal;

use rustix::stdio::{stderr, stdout};
use unicode_width::UnicodeWidthStr;

/// `text` in lines of at most `width` columns. What is broken off goes below the text of its line,
/// beside a label if there is one. A word, or a command in backticks, that is wider stays whole, so
/// that it can be copied.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let inside = line.trim_end_matches('\n');
        if width_of(inside) <= width {
            fitted += line;
        } else {
            let text = inside.trim_end_matches(' ');
            fitted += &filled("", text, hang(inside, width), width);
            // A question ends in a blank.
            fitted += &line[text.len()..];
        }
    }
    fitted
}

/// How many lines of a terminal `text` takes, with what is wider than one.
pub fn lines_shown(text: &str, width: usize) -> usize {
    let shown = |line: &str| width_of(line).div_ceil(width).max(1);
    text.lines().map(shown).sum()
}

/// `text` after `first`, with later lines indented by `indent`.
pub fn filled(first: &str, text: &str, indent: usize, width: usize) -> String {
    let mut lines = first.to_owned();
    let mut used = width_of(first);
    let (mut rest, mut is_begun) = (Some(text), false);
    while let Some(left) = rest {
        let (word, after) = left.split_at(end_of_word(left));
        rest = after.strip_prefix(' ');
        let wide = width_of(word);
        // What begins as far to the right on a line of its own gains nothing.
        let gains = used + 1 > indent && !word.is_empty();
        if is_begun && gains && used + 1 + wide > width {
            lines.truncate(lines.trim_end_matches(' ').len());
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            used = indent;
        } else if is_begun {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += wide;
        is_begun = true;
    }
    lines
}

/// Where the first word of `text` ends. What is in backticks is one word: half a command, copied with
/// a line's end, would run.
fn end_of_word(text: &str) -> usize {
    let blank = |from: usize| text[from..].find(' ').map_or(text.len(), |at| from + at);
    // The sign of a comment stays with the comment.
    let end = match blank(0) {
        1 if text.starts_with("# ") => blank(2),
        end => end,
    };
    let is_open = text[..end].matches('`').count() % 2 == 1;
    let close = text[end..].find('`').filter(|_| is_open);
    close.map_or(end, |close| blank(end + close))
}

/// How far the lines after `line` are indented.
fn hang(line: &str, width: usize) -> usize {
    const FURTHER: usize = 2;
    let text = line.trim_start_matches(' ');
    let lead = line.len() - text.len();
    let beside = text.find("  ").and_then(|gap| {
        let after = text[gap..].trim_start_matches(' ');
        // What is before a comment is no label of it.
        let is_label = !after.starts_with("# ");
        is_label.then(|| width_of(&line[..line.len() - after.len()]))
    });
    beside
        .filter(|beside| *beside <= width / 2)
        .unwrap_or(lead + FURTHER)
}

/// The width of a text without our colour codes.
fn width_of(text: &str) -> usize {
    let mut parts = text.split('\x1b');
    let plain = parts.next().unwrap_or_default().width();
    let after_code = |part: &str| match part.split_once('m') {
        Some((code, rest)) if code.starts_with('[') => rest.width(),
        _ => part.width(),
    };
    plain + parts.map(after_code).sum::<usize>()
}

/// The width of the terminal on standard output in columns, 0 if unknown; `None` without a
/// terminal.
pub fn columns() -> Option<usize> {
    let size = || terminal_size::terminal_size_of(stdout());
    stdout()
        .is_terminal()
        .then(|| size().map_or(0, |(width, _)| width.0.into()))
}

/// The columns and lines of the terminal on standard error, if there is one that tells its width.
pub fn error_size() -> Option<(usize, usize)> {
    /// A terminal's lines if it does not tell them.
    const LINES: u16 = 24;
    let (width, height) = terminal_size::terminal_size_of(stderr())?;
    let lines = if height.0 == 0 { LINES } else { height.0 };
    (width.0 > 0).then(|| (width.0.into(), lines.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_broken_between_words_and_hang() {
        for (text, width, expected) in [
            ("one two three\n", 80, "one two three\n"),
            ("one two three\nfour\n", 9, "one two\n  three\nfour\n"),
            ("  - one two three", 9, "  - one\n    two\n    three"),
            ("label:  one two", 14, "label:  one\n  two"),
            ("key:  one two", 12, "key:  one\n      two"),
            ("as /long/path b", 4, "as\n  /long/path\n  b"),
            ("key:  /long/path b", 14, "key:  /long/path\n      b"),
            ("now run `a b c`, then", 12, "now run\n  `a b c`,\n  then"),
            ("run `much too long` b", 8, "run\n  `much too long`\n  b"),
            ("a = 1  # b c d", 12, "a = 1  # b c\n  d"),
            ("a = 1  # /a/long/path", 18, "a = 1\n  # /a/long/path"),
            ("a ` b", 3, "a `\n  b"),
            ("\x1b[1mone two\x1b[0m", 7, "\x1b[1mone two\x1b[0m"),
            ("技能 技能", 8, "技能\n  技能"),
            ("is a question? ", 8, "is a\n  question? "),
            ("a question?", 8, "a question?"),
            ("", 5, ""),
        ] {
            assert_eq!(wrapped(text, width), expected, "{text:?} {width}");
        }
    }

    proptest! {
        #[test]
        fn only_blanks_and_line_ends_change(text in "[ab` \n]{0,80}", width in 4usize..30) {
            let fitted = wrapped(&text, width);
            prop_assert!(fitted.split_whitespace().eq(text.split_whitespace()), "{fitted:?}");
            let lines = fitted.lines().map(str::trim_end);
            for line in lines.filter(|line| width_of(line) > width) {
                // One word is on it, a command, or what would begin as far to the right on a line of
                // its own.
                let lead = line.len() - line.trim_start().len();
                let last = line.rfind(' ').map_or(0, |at| at + 1);
                prop_assert!(last <= (lead + 2).max(width / 2) || line.contains('`'), "{line:?}");
            }
        }
    }
}
