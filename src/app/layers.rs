//! Where each layer's skills are in this run.

use std::path::{Path, PathBuf};

use super::{Config, RunContext};
use crate::catalog::{Layer, Root};
use crate::sys::{Base, EntryName};

/// The subdirectories that hold skills, in order of precedence.
pub(super) const HOLDS: [&str; 3] = [".chibi/skills", ".agents/skills", ".claude/skills"];
/// A project's own configuration.
pub(super) const PROJECT_CONFIG: &str = ".chibi/agent-skills.toml";

impl RunContext {
    /// Every existing directory of skills, without duplicates, in search order.
    pub fn roots(&self, config: &Config) -> Vec<Root> {
        let mut roots: Vec<Root> = Vec::new();
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut add = |layer, dir: PathBuf| {
            // Most do not exist, as one check shows.
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
        let project = self.real_project_dir();
        let lies_elsewhere = !real(&self.dirs.plugin).starts_with(project);
        for dir in self.personal_dirs(config) {
            if !dir.exists() {
                continue;
            }
            // A home inside the project was set by a variable, unless this program is inside too; a
            // project's files are not the user's.
            let is_projects = lies_elsewhere && real(&dir).starts_with(project);
            add(
                if is_projects {
                    Layer::Project
                } else {
                    Layer::Personal
                },
                dir,
            );
        }
        for holder in self.project_holders(&self.env.cwd) {
            for dir in HOLDS {
                add(Layer::Project, holder.join(dir));
            }
        }
        add(Layer::Plugin, self.dirs.skills());
        roots
    }

    fn personal_dirs(&self, config: &Config) -> Vec<PathBuf> {
        let Some(home) = self.env.home() else {
            return Vec::new();
        };
        let wanted = if config.claude_skills { 3 } else { 2 };
        HOLDS[..wanted].iter().map(|dir| home.join(dir)).collect()
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

    /// The directory `path` that contains `skills/`, opened as the user's choice or as one that a
    /// project may have brought.
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

    /// The project root, absolute.
    pub fn project_dir(&self) -> PathBuf {
        self.env.cwd.join(self.env.project_root())
    }

    fn real_project_dir(&self) -> &Path {
        let found = || real(&self.project_dir());
        self.known.project.get_or_init(found)
    }

    /// The directories from `from` up to the project root, nearest first; only the root if `from`
    /// is outside it.
    pub fn project_holders(&self, from: &Path) -> Vec<PathBuf> {
        let root = self.project_dir();
        let (real_root, real_from) = (self.real_project_dir(), real(from));
        if !real_from.starts_with(real_root) {
            return vec![root];
        }
        let inside = |dir: &&Path| dir.starts_with(real_root);
        let holders = real_from.ancestors().take_while(inside);
        holders.map(Path::to_owned).collect()
    }

    /// The directory whose trust covers a project's skills directory.
    pub fn holder_of(root: &Path) -> &Path {
        root.ancestors().nth(2).unwrap_or(root)
    }

    /// The project's own configuration, if there is one.
    pub fn project_config_path(&self) -> PathBuf {
        self.project_dir().join(PROJECT_CONFIG)
    }
}

/// The canonical path, or the path itself if it cannot be resolved.
pub(super) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
