//! Removing an installed skill, found among what really is in `skills/`: what was typed is compared
//! with names there, and never becomes a path.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use super::market::Market;
use super::staging::Staging;
use super::swap::{self, Changes};
use crate::error::{Error, Result};
use crate::skill::{Skill, SkillName};

/// A skill that is gone.
#[derive(Debug, Clone, Serialize)]
pub struct Removed {
    /// Its directory's name.
    pub name: String,
    /// Where the directory was.
    pub dir: PathBuf,
    /// Where it had come from; `None` for one put there by hand.
    pub source: Option<String>,
}

impl Market<'_> {
    /// Removes a skill given as `NAME` or `OWNER/NAME`.
    ///
    /// # Errors
    /// When there is no such skill, or it came from another owner; when it cannot be removed, and
    /// is then still there, whole.
    pub fn remove(&self, written: &str) -> Result<Removed> {
        self.clean_litter();
        let (owner, name) = match written.split_once('/') {
            Some((owner, name)) => (Some(owner), name),
            None => (None, written),
        };
        let staging = Staging::new(self.plugin_dir, self.patience())?;
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        let directory = self.installed(name)?;
        let source = changes.lockfile().get(&directory).cloned();
        if let Some(owner) = owner {
            let real = source.as_ref().and_then(super::LockEntry::owner);
            if !real
                .as_deref()
                .is_some_and(|real| real.eq_ignore_ascii_case(owner))
            {
                let from = source.map_or("was put there by hand".to_owned(), |entry| {
                    format!("came from {}", entry.source)
                });
                let text = format!(
                    "the skill `{directory}` is not `{}`'s: it {from}",
                    owner.escape_debug()
                );
                return Err(
                    Error::new(text).hint(format!("`agent-skills remove {directory}` removes it"))
                );
            }
        }
        changes.take_away(&staging, &directory)?;
        Ok(Removed {
            dir: swap::skills(self.plugin_dir).join(&directory),
            name: directory,
            source: source.map(|entry| entry.source),
        })
    }

    /// The directory in `skills/` that a name means: the directory's own, else the skill's.
    pub(super) fn installed(&self, written: &str) -> Result<String> {
        let directories = self.directories();
        if let Some(exact) = directories.iter().find(|directory| *directory == written) {
            return Ok(exact.clone());
        }
        let key = SkillName::from_written(written);
        let root = swap::skills(self.plugin_dir);
        let named = |directory: &&String| {
            key.as_ref().is_some_and(|key| key.as_str() == *directory)
                || Skill::load(&root.join(directory))
                    .is_ok_and(|skill| Some(&skill.name) == key.as_ref())
        };
        let matching: Vec<&String> = directories.iter().filter(named).collect();
        match matching.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(not_installed(written, &directories)),
            several => {
                let choices: Vec<String> = several.iter().map(|name| format!("`{name}`")).collect();
                let text = format!(
                    "`{}` could be {}",
                    written.escape_debug(),
                    choices.join(" or ")
                );
                Err(Error::new(text).hint("give the name of the directory"))
            }
        }
    }

    /// The names in `skills/` that a skill can have, sorted.
    pub(super) fn directories(&self) -> Vec<String> {
        let entries = fs::read_dir(swap::skills(self.plugin_dir))
            .into_iter()
            .flatten()
            .flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    }
}

fn not_installed(written: &str, directories: &[String]) -> Error {
    let distance = |name: &&String| strsim::osa_distance(name, written);
    let near = |name: &&String| distance(name) <= 1 + name.chars().count() / 4;
    let nearest = directories.iter().min_by_key(distance).filter(near);
    let hint = match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`agent-skills list-installed` shows what is installed".to_owned(),
    };
    Error::new(format!(
        "the skill `{}` is not installed",
        written.escape_debug()
    ))
    .hint(hint)
}
