//! The text of a `SKILL.md` with the positions of its parts.

use std::ops::Range;

use crate::fields::folds_to;
use crate::split;

/// A text and the positions of its parts.
#[derive(Debug)]
pub struct Source {
    /// The whole text.
    pub text: String,
    /// The range of the frontmatter's YAML; empty if there is none.
    pub yaml: Range<usize>,
    /// The offset of the body.
    pub body: usize,
}

impl Source {
    /// Splits a text.
    pub fn new(text: String) -> Self {
        let split = split(&text);
        let yaml = split.yaml.map_or(0..0, |yaml| {
            let start = offset_in(&text, yaml);
            start..start + yaml.len()
        });
        let body = offset_in(&text, split.body);
        Self { text, yaml, body }
    }

    /// The line and column, from 1, of an offset.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        place(&self.text, offset)
    }

    /// The place of a top-level frontmatter key; otherwise the file's first line.
    pub fn key(&self, key: &str) -> (usize, usize) {
        key_offset(&self.text[self.yaml.clone()], key)
            .map_or((1, 1), |at| self.place(self.yaml.start + at))
    }

    /// The place of some words in the frontmatter; otherwise the key's place.
    pub fn words(&self, key: &str, words: &str) -> (usize, usize) {
        let yaml = &self.text[self.yaml.clone()];
        let from = key_offset(yaml, key).unwrap_or(0);
        match yaml[from..].find(words).filter(|_| !words.is_empty()) {
            Some(at) => self.place(self.yaml.start + from + at),
            None => self.key(key),
        }
    }

    /// The body, as it is written.
    pub fn body_text(&self) -> &str {
        &self.text[self.body..]
    }
}

/// The line and column, from 1, of an offset in a text.
pub fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.matches('\n').count() + 1;
    let begun = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[begun..].chars().count() + 1)
}

/// The offset of a top-level key in any spelling, with or without quotes.
pub fn key_offset(yaml: &str, key: &str) -> Option<usize> {
    let letters = key.chars().filter(|c| c.is_alphanumeric());
    let folded = letters.collect::<String>().to_ascii_lowercase();
    let is_key = |line: &&str| {
        let key = line.split_once(':').map(|(key, _)| key);
        key.is_some_and(|key| !key.starts_with([' ', '\t', '#', '-']) && folds_to(key, &folded))
    };
    yaml.lines().find(is_key).map(|line| offset_in(yaml, line))
}

/// The offset of `part` in the text that it is a slice of.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}
