//! Where the layers' skills are for this run.

use std::path::{Path, PathBuf};

use super::{App, Config};
use crate::catalog::{Layer, Root};
use crate::sys::{Base, EntryName};

/// Where a directory keeps skills, first come first.
pub(super) const HOLDS: [&str; 3] = [".chibi/skills", ".agents/skills", ".claude/skills"];
/// A project's own configuration.
pub(super) const PROJECT_CONFIG: &str = ".chibi/agent-skills.toml";

impl App {
    /// Every directory of skills that is there, each once, in the order in which they are looked
    /// at.
    pub fn roots(&self, config: &Config) -> Vec<Root> {
        let mut roots: Vec<Root> = Vec::new();
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut add = |layer, dir: PathBuf| {
            // Most are not there, and one look tells.
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
            // A home that lies in the project was put there by a variable, unless this program
            // lies in the project too; what a project brings is not the user's.
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

    /// The directory in which a layer's own things are installed.
    pub fn layer_dir(&self, layer: Layer) -> PathBuf {
        match layer {
            Layer::Enterprise => self.enterprise().dirs()[0].to_owned(),
            Layer::Personal => self.env.home().unwrap_or_default().join(".chibi"),
            Layer::Project => self.project_dir().join(".chibi"),
            Layer::Plugin => self.dirs.plugin.clone(),
        }
    }

    /// The directory `path` with `skills/` in it, as it is to be opened: one that the user chose,
    /// or one that somebody may have brought with a project.
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

    /// The project's root, absolute.
    pub fn project_dir(&self) -> PathBuf {
        self.env.cwd.join(self.env.project_root())
    }

    fn real_project_dir(&self) -> &Path {
        let found = || real(&self.project_dir());
        self.known.project.get_or_init(found)
    }

    /// The directories from `from` up to the project's root, nearest first; the root alone when
    /// `from` lies elsewhere.
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

    /// The directory that is trusted, or not, for a project's directory of skills.
    pub fn holder_of(root: &Path) -> &Path {
        root.ancestors().nth(2).unwrap_or(root)
    }

    /// The project's own configuration, if there is one.
    pub fn project_config_path(&self) -> PathBuf {
        self.project_dir().join(PROJECT_CONFIG)
    }
}

/// The path without links, or as it is where it leads nowhere.
pub(super) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
