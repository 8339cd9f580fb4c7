//! The name under which a skill is offered: its directory's, if it was installed under another name
//! than its author's, else its own.

use std::path::Path;

use crate::skill::{Skill, SkillName};

/// The name of a skill that was installed under another name than its author's: `<owner>--<name>`
/// or `<chosen>--`, exactly as the marketplace writes them. It stays the same when the skill it
/// made way for is gone, so the tool never changes its name.
fn own_name(dir: &Path) -> Option<SkillName> {
    let name = dir.file_name()?.to_str()?;
    let (first, second) = name.split_once("--")?;
    let is_key = |part: &str| SkillName::from_written(part).is_some_and(|key| key.as_str() == part);
    let is_ours = is_key(first) && (second.is_empty() || is_key(second));
    is_ours.then(|| SkillName::from_written(name)).flatten()
}

/// The name under which `skill` is offered if its directory is `dir`.
pub fn offered_name(dir: &Path, skill: &Skill) -> SkillName {
    own_name(dir).unwrap_or_else(|| skill.name.clone())
}

/// The name of an installed skill for people and the model, given its directory's name.
pub fn listed_name(directory: &str) -> String {
    let own = own_name(Path::new(directory));
    own.map_or_else(|| directory.to_owned(), |name| name.to_string())
}

/// The name of an unreadable skill, if its directory's name gives one.
pub fn named_by_directory(dir: &Path) -> Option<SkillName> {
    let directory = dir.file_name()?.to_str()?;
    own_name(dir).or_else(|| SkillName::from_written(directory))
}
