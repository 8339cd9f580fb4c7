//! The directories of each layer's skills in this run.

use std::path::{Path, PathBuf};

use crate::catalog::{Layer, Root};
use crate::policy::Config;
use crate::run_context::{HOLDS, RunContext, real};
use crate::sys::{Base, EntryName};

impl RunContext {
    /// Every existing directory of skills, without duplicates, in search order.
    pub fn roots(&self, config: &Config) -> Vec<Root> {
        let mut roots: Vec<Root> = Vec::new();
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut add = |layer, dir: PathBuf| {
            // `exists` is one system call, and most do not.
            if dir.exists()
                && let Ok(real) = dir.canonicalize()
                && !seen.contains(&real)
            {
                seen.push(real);
                roots.push(Root { layer, dir });
            }
        };
        for dir in self.enterprise().dirs() {
            add(Layer::Enterprise, dir.join("skills"));
        }
        let project = &self.real_project_dir();
        let lies_elsewhere = !real(&self.dirs.plugin).starts_with(project);
        for dir in self.personal_dirs(config) {
            // Inside the project this can only be a home set by a variable, and a project's files
            // are not the user's; except if this program is inside the project too.
            let is_projects = lies_elsewhere && real(&dir).starts_with(project);
            if is_projects {
                add(Layer::Project, dir);
            } else {
                add(Layer::Personal, dir);
            }
        }
        for holder in self.project_holders(&self.env.cwd) {
            for dir in HOLDS {
                add(Layer::Project, holder.join(dir));
            }
        }
        add(Layer::Plugin, self.dirs.skills());
        roots
    }

    /// Those that exist.
    fn personal_dirs(&self, config: &Config) -> Vec<PathBuf> {
        let Some(home) = self.env.home() else {
            return Vec::new();
        };
        let wanted = if config.claude_skills { 3 } else { 2 };
        let dirs = HOLDS[..wanted].iter().map(|dir| home.join(dir));
        dirs.filter(|dir| dir.exists()).collect()
    }

    /// The directory where a layer's own skills are installed.
    pub fn layer_dir(&self, layer: Layer) -> PathBuf {
        match layer {
            Layer::Enterprise => self.enterprise().dirs()[0].to_owned(),
            Layer::Personal => self.env.home().unwrap_or_default().join(".chibi"),
            Layer::Project => self.project_dir().join(".chibi"),
            Layer::Plugin => self.dirs.plugin.clone(),
        }
    }

    /// The directory `path` that contains `skills/`: one that the user chose, or one that a project
    /// may have provided.
    pub fn base(&self, path: &Path) -> Base {
        let home = self.env.home();
        let is_users = *path == self.dirs.plugin
            || (home.is_some() && path.parent() == home.as_deref())
            || self.enterprise().dirs().contains(&path);
        let shared = path.file_name().and_then(EntryName::parse);
        match (shared, path.parent()) {
            (Some(name), Some(root)) if !is_users => Base::shared(root.to_owned(), name),
            _ => Base::own(path.to_owned()),
        }
    }
}
