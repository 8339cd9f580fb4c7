//! Puts a link to a working copy into `skills/`, for authors of skills.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use serde_json::Map;

use crate::error::{Error, Result};
use crate::marketplace::install::add::{self, Installed, Status};
use crate::marketplace::install::plan;
use crate::marketplace::install::staging::Prepared;
use crate::marketplace::install::swap::{Changes, Existing};
use crate::marketplace::lock::lock_fields::{License, LockPath};
use crate::marketplace::lock::lockfile::{Kind, LockEntry};
use crate::marketplace::market::Market;
use crate::skill::{Skill, SkillName};
use crate::sys::EntryName;

const LINK: EntryName = EntryName::of("link");

impl Market<'_> {
    /// Links to the skill in `dir` as `name`, or under its own name.
    ///
    /// # Errors
    /// When there is no skill in `dir`, the name is taken, or the link cannot be created.
    pub fn link(&self, dir: &Path, name: Option<&str>) -> Result<Installed> {
        self.clean_litter();
        let dir = crate::marketplace::fetch::local::expand(&dir.to_string_lossy(), self.env);
        let dir = dir.canonicalize().map_err(|error| {
            Error::io("open directory", &dir, &error).hint("give the directory that holds SKILL.md")
        })?;
        let skill = Skill::load(&dir).map_err(|diagnostic| {
            Error::new(diagnostic.message).hint("give the directory that holds SKILL.md")
        })?;
        let name = match name {
            Some(name) => SkillName::from_written(name).ok_or_else(|| {
                let text = format!("`{}` cannot be a skill's name", name.escape_debug());
                Error::new(text).hint("use letters and digits")
            })?,
            None => skill.name.clone(),
        };
        let source = dir.to_str().ok_or_else(|| {
            Error::new(format!("`{}` is not UTF-8", dir.display())).hint("rename the directory")
        })?;
        let directory = add::chosen(&name, &skill.name)?;
        let entry = LockEntry {
            id: plan::id(source, ""),
            name: directory.clone(),
            source: source.to_owned(),
            address: None,
            kind: Kind::Link,
            requested: source.to_owned(),
            rev: None,
            commit: None,
            path: LockPath::parse("")?,
            tree: None,
            sha256: String::new(),
            files: BTreeMap::new(),
            license: skill.fields.text("license").as_deref().map(License::of),
            other: Map::new(),
        };
        let staging = self.staging()?;
        let staged = Prepared {
            within: Rc::clone(staging.dir()),
            name: LINK,
        };
        let made = staged.within.link_to(&dir, &LINK);
        made.map_err(|error| staged.within.error("make link", &LINK, &error))?;
        let mut changes = Changes::begin(self.plugin_dir, self.patience())?;
        let target = self.dir(&directory);
        let is_same = std::fs::read_link(&target).is_ok_and(|to| to == dir);
        let placed = changes.place(&staging, &staged, &directory, Some(entry), Existing::Keep)?;
        if !placed && !is_same {
            let text = format!("there is a skill `{name}` already");
            return Err(Error::new(text).hint("remove it first, or give this one another `--name`"));
        }
        Ok(Installed {
            name: directory.to_string(),
            dir: target,
            source: Some(source.to_owned()),
            commit: None,
            status: if is_same {
                Status::Already
            } else {
                Status::New
            },
            dropped: Vec::new(),
            warnings: Vec::new(),
        })
    }
}
