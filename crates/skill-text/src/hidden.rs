//! Characters that hide something from who reads a text, and texts in which they are written out.

use std::fmt::Write as _;

use crate::wording::shorten;

/// The tags that make a black flag that of England, Scotland or Wales.
const FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Blanks other than spaces that may stand in a row, as for an indentation; more push text away.
const BLANKS: usize = 32;

/// Unicode's default-ignorable characters (format characters, fillers, variation selectors, tags),
/// and others that show nothing: joiners of single scripts, the empty notehead, the empty Braille
/// pattern and the place of an object.
pub fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFC | 0x1107F | 0x13430..=0x1343F
        | 0x16FE4 | 0x1BCA0..=0x1BCA3 | 0x1D159 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

/// The characters of `text`, each with whether it hides something: it controls a terminal, reorders
/// text or is invisible, and is no part of an emoji; or it is one of very many blanks.
pub fn with_hidden_flag(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut emoji_ends, mut blanks) = (0, 0);
    text.char_indices().map(move |(at, c)| {
        // Most characters need no further look.
        if blanks == 0 && (c == ' ' || c.is_ascii_alphabetic()) {
            return (c, false);
        }
        let rest = &text[at + c.len_utf8()..];
        let joins = at < emoji_ends;
        match emoji_tail(c, rest) {
            0 => {}
            tail => emoji_ends = at + c.len_utf8() + tail,
        }
        blanks = match c {
            ' ' => blanks,
            _ if c.is_whitespace() && !c.is_ascii() => blanks + 1,
            _ => 0,
        };
        let controls = c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}');
        let hides = controls || is_invisible(c) && !joins || blanks > BLANKS;
        (c, hides)
    })
}

/// How many bytes of invisible characters after `c` make one emoji of it and what follows.
fn emoji_tail(c: char, rest: &str) -> usize {
    let flag = || FLAGS.iter().find(|tags| rest.starts_with(**tags));
    if c == '\u{1f3f4}'
        && let Some(tags) = flag()
    {
        return tags.len();
    }
    if matches!(c, '0'..='9' | '#' | '*') {
        return "\u{fe0f}".len() * usize::from(rest.starts_with("\u{fe0f}\u{20e3}"));
    }
    if !is_pictographic(c) {
        return 0;
    }
    let styled = rest.strip_prefix(['\u{fe0e}', '\u{fe0f}']).unwrap_or(rest);
    let joined = styled.strip_prefix('\u{200d}');
    let joined = joined.filter(|next| next.starts_with(is_pictographic));
    rest.len() - joined.unwrap_or(styled).len()
}

/// Characters that are emoji or can become one by a variation selector.
fn is_pictographic(c: char) -> bool {
    matches!(u32::from(c),
        0x00A9 | 0x00AE | 0x203C | 0x2049 | 0x2122 | 0x2139 | 0x2194..=0x2199 | 0x21A9..=0x21AA
        | 0x231A..=0x231B | 0x2328 | 0x23CF | 0x23E9..=0x23FA | 0x24C2 | 0x25AA..=0x25AB | 0x25B6
        | 0x25C0 | 0x25FB..=0x25FE | 0x2600..=0x27BF | 0x2934..=0x2935 | 0x2B05..=0x2B07
        | 0x2B1B..=0x2B1C | 0x2B50 | 0x2B55 | 0x3030 | 0x303D | 0x3297 | 0x3299
        | 0x1F000..=0x1FAFF)
}

/// One line with every character that hides something ([`with_hidden_flag`]) written as in `<U+202E>`.
pub fn visible(line: &str) -> String {
    written_out(line, |_, _| false)
}

/// The text with what hides something written out, unless it stays: a character, of this rest of the
/// text.
pub fn written_out(text: &str, stays: impl Fn(char, &str) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for (c, hides) in with_hidden_flag(text) {
        if hides && !stays(c, &text[at..]) {
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        } else {
            shown.push(c);
        }
        at += c.len_utf8();
    }
    shown
}

/// Collapses whitespace to single spaces and removes characters that hide text from a reader or
/// control a terminal.
pub fn one_line(text: &str) -> String {
    // Most texts are plain.
    let is_plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    if text.bytes().all(is_plain) && !text.contains("  ") {
        return text.trim().to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for (c, hides) in with_hidden_flag(text) {
        if c.is_whitespace() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !hides {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// A name or path that a stranger chose, on one line: what hides is written as [`visible`] does, and
/// blanks are one, so that it cannot look like a line of ours where a terminal breaks it.
pub fn shown_name(name: &str) -> String {
    one_line(&visible(name))
}

/// At most `max` characters on one line.
pub fn brief(text: &str, max: usize) -> String {
    shorten(&one_line(text), max)
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
            ("1\u{fe0f}\u{20e3} 1\u{fe0f}", "1\u{fe0f}\u{20e3} 1<U+FE0F>"),
            ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥"),
            ("👩🏽\u{200d}💻 ☑\u{fe0e}", "👩🏽\u{200d}💻 ☑\u{fe0e}"),
            ("👩\u{200d}\u{200d}💻", "👩<U+200D><U+200D>💻"),
            ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}<U+FE0F>"),
            ("•\u{200d}—\u{fe0f}", "•<U+200D>—<U+FE0F>"),
            ("👩\u{200d} x", "👩<U+200D> x"),
            ("a\u{2800}b\u{fffc}", "a<U+2800>b<U+FFFC>"),
            ("a\u{a0}\u{3000}b \u{6dd}", "a\u{a0}\u{3000}b \u{6dd}"),
        ] {
            assert_eq!(visible(line), as_shown);
        }
        for tags in FLAGS {
            let flag = format!("\u{1f3f4}{tags}");
            assert_eq!(visible(&flag), flag);
            assert!(visible(&format!("{flag}{tags}")).starts_with(&(flag + "<U+E0067>")));
        }
    }

    #[test]
    fn blanks_without_end_are_seen() {
        for blank in ['\u{a0}', '\u{3000}', '\u{1680}', '\u{2003}'] {
            let some = blank.to_string().repeat(BLANKS);
            assert_eq!(visible(&some), some);
            let more = format!("{some} {blank}x");
            assert_eq!(visible(&more).matches("<U+").count(), 1, "{blank:?}");
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
            ("👩\u{200d}💻 •\u{200d}", "👩\u{200d}💻 •"),
        ] {
            assert_eq!(one_line(text), line, "{text:?}");
        }
    }
}
