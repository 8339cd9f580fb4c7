//! What the arguments of one of our own tools mean. A rule is compared with what the tool will do,
//! not with one of the ways to write it (docs/spec/restriction.md#argument-patterns).

use super::command::{Canonical, CommandPattern};
use super::list::Purpose;

/// One value of an argument. Each value of an argument that takes several is one of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meant {
    /// The argument. What may be given under several keys is there once for each.
    pub key: &'static str,
    /// The texts that mean this value, each certainly nothing else. Without any, no rule grants it.
    pub forms: Vec<String>,
    /// What means it only if no other skill has that name: it counts for denials.
    pub maybe: Option<String>,
    /// Whether it is a skill, whose name rules may spell as freely as calls.
    pub is_skill: bool,
}

impl Meant {
    /// A value that is a text.
    pub fn text(key: &'static str, text: impl Into<String>) -> Self {
        Self::any(key, vec![text.into()])
    }

    /// A value that has these forms.
    pub fn any(key: &'static str, forms: Vec<String>) -> Self {
        Self {
            key,
            forms,
            maybe: None,
            is_skill: false,
        }
    }

    /// A skill that has these names.
    pub fn skill(key: &'static str, names: Vec<String>) -> Self {
        Self {
            is_skill: true,
            ..Self::any(key, names)
        }
    }

    /// Whether `glob` covers this value.
    pub fn is_covered(&self, glob: &str, purpose: Purpose) -> bool {
        let exact = self.forms.iter().any(|form| fits(glob, form));
        let folds = |form: &String| fits(&folded(glob), &folded(form));
        let loosely = || self.is_skill && self.forms.iter().chain(&self.maybe).any(folds);
        exact || purpose == Purpose::Deny && loosely()
    }
}

/// Whether a glob, in which only `*` is special, covers a text.
pub fn fits(glob: &str, text: &str) -> bool {
    let mut canonical = Canonical::default();
    canonical.literal(text);
    CommandPattern::text(glob).matches(&canonical)
}

/// A skill's name or a glob of names, in the form in which they are compared: words of letters and
/// digits, joined by hyphens (docs/spec/skills.md#names).
fn folded(written: &str) -> String {
    let lower = written.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '*');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-")
}
