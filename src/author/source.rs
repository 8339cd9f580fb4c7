//! One `SKILL.md` as text with places, and which skills a path means.

use std::fs;
use std::path::{Path, PathBuf};

use crate::skill::{Skill, find_skill_file, split_frontmatter};
use crate::sys::{files, limits};

/// Directories that hold nobody's own skills.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", "__pycache__"];

/// A skill's text and where things stand in it.
#[derive(Debug)]
pub struct Source {
    /// The skill, read as leniently as everywhere.
    pub skill: Skill,
    /// The whole of its `SKILL.md`.
    pub text: String,
    /// Where the frontmatter's YAML begins and ends; empty where there is none.
    pub yaml: std::ops::Range<usize>,
    /// Where the body begins.
    pub body: usize,
}

impl Source {
    /// The text of a skill that was loaded.
    pub fn of(skill: Skill) -> Self {
        let bytes = files::read_capped(&skill.file, limits::SKILL_FILE).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let split = split_frontmatter(&text);
        let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        let yaml = split
            .yaml
            .map_or(0..0, |yaml| offset(yaml)..offset(yaml) + yaml.len());
        let body = offset(split.body);
        Self {
            skill,
            text,
            yaml,
            body,
        }
    }

    /// The name of its file as it is shown.
    pub fn file(&self) -> String {
        self.skill.file.display().to_string()
    }

    /// The line and column, from 1, of an offset.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        place(&self.text, offset)
    }

    /// Where a top-level key of the frontmatter stands; else the file's first line.
    pub fn key(&self, key: &str) -> (usize, usize) {
        key_offset(&self.text[self.yaml.clone()], key)
            .map_or((1, 1), |at| self.place(self.yaml.start + at))
    }

    /// Where some words stand in the frontmatter; else the key's place.
    pub fn words(&self, key: &str, words: &str) -> (usize, usize) {
        let yaml = &self.text[self.yaml.clone()];
        let from = key_offset(yaml, key).unwrap_or(0);
        match yaml[from..].find(words).filter(|_| !words.is_empty()) {
            Some(at) => self.place(self.yaml.start + from + at),
            None => self.key(key),
        }
    }

    /// The instructions.
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

/// Where a top-level key begins, whatever spelling or quotes its author chose.
pub fn key_offset(yaml: &str, key: &str) -> Option<usize> {
    let letters = |text: &str| {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let mut at = 0;
    for line in yaml.split_inclusive('\n') {
        let written = line.split_once(':').map(|(key, _)| key);
        let top = |written: &&str| !written.starts_with([' ', '\t', '#', '-']);
        if written
            .filter(top)
            .is_some_and(|written| letters(written) == letters(key))
        {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// The directories of the skills that a path means: the skill's own, its file's, else those of
/// every skill below it. Empty when there are none.
pub fn skills_at(path: &Path) -> Vec<PathBuf> {
    if super::strict::is_skill_file(path) {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        return vec![dir.unwrap_or(Path::new(".")).to_owned()];
    }
    let mut found = Vec::new();
    collect(path, 0, &mut found);
    found.sort();
    found
}

fn collect(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if find_skill_file(dir).is_some() {
        found.push(dir.to_owned());
        return;
    }
    if depth >= limits::WALK_DEPTH || found.len() >= limits::TREE_SKILLS {
        return;
    }
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_dir && !SKIPPED.iter().any(|name| entry.file_name() == *name) {
            collect(&entry.path(), depth + 1, found);
        }
    }
}
