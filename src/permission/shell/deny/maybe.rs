//! Texts that a program may run, although it is not known to.

use std::borrow::Cow;

use crate::permission::shell::runners;
use crate::permission::shell::word::Word;

/// The texts in an argument that may each be a command line.
pub fn texts(word: &Word) -> Vec<String> {
    let text = text(word.text(), &word.raw);
    let is_line = text.contains(|c: char| c.is_whitespace() || "<>;|&$`{(\\'\"".contains(c));
    let mut found: Vec<String> = Vec::new();
    if is_line {
        found.extend(runners::texts(&text).map(str::to_owned));
    }
    found.extend(value(Some(&text), "").filter(|value| !found.contains(value)));
    found
}

/// What is assigned in `NAME=VALUE` or `--option=VALUE`.
pub fn value(known: Option<&str>, raw: &str) -> Option<String> {
    let text = text(known, raw);
    let (_, value) = text.split_once('=')?;
    (!value.is_empty()).then(|| value.to_owned())
}

/// The text of a word. What is not known of it stays as it is written.
fn text<'t>(known: Option<&'t str>, raw: &str) -> Cow<'t, str> {
    match known {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(raw.replace(['"', '\''], "")),
    }
}
