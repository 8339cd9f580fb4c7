//! The name that identifies a skill: safe as a path component, as an argument and in a message.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::hidden::is_invisible;

/// Lowercase letters and digits of any script in groups joined by single hyphens, at most
/// [`SkillName::MAX`] characters (specification, field `name`). Whatever was written, it is never a
/// path, an option or empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SkillName(String);

impl SkillName {
    /// The specification's limit, in characters.
    pub const MAX: usize = 64;

    /// The name for `written`: NFKC, lowercase, every other character a hyphen. `None` if no letter
    /// or digit is left.
    pub fn from_written(written: &str) -> Option<Self> {
        // Most names are valid already, and checking that needs no Unicode tables.
        if is_plain(written) {
            return Some(Self(written.to_owned()));
        }
        let inside = Self::folded(written, "").skip_while(|c| *c == '-');
        let mut name: String = inside.take(Self::MAX).collect();
        name.truncate(name.trim_end_matches('-').len());
        (!name.is_empty()).then_some(Self(name))
    }

    /// The form in which a glob of names is compared with them; its `wildcards` stay, of which `*`
    /// stands for any text and others for one character.
    ///
    /// # Errors
    /// Why no name matches it.
    pub fn glob(written: &str, wildcards: &str) -> Result<String, &'static str> {
        let folded: String = Self::folded(written, wildcards).collect();
        if !folded.contains(|c| wildcards.contains(c)) {
            let name = Self::from_written(written).ok_or("it has no letter or digit")?;
            return Ok(name.0);
        }
        if folded.starts_with('-') || folded.ends_with('-') {
            return Err("names begin and end with a letter or digit");
        }
        if folded.chars().filter(|c| *c != '*').count() > Self::MAX {
            return Err("names have at most 64 characters");
        }
        Ok(folded)
    }

    /// The characters that a name has for `written`, and those to `keep`; uncut, and perhaps with a
    /// hyphen at either end.
    fn folded<'a>(written: &'a str, keep: &'a str) -> impl Iterator<Item = char> + 'a {
        let mut before = None;
        let folded = written.nfkc().flat_map(char::to_lowercase).map(move |c| {
            // Some letters are invisible, and no two names may differ only by those.
            let shows = c.is_alphanumeric() && !is_invisible(c);
            if shows || keep.contains(c) { c } else { '-' }
        });
        folded.filter(move |c| before.replace(*c) != Some('-') || *c != '-')
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_plain(written: &str) -> bool {
    let is_letter = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(is_letter);
    written.len() <= SkillName::MAX && written.as_bytes().split(|byte| *byte == b'-').all(is_word)
}

impl Borrow<str> for SkillName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_from_the_wild_become_keys() {
        for (written, key) in [
            ("pdf", "pdf"),
            ("ce:work", "ce-work"),
            ("obra/superpowers@x", "obra-superpowers-x"),
            ("PDF OCR", "pdf-ocr"),
            ("-2chat", "2chat"),
            ("../x", "x"),
            ("pdf\u{3164}", "pdf"),
            ("--help", "help"),
            ("my_skill", "my-skill"),
            ("my--skill", "my-skill"),
            ("技能", "技能"),
            ("мой-навык", "мой-навык"),
            ("cafe\u{301}", "caf\u{e9}"),
            (" x ", "x"),
        ] {
            assert_eq!(
                SkillName::from_written(written).unwrap().as_str(),
                key,
                "{written}"
            );
        }
        for nothing in ["", "..", "/", "---", "\u{200b}"] {
            assert_eq!(SkillName::from_written(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn a_name_is_cut_at_64_characters() {
        let long = SkillName::from_written(&"ä".repeat(65)).unwrap();
        assert_eq!(long.as_str().chars().count(), 64);
        let hyphen_at_the_cut = format!("{}-b", "a".repeat(63));
        assert_eq!(
            SkillName::from_written(&hyphen_at_the_cut)
                .unwrap()
                .as_str(),
            "a".repeat(63)
        );
    }

    proptest! {
        #[test]
        fn a_key_is_safe_and_stays_what_it_is(written in any::<String>()) {
            if let Some(name) = SkillName::from_written(&written) {
                prop_assert!(name.as_str().chars().count() <= 64);
                prop_assert!(!name.as_str().contains(['/', '\\', '.', '\0', ' ']));
                prop_assert!(!name.as_str().starts_with('-') && !name.as_str().ends_with('-'));
                prop_assert_eq!(SkillName::from_written(name.as_str()), Some(name.clone()));
            }
        }
    }
}
