//! The text of a `SKILL.md` with positions, and the skills that a path means.

use super::prelude::*;
use crate::skill::{find_skill_file, folds_to, unreadable};

/// Directories without skills of the user's own.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", "__pycache__"];

/// Placeholders for the skill's own directory (docs/spec/skills.md#bodies).
pub const OWN_DIRECTORY: [&str; 4] = [
    "${CLAUDE_SKILL_DIR}",
    "${SKILL_DIR}",
    "$SKILL_DIR",
    "{baseDir}",
];

/// A skill's text and the positions of its parts.
#[derive(Debug)]
pub struct SkillSource {
    /// The skill, read by the lenient parser.
    pub skill: Skill,
    /// The whole text of its `SKILL.md`.
    pub text: String,
    /// The range of the frontmatter's YAML; empty if there is none.
    pub yaml: std::ops::Range<usize>,
    /// The offset of the body.
    pub body: usize,
}

impl SkillSource {
    /// The source of a loaded skill.
    pub fn read(skill: Skill) -> Self {
        let bytes = files::read_capped(&skill.file, limits::SKILL_FILE).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let split = split_frontmatter(&text);
        let yaml = split.yaml.map_or(0..0, |yaml| {
            let start = offset_in(&text, yaml);
            start..start + yaml.len()
        });
        let body = offset_in(&text, split.body);
        Self {
            skill,
            text,
            yaml,
            body,
        }
    }

    /// The displayed name of its file.
    pub fn file(&self) -> String {
        self.skill.file.display().to_string()
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

    /// The instructions.
    pub fn body_text(&self) -> &str {
        &self.text[self.body..]
    }
}

/// The skill's other Markdown files, with their texts: by path in the skill, as many as are read.
pub fn other_texts(dir: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let mut left = limits::INSTALL_BYTES;
    Resource::all(dir).into_iter().filter_map(move |resource| {
        let extension = resource.path.extension()?;
        if !extension.eq_ignore_ascii_case("md") {
            return None;
        }
        let path = dir.join(&resource.path);
        let bytes = files::read_capped(&path, limits::SKILL_FILE.min(left)).ok()?;
        left -= bytes.len() as u64;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some((resource.path, text))
    })
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
pub fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Whether a path is a skill's file, in any letter case; it then means its directory.
pub fn is_skill_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.eq_ignore_ascii_case("SKILL.md") && path.is_file()
}

/// The directories of the skills that a path means: the path itself, its parent if it is a skill's
/// file, otherwise every skill below it. Empty if there are none.
pub fn skills_at(path: &Path) -> Vec<PathBuf> {
    if is_skill_file(path) {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        return vec![dir.unwrap_or(Path::new(".")).to_owned()];
    }
    let mut found = Vec::new();
    collect(path, 0, &mut found);
    found.sort();
    found
}

fn collect(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    // What cannot be read is reported, not passed over.
    if find_skill_file(dir).is_some() || unreadable(dir).is_some() {
        found.push(dir.to_owned());
        return;
    }
    if depth >= limits::WALK_DEPTH || found.len() >= limits::TREE_SKILLS {
        return;
    }
    for (name, kind) in files::entries(dir).into_iter().flatten() {
        let name = name.as_os_str();
        if kind == EntryKind::Dir && !SKIPPED.iter().any(|skipped| name == *skipped) {
            collect(&dir.join(name), depth + 1, found);
        }
    }
}
