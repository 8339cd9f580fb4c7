//! The level and the remedy of each code. Codes are an interface: pipelines filter by them, so their
//! meaning never changes.

use serde::{Deserialize, Serialize};

use Level::{Error, Note, Warning};

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Unusual, but without consequence.
    Note,
    /// The skill works, but probably not as its author intended.
    Warning,
    /// The skill is not offered to the model.
    Error,
}

impl Level {
    /// The level as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A code, its level, and a one-line remedy.
pub type Rule = (&'static str, Level, &'static str);

/// Every rule: those of [`Diagnostic`](crate::Diagnostic), then those of [`lint`](crate::lint).
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    ("not-utf8", Warning, "save the file as UTF-8"),
    ("no-frontmatter", Error, "begin with `---`, `name:`, `description:`, `---`, a line each"),
    ("foreign-fence", Error, "write YAML between two lines `---`"),
    ("wrapped-in-fence", Note, "remove the file's first and last line"),
    ("no-opening-fence", Warning, "put a line `---` before the first key"),
    ("text-before-frontmatter", Warning, "move the text below the frontmatter"),
    ("unclosed-frontmatter", Warning, "put a line `---` after the last key"),
    ("glued-fence", Note, "give the closing `---` a line of its own"),
    ("frontmatter-too-large", Warning, "move long values into the body or into files"),
    ("yaml-repaired", Warning, "quote the value"),
    ("name-missing", Note, "add `name:` with the directory's name"),
    ("name-unusable", Error, "use lowercase letters, digits and single hyphens"),
    ("name-too-long", Warning, "shorten it to 64 characters"),
    ("name-altered", Note, "use lowercase letters, digits and single hyphens, as the directory"),
    ("name-mismatch", Note, "give the directory and `name` the same name"),
    ("description-missing", Error, "add `description:`: what the skill does, and when to use it"),
    ("description-too-long", Note, "shorten it to 1024 characters; details belong in the body"),
    ("hooks-unclear", Warning, "write `hooks: {pre: scripts/a.sh, post: scripts/b.sh}`"),
    ("foreign-hooks", Note, "tell the model to run them, or what to do without"),
    ("allowed-tools-spelling", Warning, "spell the key `allowed-tools`"),
    ("null-allowed-tools", Warning, "list tools, write `\"\"` to allow none, or remove the key"),
    ("key-not-read", Warning, "write the key on a line of its own with a value that is valid YAML"),
    ("near-miss", Warning, "spell the key so, at the top level, or rename it"),
    ("allowed-tools-twice", Warning, "keep one list"),
    ("commands-not-run", Note, "tell the model to run them, or what to do without"),
    ("many-tokens", Warning, "keep the body below 8000 tokens: move details to files below references/"),
    ("byte-order-mark", Note, "save the file without one"),
    ("line-ends", Note, "use Unix line ends"),
    ("description-no-when", Warning, "say when: add a sentence that begins with `Use when`"),
    ("description-overlap", Warning, "say in each description what the other is not for, or merge them"),
    ("unknown-field", Note, "other clients may not know it: move it below `metadata`"),
    ("field-spelling", Warning, "spell it as the documentation does"),
    ("field-value", Warning, "write a value that the field takes"),
    ("field-ignored", Note, "remove it unless it is for another client"),
    ("compatibility-too-long", Note, "shorten it to 500 characters"),
    ("body-empty", Warning, "write what the model is to do"),
    ("body-lines", Warning, "keep the body below 500 lines: move details to files below references/"),
];

/// The level and the remedy of a code of ours.
pub(crate) fn of(code: &str) -> (Level, &'static str) {
    let rule = RULES.iter().find(|(known, ..)| *known == code);
    rule.map_or((Warning, ""), |(_, level, remedy)| (*level, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_remedies_are_one_short_line() {
        for (at, (code, _, remedy)) in RULES.iter().enumerate() {
            assert!(
                RULES[at + 1..].iter().all(|(other, ..)| other != code),
                "{code}"
            );
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '-' || c == '8';
            assert!(code.chars().all(is_plain), "{code}");
            assert!(
                !remedy.is_empty() && !remedy.contains('\n') && remedy.len() < 110,
                "{code}"
            );
        }
    }
}
