//! Makes untrusted text safe to show on one line, to a model or on a terminal, and says what it costs a
//! model.

pub use skill_text::visible;

use std::time::Duration;

use similar::TextDiff;

use crate::sys::text::shorten;
use skill_text::with_hidden_flag;

/// Time to search for the smallest difference; after that, a larger one is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The lines of a text without their ends, each with its offset. As in YAML, a carriage return ends
/// a line, with or without a line feed behind it.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, rest) = (at, &text[at..]);
        if rest.is_empty() {
            return None;
        }
        // Bytes: a search for one of two characters takes twenty times as long.
        let length = rest.bytes().position(|byte| matches!(byte, b'\n' | b'\r'));
        let length = length.unwrap_or(rest.len());
        let end = &rest[length..];
        at += length
            + if end.starts_with("\r\n") {
                2
            } else {
                end.len().min(1)
            };
        Some((start, &rest[..length]))
    })
}

/// Collapses whitespace to single spaces and removes characters that hide text from a reader
/// (docs/spec/references.md#the-scan) or control a terminal.
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

/// What a text costs a model, whose tokenizer is not known here: a quarter of the bytes (docs/spec/skills.md#files). Letters outside ASCII take more bytes, but a
/// token also contains fewer of them.
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// A number of tokens for people and models: `1,350`.
pub fn shown_tokens(tokens: usize) -> String {
    let digits = tokens.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// The unified diff; empty if the texts are equal. Carriage returns are shown as `␍`.
pub fn unified_diff(names: (&str, &str), old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(|text| text.replace('\r', "␍"));
    TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(&old, &new)
        .unified_diff()
        .header(names.0, names.1)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_token_is_about_four_bytes() {
        assert_eq!((tokens(""), tokens("a"), tokens("abcde")), (0, 1, 2));
        assert_eq!(tokens("技能"), 2);
    }

    #[test]
    fn thousands_are_set_apart() {
        for (tokens, text) in [
            (0, "0"),
            (999, "999"),
            (1350, "1,350"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(shown_tokens(tokens), text);
        }
    }

    #[test]
    fn changes_are_shown_in_their_surroundings() {
        let names = ("a/f", "b/f");
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n12\n";
        assert_eq!(
            unified_diff(names, old, new),
            "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
             @@ -8,5 +8,4 @@\n 8\n 9\n 10\n-11\n 12\n"
        );
        assert_eq!(unified_diff(names, old, old), "");
        assert!(unified_diff(names, "a\r\nb\n", "a\nb\n").contains("-a␍\n+a\n"));
    }
}
