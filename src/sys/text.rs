//! Shortens, encodes and compares text for a message, a line or the log, and suggests the name that
//! was meant.

use std::fmt::{self, Display};
use std::hash::{DefaultHasher, Hasher};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// What is percent-encoded in the path of a URI: everything but slashes and unreserved characters
/// (RFC 3986, section 2.3).
pub const URI_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// At most `max` characters of `text`, ending in an ellipsis if it was cut.
pub fn shorten(text: &str, max: usize) -> String {
    if text.len() <= max || text.char_indices().nth(max).is_none() {
        return text.to_owned();
    }
    if max == 0 {
        return String::new();
    }
    let kept: String = text.chars().take(max - 1).collect();
    format!("{}…", kept.trim_end())
}

/// Each value once, where it comes first.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut kept, value| {
        if !kept.contains(&value) {
            kept.push(value);
        }
        kept
    })
}

/// Whether the text contains one of the words, which are separated by `|`.
pub fn has_any(text: &str, words: &str) -> bool {
    words.split('|').any(|word| text.contains(word))
}

/// What a user wrote, for a message: on one line, and shortened if long.
pub fn quoted(written: &str) -> String {
    shorten(&written.escape_debug().to_string(), 100)
}

/// How many things: `1 file`, `2 files`.
pub fn count(number: usize, thing: &str) -> String {
    counted(number, thing, &format!("{thing}s"))
}

/// A number of bytes in a readable unit.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    let (mut whole, mut unit) = (bytes, "B");
    for larger in UNITS {
        if whole < 1024 {
            break;
        }
        (whole, unit) = (whole.div_ceil(1024), larger);
    }
    format!("{whole} {unit}")
}

/// As [`count`], with the word and its verb: `1 skill is`, `2 skills are`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    let thing = if number == 1 { one } else { many };
    format!("{number} {thing}")
}

/// The names in backticks.
pub fn backticked<T: Display>(names: impl IntoIterator<Item = T>, between: &str) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(between)
}

/// The first `most` of `names` in one line, and how many more there are.
pub fn listed<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The longest name, in bytes, for which one is suggested: no typo is longer, and the comparison is
/// quadratic.
const SUGGESTED_FOR: usize = 200;

/// The name that somebody who wrote `written` most likely meant: at most a third of the letters
/// differ, or else it contains what was written. Case, `_` and `-` do not count.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let wanted = Some(folded(written)).filter(|_| written.len() <= SUGGESTED_FOR)?;
    let length = wanted.chars().count();
    let score = |name: &'n str| {
        let (known, size) = (folded(name), name.chars().count());
        let distance = strsim::damerau_levenshtein(&wanted, &known);
        let is_near = distance * 3 <= length.max(known.chars().count());
        let is_part = length >= 3 && known.contains(&wanted);
        (is_near || is_part).then_some(((!is_near, distance, size), name))
    };
    let names = names.into_iter().filter(|name| name.len() <= SUGGESTED_FOR);
    let best = names.filter_map(score).min_by_key(|(score, _)| *score);
    best.map(|(_, name)| name)
}

/// The question whether the [`nearest`] name is meant, for a hint.
pub fn did_you_mean<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let nearest = nearest(written, names)?;
    Some(format!("did you mean `{}`?", quoted(nearest)))
}

/// A mistake in a file, for its author.
#[derive(Debug)]
pub struct Mistake {
    /// What is wrong.
    pub wrong: String,
    /// What would be right there, if that is known.
    pub takes: Option<String>,
}

impl From<String> for Mistake {
    fn from(wrong: String) -> Self {
        Self { wrong, takes: None }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.wrong)?;
        self.takes
            .iter()
            .try_for_each(|takes| write!(f, ": it takes {takes}"))
    }
}

/// What serde says of a mistake in a file: one suggestion instead of all keys, and no words of Rust.
pub fn in_plain_words(message: &str) -> Mistake {
    const EXPECTED: [(&str, &str); 6] = [
        ("a nonzero usize", "a number above 0"),
        ("usize", "a number"),
        ("u32", "a number"),
        ("a sequence", "a list"),
        ("a boolean", "`true` or `false`"),
        ("a map", "a table"),
    ];
    const FOUND: [(&str, &str); 5] = [
        ("string ", "the text "),
        ("integer `", "`"),
        ("boolean `", "`"),
        ("sequence", "a list"),
        ("map", "a table"),
    ];
    let Some((found, expected)) = message.split_once(", expected ") else {
        return message.to_owned().into();
    };
    if let Some(key) = found.strip_prefix("unknown field ") {
        let names = expected.split('`').skip(1).step_by(2);
        let meant = did_you_mean(key.trim_matches('`'), names);
        let meant = meant.map_or_else(String::new, |meant| format!(": {meant}"));
        return format!("there is no key {key}{meant}").into();
    }
    let kinds = ["invalid type: ", "invalid value: ", "unknown variant "];
    let Some(found) = kinds.iter().find_map(|kind| found.strip_prefix(kind)) else {
        return message.to_owned().into();
    };
    let plainly =
        |(rust, plain): &(&str, &str)| Some(format!("{plain}{}", found.strip_prefix(rust)?));
    let plain = FOUND.iter().find_map(plainly);
    let found = plain.unwrap_or_else(|| found.to_owned());
    let plain = EXPECTED.iter().find(|(rust, _)| *rust == expected);
    let expected = plain.map_or(expected, |(_, plain)| plain);
    Mistake {
        wrong: format!("{found} is not valid"),
        takes: Some(expected.to_owned()),
    }
}

/// Drops an incomplete character at the end.
pub fn without_split_end(bytes: &[u8]) -> &[u8] {
    let last = bytes.utf8_chunks().last();
    let rest = last.map_or(&[][..], |chunk| chunk.invalid());
    match std::str::from_utf8(rest) {
        // An incomplete sequence has no error length; any other error is in the stream itself.
        Err(error) if error.error_len().is_none() => &bytes[..bytes.len() - rest.len()],
        _ => bytes,
    }
}

/// The parts between such separators as are in no parentheses or braces.
pub fn split_outside(
    text: &str,
    is_separator: impl Fn(char) -> bool,
) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c| {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is_separator(c)
    })
}

/// A hash that compares texts where a collision does no harm. It is the same in every process of one build, and meaningless to another build. For short
/// runs it is faster than SHA-256 or CRC, whose detection of CPU features costs more than hashing.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äöü", 2), "ä…");
        assert_eq!(shorten("ab cd", 4), "ab…");
        assert_eq!(shorten("ab", 0), "");
    }

    #[test]
    fn one_name_is_suggested_for_a_typo_and_none_for_another_word() {
        let names = [
            "pdf",
            "pdf-forms",
            "acme--csv",
            "shell_exec",
            "max_active",
            "x",
        ];
        for (written, expected) in [
            ("pfd", Some("pdf")),
            ("PDF_from", Some("pdf-forms")),
            ("forms", Some("pdf-forms")),
            ("acme-csv", Some("acme--csv")),
            ("shell_exce", Some("shell_exec")),
            ("max_activ", Some("max_active")),
            ("y", None),
            ("", None),
            ("entirely-different", None),
        ] {
            assert_eq!(nearest(written, names), expected, "{written}");
        }
        assert_eq!(nearest(&"x".repeat(SUGGESTED_FOR + 1), names), None);
    }

    #[test]
    fn one_thing_is_not_said_in_the_plural() {
        assert_eq!(count(0, "file"), "0 files");
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(counted(1, "file is", "files are"), "1 file is");
        assert_eq!(counted(2, "file is", "files are"), "2 files are");
    }

    #[test]
    fn sizes_are_short_and_never_too_small() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1025, "2 KiB"),
            (3 << 20, "3 MiB"),
            (5 << 40, "5120 GiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
