//! A skill with the text of its `SKILL.md`, and the skills that a path means.

use super::prelude::*;
use crate::skill::{find_skill_file, unreadable};
use skill_format::Source;
use std::ops::Deref;

/// Directories without skills of the user's own.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", "__pycache__"];

/// Placeholders for the skill's own directory (docs/spec/skills.md#bodies).
pub const OWN_DIRECTORY: [&str; 4] = [
    "${CLAUDE_SKILL_DIR}",
    "${SKILL_DIR}",
    "$SKILL_DIR",
    "{baseDir}",
];

/// A skill and the text of its `SKILL.md`.
#[derive(Debug)]
pub struct SkillSource {
    /// The skill, read by the lenient parser.
    pub skill: Skill,
    source: Source,
}

impl Deref for SkillSource {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.source
    }
}

impl SkillSource {
    /// The source of a loaded skill.
    pub fn read(skill: Skill) -> Self {
        let bytes = files::read_capped(&skill.file, limits::SKILL_FILE).unwrap_or_default();
        let source = Source::new(String::from_utf8_lossy(&bytes).into_owned());
        Self { skill, source }
    }

    /// The displayed name of its file.
    pub fn file(&self) -> String {
        self.skill.file.display().to_string()
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
