//! Removes an installed skill. What the user typed is compared with the names in `skills/` and
//! never becomes a path.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::install::{names, swap};
use crate::marketplace::lock::{InstalledName, LockEntry, Lockfile};
use crate::skill::{Skill, SkillName};
use crate::sys::text::backticked;

/// A removed skill.
#[derive(Debug, Clone, Serialize)]
pub struct Removed {
    /// Its directory's name.
    pub name: String,
    /// Where the directory was.
    pub dir: PathBuf,
    /// Its source; `None` for a skill put there by hand.
    pub source: Option<String>,
}

impl Market<'_> {
    /// Removes a skill given as `NAME` or `OWNER/NAME`.
    ///
    /// # Errors
    /// When there is no such skill, it came from another owner, or it cannot be removed. It then
    /// stays complete.
    pub fn remove(&self, written: &str) -> Result<Removed> {
        self.clean_litter();
        let staging = self.staging()?;
        let mut changes = self.changes()?;
        let directory = self.installed(written)?;
        let source = changes.lockfile().get(&directory).cloned();
        changes.take_away(&staging, &directory)?;
        Ok(Removed {
            dir: self.dir(&directory),
            name: directory.to_string(),
            source: source.map(|entry| entry.source),
        })
    }

    /// The directory in `skills/` that `NAME`, `OWNER/NAME` or `NAME@OWNER` means. The name of a
    /// directory comes first, then that of its skill.
    pub(crate) fn installed(&self, written: &str) -> Result<InstalledName> {
        let of_owner = written.rsplit_once('@').map(|(name, owner)| (owner, name));
        let Some((owner, name)) = written.split_once('/').or(of_owner) else {
            return self.one_of(written, &self.directories());
        };
        let lockfile = Lockfile::read(self.plugin_dir)?;
        let is_owners = |directory: &InstalledName| {
            let real = lockfile.get(directory).and_then(LockEntry::owner);
            real.is_some_and(|real| real.eq_ignore_ascii_case(owner))
        };
        let directories = self.directories();
        let mut of_owner = directories.clone();
        of_owner.retain(is_owners);
        if let Ok(directory) = self.one_of(name, &of_owner) {
            return Ok(directory);
        }
        let directory = self.one_of(name, &directories)?;
        let from = match lockfile.get(&directory) {
            Some(entry) => format!("came from {}", entry.source),
            None => "was put there by hand".to_owned(),
        };
        let owner = owner.escape_debug();
        let text = format!("the skill `{directory}` is not `{owner}`'s: it {from}");
        Err(Error::new(text).hint(format!("`{directory}` alone means it")))
    }

    fn one_of(&self, written: &str, directories: &[InstalledName]) -> Result<InstalledName> {
        if let Some(exact) = directories.iter().find(|name| ***name == *written) {
            return Ok(exact.clone());
        }
        let key = SkillName::from_written(written);
        let root = swap::skills(self.plugin_dir);
        let named = |directory: &&InstalledName| {
            let skill = || Skill::load(&root.join(&***directory));
            SkillName::from_written(directory) == key
                || skill().is_ok_and(|skill| Some(skill.name) == key)
        };
        let matching: Vec<&InstalledName> = directories.iter().filter(named).collect();
        match matching.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(not_installed(written, directories)),
            several => {
                let choices = backticked(several.iter().map(|name| &***name), " or ");
                let text = format!("`{}` could be {choices}", written.escape_debug());
                Err(Error::new(text).hint("give the name of the directory"))
            }
        }
    }

    /// The valid skill names in `skills/`, sorted.
    pub fn directories(&self) -> Vec<InstalledName> {
        names::directories(&swap::skills(self.plugin_dir))
    }
}

fn not_installed(written: &str, directories: &[InstalledName]) -> Error {
    let hint = match nearest(written, directories.iter().map(|name| &**name)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`agent-skills list-installed` shows what is installed".to_owned(),
    };
    let text = format!("the skill `{}` is not installed", written.escape_debug());
    Error::new(text).hint(hint)
}

/// The most similar name, to suggest it.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let distance = |name: &&str| strsim::osa_distance(name, written);
    let near = |name: &&str| distance(name) <= 1 + name.chars().count() / 4;
    names.into_iter().min_by_key(distance).filter(near)
}
