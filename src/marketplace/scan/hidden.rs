//! Finds characters that hide text from a person but not from a model. Pure.

use super::Severity::{Block, Warn};
use super::finding::Kind;

const TAGS: Kind = (
    Block,
    "tag-characters",
    "hides text in characters that show nothing",
);
const BIDI: Kind = (
    Block,
    "bidi",
    "has characters that show text in another order",
);
const SELECTORS: Kind = (
    Block,
    "variation-selectors",
    "hides bytes in variation selectors",
);
const ZERO_WIDTH: Kind = (Warn, "zero-width", "has characters without width");
const MIXED: Kind = (Warn, "mixed-scripts", "has a word of look-alike letters");

/// The kinds of hidden text in a line, each once.
pub fn inspect(line: &str) -> Vec<Kind> {
    if line.is_ascii() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut say = |finding| {
        if !found.contains(&finding) {
            found.push(finding);
        }
    };
    let (mut selectors, mut flag) = (0, false);
    for c in line.chars() {
        let code = u32::from(c);
        // The flags of England, Scotland and Wales are a black flag followed by tag characters.
        flag = code == 0x1F3F4 || flag && matches!(code, 0xE0020..=0xE007F);
        if matches!(code, 0xE0000..=0xE007F) && !flag {
            say(TAGS);
        }
        if matches!(code, 0x202A..=0x202E | 0x2066..=0x2069) {
            say(BIDI);
        }
        selectors = if matches!(code, 0xFE00..=0xFE0F | 0xE0100..=0xE01EF) {
            selectors + 1
        } else {
            0
        };
        if selectors >= 4 {
            say(SELECTORS);
        }
        if matches!(code, 0x200B | 0x200C | 0x200E | 0x200F | 0x2060 | 0xFEFF) {
            say(ZERO_WIDTH);
        }
    }
    if has_mixed_word(line) {
        say(MIXED);
    }
    found
}

/// Whether one of the words is mixed.
pub fn has_mixed_word(line: &str) -> bool {
    line.split(|c: char| !c.is_alphabetic()).any(is_mixed)
}

/// Whether a word mixes Latin with Cyrillic or Greek letters, other than a single letter as in
/// units and formulas.
fn is_mixed(word: &str) -> bool {
    let latin = word.chars().filter(char::is_ascii_alphabetic).count();
    let is_other = |c| matches!(u32::from(c), 0x0370..=0x04FF) && !"µμΔδλπσΩα".contains(c);
    latin > 0 && word.chars().any(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_text_is_seen_and_honest_text_is_not() {
        let codes = |line: &str| {
            inspect(line)
                .into_iter()
                .map(|(_, code, _)| code)
                .collect::<Vec<_>>()
        };
        assert_eq!(codes("a\u{e0061}\u{e0062}"), ["tag-characters"]);
        assert_eq!(codes("x\u{202e}y"), ["bidi"]);
        assert_eq!(
            codes("a\u{fe00}\u{fe01}\u{fe02}\u{fe03}"),
            ["variation-selectors"]
        );
        assert_eq!(codes("a\u{200b}b"), ["zero-width"]);
        assert_eq!(codes("p\u{430}ypal"), ["mixed-scripts"]);
        for honest in [
            "плюс minus",
            "👩‍👩‍👧 ❤️",
            "5 μm",
            "\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}",
            "naïve",
        ] {
            assert_eq!(codes(honest), Vec::<&str>::new(), "{honest}");
        }
    }
}
