//! Changes skills locally: edits a copy of an installed skill and replaces the skill with it, or
//! creates a new skill. The lockfile still records what was installed, so an edited skill counts as
//! changed by hand: `verify` reports it, and `update` does not overwrite it.

use std::fs;
use std::io::Write;
use std::rc::Rc;

use crate::marketplace::install::change;
use crate::marketplace::install::plan::{self, Plan};
use crate::marketplace::install::{Agree, Difference, SkillChange, check_same_skill, copy_tree};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile};
use crate::marketplace::prelude::*;
use crate::marketplace::{Confirm, Market};

const SKILL_FILE: EntryName = EntryName::from_static("SKILL.md");

/// Edits the files of a skill in a directory that nobody else uses.
pub type Edit<'e> = dyn FnMut(&Dir) -> Result<()> + 'e;

impl Market<'_> {
    /// Checks that a skill can be changed here, before anything is prepared.
    ///
    /// # Errors
    /// When the skill is a link, pinned to a commit, or in a read-only directory.
    pub fn check_changeable(&self, name: &str) -> Result<()> {
        let dir = self.dir(name);
        if let Ok(to) = fs::read_link(&dir) {
            let text = format!("`{name}` is a link to a working copy, `{}`", to.display());
            return Err(Error::new(text).hint("change it there"));
        }
        for place in [self.plugin_dir.path(), &change::skills(self.plugin_dir)] {
            if !files::is_writable(place) {
                let place = place.display();
                let text =
                    format!("`{name}` cannot be changed: `{place}` is not yours to write to");
                return Err(Error::new(text).hint("ask its maintainer"));
            }
        }
        let lockfile = Lockfile::read(self.plugin_dir)?;
        if let Some(Pin::Commit(commit)) = lockfile.get(name).and_then(LockEntry::pin) {
            let text = format!("`{name}` is pinned to the commit {commit}");
            let hint = "what is pinned never changes: install it from a branch or tag instead";
            return Err(Error::new(text).hint(hint));
        }
        Ok(())
    }

    /// Changes the skill in the directory `name` after `agree` has approved the difference. The
    /// previous state is kept for `rollback`.
    ///
    /// # Errors
    /// When the skill cannot be changed, the edit fails or leaves no skill of that name, another
    /// process changes it meanwhile, or `agree` refuses. The skill is then unchanged.
    pub fn improve(&self, name: &str, edit: &mut Edit, agree: &mut Agree) -> Result<()> {
        let lockfile = self.begin()?;
        self.check_changeable(name)?;
        let entry = lockfile.get(name);
        let installed = self.dir(name);
        let before = Skill::load(&installed)
            .map_err(|diagnostic| Error::new(diagnostic.to_string()).hint("repair it first"))?;
        let now = Digest::read(&installed)?;
        let staging = self.staging()?;
        let name = &InstalledName::parse(name)?;
        let copy = staging.prepare(name)?;
        let from = Dir::anchor(&installed);
        let from = from.map_err(|error| Error::io("read", &installed, &error))?;
        copy_tree(&from, &copy)?;
        edit(&copy)?;
        let (after, digest, planned) = plan::look(copy.path(), name, "", Vec::new())?;
        check_same_skill(&before, &after)?;
        let mut difference = Difference::between(&installed, &now, &planned, &digest.files);
        difference.edited = entry.is_some_and(|entry| entry.sha256 != now.sha256);
        if !agree(&difference)? {
            return Err(Error::new("nothing was changed: you said no"));
        }
        let mut step = SkillChange::new(name, &copy, entry)?;
        step.seen = Some((now.sha256, entry.cloned()));
        self.apply(&mut self.changes(&staging)?, &mut [step])?;
        Ok(())
    }

    /// Creates the skill `name` from one `SKILL.md` after `agree` has approved it.
    ///
    /// # Errors
    /// When the name is taken, the skill cannot be written, or `agree` refuses.
    pub fn create(
        &self,
        name: &str,
        text: &str,
        source: &str,
        confirm: &mut Confirm,
    ) -> Result<()> {
        self.begin()?;
        let staging = self.staging()?;
        let name = &InstalledName::parse(name)?;
        let dir = staging.prepare(name)?;
        let written = dir.create(&SKILL_FILE, 0o644);
        let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| dir.error("write", &SKILL_FILE, &error))?;
        let (.., planned) = plan::look(dir.path(), name, "", Vec::new())?;
        let plan = Plan {
            chosen: false,
            source: source.to_owned(),
            commit: None,
            skills: vec![Rc::new(planned)],
        };
        if !confirm(&plan)? {
            return Err(Error::new("nothing was installed: you said no"));
        }
        let mut changes = self.changes(&staging)?;
        if changes.has(name) {
            let text = format!("a skill `{name}` already exists");
            return Err(Error::new(text).hint("reject the proposal"));
        }
        changes.make(&[&SkillChange::new(name, &dir, None)?])
    }
}
