//! The only way text reaches a person's terminal. Most output contains text by strangers, so
//! characters that control the terminal, are invisible or reorder text are made visible here, even
//! if an earlier step forgot to.

use std::fmt::Write as _;
use std::io::{self, Write};

/// The escape sequences of our colours. They neither move the cursor nor erase anything, so a
/// stranger who uses them gains nothing.
const COLOURS: [&str; 7] = [
    "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[4m",
];

/// Unicode's default-ignorable characters: format characters, fillers, variation selectors and
/// tags.
pub fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
        | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
        | 0xE0000..=0xE0FFF)
}

/// One line with every character that controls a terminal, reorders text or is invisible written as
/// in `<U+202E>`. Those that are part of an emoji stay.
pub fn visible(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut before = ' ';
    for c in line.chars() {
        push(&mut shown, before, c);
        before = c;
    }
    shown
}

/// As [`visible`], for several lines. With `colour`, our own colours stay.
pub fn shown(text: &str, colour: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let (mut rest, mut before) = (text, ' ');
    while let Some(c) = rest.chars().next() {
        let ours = |code: &&&str| rest.starts_with(**code);
        if colour && let Some(code) = COLOURS.iter().find(ours) {
            shown.push_str(code);
            rest = &rest[code.len()..];
            continue;
        }
        if c == '\n' {
            shown.push(c);
        } else {
            push(&mut shown, before, c);
        }
        before = c;
        rest = &rest[c.len_utf8()..];
    }
    shown
}

fn push(shown: &mut String, before: char, c: char) {
    // It joins the parts of an emoji, or follows one.
    let joins =
        matches!(c, '\u{200d}' | '\u{fe0f}') && !before.is_ascii() && !before.is_alphabetic();
    let hides = c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}');
    if hides && !joins && c != '\t' {
        let _ = write!(shown, "<U+{:04X}>", u32::from(c));
    } else {
        shown.push(c);
    }
}

/// A writer that passes text through [`shown`].
#[derive(Debug)]
pub struct Shown<W> {
    to: W,
    /// The bytes of an incomplete character.
    begun: Vec<u8>,
}

impl<W: Write> Shown<W> {
    /// A writer to `to`.
    pub fn new(to: W) -> Self {
        let begun = Vec::new();
        Self { to, begun }
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let whole: Vec<u8> = self.begun.drain(..whole).collect();
        let text = String::from_utf8_lossy(&whole);
        self.to.write_all(shown(&text, false).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_seen() {
        for (line, as_shown) in [
            ("\ta  b", "\ta  b"),
            ("a\u{1b}[2Jb\u{9b}", "a<U+001B>[2Jb<U+009B>"),
            ("a\u{202e}b\u{e0061}", "a<U+202E>b<U+E0061>"),
            ("⚠\u{fe0f} 技能 👩\u{200d}💻", "⚠\u{fe0f} 技能 👩\u{200d}💻"),
            ("p\u{200d}d\u{200b}f\u{2028}", "p<U+200D>d<U+200B>f<U+2028>"),
            ("a\rb\u{8}\u{7f}", "a<U+000D>b<U+0008><U+007F>"),
        ] {
            assert_eq!(visible(line), as_shown);
            assert_eq!(shown(line, true), as_shown);
        }
        assert_eq!(shown("a\nb\n", false), "a\nb\n");
    }

    #[test]
    fn only_our_colours_stay_of_escape_sequences() {
        let text = "\x1b[31mred\x1b[0m\x1b[2J\x1b]0;title\x07\x1b[38;5;1m\x1b[8m";
        let kept = shown(text, true);
        assert!(
            kept.starts_with("\x1b[31mred\x1b[0m<U+001B>[2J<U+001B>]0;"),
            "{kept}"
        );
        assert_eq!(kept.matches('\x1b').count(), 2);
        assert!(!shown(text, false).contains('\x1b'));
    }

    #[test]
    fn a_character_that_comes_in_parts_is_one() {
        let text = "技\u{1b}[2J能\u{202e}\n";
        for size in 1..5 {
            let mut written = Vec::new();
            let mut to = Shown::new(&mut written);
            for part in text.as_bytes().chunks(size) {
                to.write_all(part).unwrap();
            }
            assert_eq!(String::from_utf8(written).unwrap(), shown(text, false));
        }
    }
}
