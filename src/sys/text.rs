//! Encodes, cuts and compares text for a message, a line or the log.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
pub use skill_text::{
    backticked, count, counted, did_you_mean, distinct, listed, nearest, quoted, shorten,
};

/// What is percent-encoded in the path of a URI: everything but slashes and unreserved characters
/// (RFC 3986, section 2.3).
pub const URI_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// Whether the text contains one of the words, which are separated by `|`.
pub fn has_any(text: &str, words: &str) -> bool {
    words.split('|').any(|word| text.contains(word))
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
