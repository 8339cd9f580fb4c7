//! Text of strangers made fit to be shown on one line, to a model or on a terminal.

use std::fmt::Write;

/// Whitespace collapsed to single spaces; control characters and characters that show nothing
/// removed, since they hide text from a reader (CORPUS.md §9.3) or steer a terminal.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !c.is_control() && !is_invisible(c) {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Whether any of it is seen: what [`one_line`] leaves is not empty.
pub(super) fn shows_something(text: &str) -> bool {
    text.chars()
        .any(|c| !c.is_whitespace() && !c.is_control() && !is_invisible(c))
}

/// One line as it is, but for what steers a terminal, changes the order of what is shown, or shows
/// nothing: that is seen as `<U+202E>`. The parts of emoji stay.
pub fn visible(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        let joins = matches!(c, '\t' | '\u{200d}' | '\u{fe0f}');
        if (c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}')) && !joins {
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Format characters, fillers, variation selectors and tags: Unicode's default-ignorable
/// characters.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
        | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
        | 0xE0000..=0xE0FFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_seen() {
        for (line, shown) in [
            ("\ta  b", "\ta  b"),
            ("a\u{1b}[2Jb\u{9b}", "a<U+001B>[2Jb<U+009B>"),
            ("a\u{202e}b\u{e0061}", "a<U+202E>b<U+E0061>"),
            ("⚠\u{fe0f} 技能", "⚠\u{fe0f} 技能"),
        ] {
            assert_eq!(visible(line), shown);
        }
    }

    #[test]
    fn one_line_is_one_line() {
        for (text, line) in [
            (" a\r\n\tb \u{a0} c ", "a b c"),
            ("a\u{2028}b", "a b"),
            ("\u{1b}[2Ja\u{7}", "[2Ja"),
            ("a\u{200b}b\u{fe0f}\u{e0061}", "ab"),
            ("naïve 技能 👍", "naïve 技能 👍"),
        ] {
            assert_eq!(one_line(text), line, "{text:?}");
        }
    }
}
