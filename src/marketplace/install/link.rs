//! Puts a link to a working copy into `skills/`, for authors of skills.

use std::path::Path;

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::fetch::real;
use crate::marketplace::install::add::{Installed, Status, chosen};
use crate::marketplace::lock::Lockfile;
use crate::marketplace::reference::Kind;
use crate::marketplace::source::Origin;
use crate::skill::Skill;

impl Market<'_> {
    /// Links to the skill in `dir` as `name`, or under its own name.
    ///
    /// # Errors
    /// When there is no skill in `dir`, the name is taken, or the link cannot be created.
    pub fn link(&self, dir: &Path, name: Option<&str>) -> Result<Installed> {
        self.clean_litter();
        let holder = "give the directory that holds SKILL.md";
        let dir = real(&dir.to_string_lossy(), self.env).map_err(|error| error.hint(holder))?;
        let skill = Skill::load(&dir);
        let skill = skill.map_err(|diagnostic| Error::new(diagnostic.to_string()).hint(holder))?;
        let source = dir.to_str().ok_or_else(|| {
            Error::new(format!("`{}` is not UTF-8", dir.display())).hint("rename the directory")
        })?;
        let directory = chosen(name, &skill.name)?;
        let origin = Origin {
            source: source.to_owned(),
            kind: Kind::Link,
            requested: source.to_owned(),
            ..Origin::default()
        };
        let entry = origin.entry(&directory, "", &skill)?;
        let staging = self.staging()?;
        let staged = staging.place_for(&directory)?;
        let made = staged.within.link_to(&dir, directory.entry());
        made.map_err(|error| staged.within.error("make link", directory.entry(), &error))?;
        if self.dry_run {
            let lockfile = Lockfile::read(self.plugin_dir)?;
            let mut imagined = self.already(&directory, &lockfile);
            imagined.source = Some(origin.source);
            return Ok(imagined);
        }
        let mut changes = self.changes(&staging)?;
        let target = self.dir(&directory);
        let is_same = std::fs::read_link(&target).is_ok_and(|to| to == dir);
        let is_new = changes.place_new(&[(&staged, Some(&entry))])? == [true];
        if !is_new && !is_same {
            let name = directory.trim_end_matches("--");
            let text = format!("a skill `{name}` already exists");
            return Err(Error::new(text).hint("remove it first, or give this one another `--name`"));
        }
        let mut installed = self.already(&directory, changes.lockfile());
        installed.source = Some(origin.source);
        if is_new {
            installed.status = Status::New;
        }
        Ok(installed)
    }
}
