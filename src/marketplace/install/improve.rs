//! Changes skills locally: edits a copy of an installed skill and replaces the skill with it, or
//! creates a new skill. The lockfile still records what was installed, so an edited skill counts as
//! changed by hand: `verify` reports it, and `update` does not overwrite it.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::marketplace::fetch::tree_copy;
use crate::marketplace::install::difference::Difference;
use crate::marketplace::install::plan::{self, Plan};
use crate::marketplace::install::swap::{self, Changes, Existing};
use crate::marketplace::install::update::Agree;
use crate::marketplace::lock::digest::Digest;
use crate::marketplace::lock::installed_name::InstalledName;
use crate::marketplace::lock::lockfile::{LockEntry, Lockfile};
use crate::marketplace::market::Market;
use crate::marketplace::options::Confirm;
use crate::marketplace::reference::pin::Pin;
use crate::skill::Skill;
use crate::sys::{Dir, EntryName, files};

const SKILL_FILE: EntryName = EntryName::of("SKILL.md");

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
        for place in [self.plugin_dir.path(), &swap::skills(self.plugin_dir)] {
            if !files::is_writable(place) {
                let text = format!(
                    "`{name}` cannot be changed: `{}` is not yours to write to",
                    place.display()
                );
                return Err(Error::new(text).hint("ask whoever looks after it"));
            }
        }
        match Lockfile::read(self.plugin_dir)?
            .get(name)
            .and_then(LockEntry::pin)
        {
            Some(Pin::Commit(commit)) => {
                let text = format!("`{name}` is pinned to the commit {commit}");
                Err(Error::new(text)
                    .hint("what is pinned never changes: install it from a branch or tag instead"))
            }
            _ => Ok(()),
        }
    }

    /// Changes the skill in the directory `name` after `agree` has approved the difference. The
    /// previous state is kept for `rollback`.
    ///
    /// # Errors
    /// When the skill cannot be changed, the edit fails or leaves no skill of that name, another
    /// process changes it meanwhile, or `agree` refuses. The skill is then unchanged.
    pub fn improve(&self, name: &str, edit: &mut Edit, agree: &mut Agree) -> Result<()> {
        self.clean_litter();
        self.check_changeable(name)?;
        let lockfile = Lockfile::read(self.plugin_dir)?;
        lockfile.check_writable()?;
        let entry = lockfile.get(name);
        let installed = self.dir(name);
        let before = load(&installed)?;
        let now = Digest::of(&installed)?;
        let staging = self.staging()?;
        let name = &InstalledName::parse(name)?;
        let staged = staging.place_for(name)?;
        let copy = staged.make()?;
        let from = Dir::anchor(&installed);
        let from = from.map_err(|error| Error::io("read", &installed, &error))?;
        tree_copy::copy(&from, &copy)?;
        edit(&copy)?;
        let (after, digest, planned) = plan::look(&staged.path(), name, "", Vec::new())?;
        check_kept(&before, &after)?;
        let mut difference = Difference::between(&installed, &now.files, &planned, &digest.files);
        difference.edited = entry.is_some_and(|entry| entry.sha256 != now.sha256);
        if !agree(&difference)? {
            return Err(Error::new("nothing was changed: you said no"));
        }
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        let same = Digest::of(&installed)?.sha256 == now.sha256;
        if changes.lockfile().get(name) != entry || !same {
            let text = format!("another command has changed `{name}`");
            return Err(Error::new(text).hint("try again"));
        }
        let entry = entry.cloned();
        changes.place(&staging, &staged, name, entry, Existing::Replace)?;
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
        self.clean_litter();
        Lockfile::read(self.plugin_dir)?.check_writable()?;
        let staging = self.staging()?;
        let name = &InstalledName::parse(name)?;
        let staged = staging.place_for(name)?;
        let dir = staged.make()?;
        let written = dir.create(&SKILL_FILE, 0o644);
        let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| dir.error("write", &SKILL_FILE, &error))?;
        let (.., planned) = plan::look(&staged.path(), name, "", Vec::new())?;
        let plan = Plan {
            source: source.to_owned(),
            commit: None,
            skills: vec![planned],
        };
        if !confirm(&plan)? {
            return Err(Error::new("nothing was installed: you said no"));
        }
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        if changes.place(&staging, &staged, name, None, Existing::Keep)? {
            return Ok(());
        }
        Err(Error::new(format!("there is a skill `{name}` already")).hint("reject the proposal"))
    }
}

fn load(dir: &Path) -> Result<Skill> {
    Skill::load(dir).map_err(|diagnostic| Error::new(diagnostic.message).hint("repair it first"))
}

/// Checks that an edited skill is still the same one and can be offered.
///
/// # Errors
/// When its name has changed or its description is gone.
pub fn check_kept(before: &Skill, after: &Skill) -> Result<()> {
    let lost = if before.name != after.name {
        format!("it would be called `{}`, not `{}`", after.name, before.name)
    } else if after.description.is_none() && before.description.is_some() {
        "it would have no description".to_owned()
    } else {
        return Ok(());
    };
    Err(
        Error::new(format!("the skill would not be the same one: {lost}"))
            .hint("leave `name` and `description` in the frontmatter"),
    )
}
