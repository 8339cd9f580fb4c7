//! Removes an installed skill. What the user typed is compared with the names in `skills/` and
//! never becomes a path.

use std::path::Path;

use crate::marketplace::Market;
use crate::marketplace::install::{SkillChange, change, names};
use crate::marketplace::lock::{InstalledName, LockEntry, Lockfile, listed_name};
use crate::marketplace::prelude::*;
use crate::sys::text::{backticked, nearest};

/// A skill that was removed.
#[derive(Debug)]
pub struct RemovedSkill {
    /// The name of its directory.
    pub name: InstalledName,
    /// Its lockfile entry; `None` for one put there by hand.
    pub entry: Option<LockEntry>,
    /// Whether it is in the stash, from which `rollback` brings it back.
    pub is_stashed: bool,
}

impl Market<'_> {
    /// Removes a skill given as `NAME` or `OWNER/NAME`. One that no source can bring back is moved to
    /// the stash, if `agrees`.
    ///
    /// # Errors
    /// When there is no such skill, it came from another owner, nobody agreed, or it cannot be
    /// removed. It then stays complete.
    pub fn remove(
        &self,
        written: &str,
        agrees: impl FnOnce(&InstalledName, &str) -> Result<bool>,
    ) -> Result<RemovedSkill> {
        self.clean_litter();
        let staging = self.staging()?;
        let name = match self.gone(written) {
            Some(gone) => gone,
            None => self.installed(written)?,
        };
        let seen = self.unsaved(&name, self.origin(&name)?.as_ref());
        if let Some(unsaved) = seen.as_deref().filter(|_| !self.dry_run)
            && !agrees(&name, unsaved)?
        {
            let text = format!("`{name}` was not removed: you said no");
            return Err(Error::new(text));
        }
        let mut changes = self.changes(&staging)?;
        let entry = changes.lockfile().get(&name).cloned();
        let is_stashed = self.unsaved(&name, entry.as_ref()).is_some();
        if is_stashed && seen.is_none() {
            let text = format!("`{name}` has just been changed, so it was not removed");
            return Err(Error::new(text).hint("the same command asks whether to remove it"));
        }
        let mut step = SkillChange::gone(&name);
        step.stashes = is_stashed;
        self.apply(&mut changes, &mut [step])?;
        Ok(RemovedSkill {
            name,
            entry,
            is_stashed,
        })
    }

    /// Why nothing could bring the skill `name` back, were it removed; `None` if its source could,
    /// or it is a link.
    fn unsaved(&self, name: &InstalledName, entry: Option<&LockEntry>) -> Option<String> {
        let dir = self.dir(name);
        if dir.is_symlink() || !dir.is_dir() {
            return None;
        }
        let Some(entry) = entry else {
            return Some("was put there by hand".to_owned());
        };
        let Ok(now) = self.compare(entry) else {
            // What cannot be compared may have been changed.
            return Some("was changed here".to_owned());
        };
        if !now.is_well() {
            let missing = now.missing.iter().map(|file| format!("{file} (gone)"));
            let extra = now.extra.iter().map(|file| format!("{file} (new)"));
            let files = now.changed.iter().cloned().chain(missing).chain(extra);
            let files = files.collect::<Vec<_>>().join(", ");
            return Some(format!("was changed here ({files})"));
        }
        let is_gone = entry.kind == SourceKind::Local && !Path::new(&entry.source).exists();
        is_gone.then(|| format!("came from `{}`, which is gone", entry.source))
    }

    /// The directory in `skills/` that `NAME`, `OWNER/NAME` or `NAME@OWNER` means. `NAME` alone is the
    /// exact name of a directory, or the one by which `list` shows it: what is changed or removed is
    /// never a namesake from elsewhere.
    pub(crate) fn installed(&self, written: &str) -> Result<InstalledName> {
        let directories = self.directories();
        let of_owner = written.rsplit_once('@').map(|(name, owner)| (owner, name));
        let Some((owner, name)) = written.split_once('/').or(of_owner) else {
            let exact = one_of(&directories, &[written, &format!("{written}--")]);
            let mut listed = directories.iter().filter(|one| listed_name(one) == written);
            let only = match (listed.next(), listed.next()) {
                (Some(one), None) => Some(one.clone()),
                _ => None,
            };
            return exact.or(only).ok_or_else(|| self.not_installed(written));
        };
        let lockfile = Lockfile::read(self.plugin_dir)?;
        let is_owners = |directory: &InstalledName| {
            let real = lockfile.get(directory).and_then(LockEntry::owner);
            real.is_some_and(|real| real.eq_ignore_ascii_case(owner))
        };
        let (theirs, others): (Vec<_>, Vec<_>) = directories.into_iter().partition(is_owners);
        let beside = format!("{}--{name}", owner.to_lowercase());
        if let Some(exact) = one_of(&theirs, &[name, &beside]) {
            return Ok(exact);
        }
        match self.alike(name, &theirs).as_slice() {
            [one] => return Ok((*one).clone()),
            [] => {}
            several => {
                let choices = backticked(several.iter().map(|name| &***name), " or ");
                let text = format!("`{}` could be {choices}", written.escape_debug());
                return Err(Error::new(text).hint("give the name of the directory"));
            }
        }
        let others = self.alike(name, &others);
        let directory = others.first().ok_or_else(|| self.not_installed(name))?;
        let from = match lockfile.get(directory) {
            Some(entry) => format!("came from {}", entry.source),
            None => "was put there by hand".to_owned(),
        };
        let owner = owner.escape_debug();
        let text = format!("the skill `{directory}` is not `{owner}`'s: it {from}");
        Err(Error::new(text).hint(format!("`{directory}` alone means it")))
    }

    /// Those directories whose own or skill's name this could be.
    fn alike<'d>(&self, written: &str, directories: &'d [InstalledName]) -> Vec<&'d InstalledName> {
        let key = SkillName::from_written(written);
        let root = change::skills(self.plugin_dir);
        let named = |directory: &&InstalledName| {
            let skill = || Skill::load(&root.join(&***directory));
            SkillName::from_written(directory) == key
                || skill().is_ok_and(|skill| Some(skill.parsed.name) == key)
        };
        directories.iter().filter(named).collect()
    }

    /// Whether `written` means a skill here, or one that is [`Market::gone`].
    pub fn has(&self, written: &str) -> bool {
        self.installed(written).is_ok() || self.gone(written).is_some()
    }

    /// The skill of this name that the lockfile has, although its directory is gone.
    pub fn gone(&self, written: &str) -> Option<InstalledName> {
        let lockfile = Lockfile::read(self.plugin_dir).ok()?;
        let entry = lockfile.get(written)?;
        (!self.dir(&entry.name).is_dir()).then(|| entry.name.clone())
    }

    /// That the directory of a skill is gone, and the ways out.
    pub fn is_gone(name: &str) -> Error {
        let text = format!("the directory of the installed skill `{name}` is gone");
        Error::new(text).hint(format!(
            "`agent-skills verify --fix {name}` brings it back, `agent-skills remove {name}` \
             forgets it"
        ))
    }

    fn not_installed(&self, written: &str) -> Error {
        if let Some(gone) = self.gone(written) {
            return Self::is_gone(&gone);
        }
        let directories = self.directories();
        let alike = self.alike(written, &directories);
        let near = || nearest(written, directories.iter().map(|name| &**name));
        let hint = match alike.first().map(|name| &***name).or_else(near) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "`agent-skills list` shows what is installed".to_owned(),
        };
        let text = format!("the skill `{}` is not installed", written.escape_debug());
        Error::new(text).hint(hint)
    }

    /// The valid skill names in `skills/`, sorted.
    pub fn directories(&self) -> Vec<InstalledName> {
        names::directories(&change::skills(self.plugin_dir))
    }
}

/// The first of these names that a directory has.
fn one_of(directories: &[InstalledName], names: &[&str]) -> Option<InstalledName> {
    let directory = |name: &&str| directories.iter().find(|directory| ***directory == **name);
    names.iter().find_map(directory).cloned()
}
