//! The files bundled in a skill: lists them, and resolves a written path to a file that certainly
//! lies in the skill's directory.

use std::fs::{self, File, Metadata};
use std::path::{Component, Path, PathBuf};

use super::find_skill_file;
use crate::error::{Error, Result};
use crate::sys::text::listed;
use crate::sys::{Dir, EntryPath, limits};

/// Directories that never contain files by the author.
const SKIPPED: [&str; 3] = [".git", "node_modules", "__pycache__"];

/// A relative path without `..`, root or NUL. It can leave the directory that it is joined to only
/// through a link, for which [`SkillPath::resolve`] checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPath(PathBuf);

/// The real location of a bundled file.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its path.
    pub path: PathBuf,
    /// The skill's directory.
    pub root: PathBuf,
    /// The file's path below that, free of links.
    pub below: EntryPath,
}

impl Found {
    fn open(&self) -> Result<(File, Metadata)> {
        let opened = Dir::anchor(&self.root).and_then(|root| root.open_below(&self.below));
        opened.map_err(|error| Error::io("read", &self.path, &error))
    }
}

/// One bundled file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Relative to the skill's directory.
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
}

/// The bundled files, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// At most as many as were asked for.
    pub resources: Vec<Resource>,
    /// Their number, counted up to [`limits::WALKED_FILES`].
    pub total: usize,
}

impl SkillPath {
    /// Parses a path as a model writes it: relative to the skill's directory, or absolute and
    /// inside it.
    ///
    /// # Errors
    /// When the path is empty, leaves the directory, or contains a NUL.
    pub fn parse(written: &str, dir: &Path) -> Result<Self> {
        let outside = |why: &str| {
            Error::new(format!("the path `{}` {why}", written.escape_debug()))
                .hint("give a path inside the skill's directory, relative to it")
        };
        if written.contains('\0') {
            return Err(outside("contains a NUL character"));
        }
        let path = Path::new(written);
        let canonical = dir.canonicalize().unwrap_or_default();
        let inside = path.strip_prefix(dir);
        let inside = inside.or_else(|_| path.strip_prefix(&canonical));
        // An absolute path that is not inside has a root, which is refused below.
        let path = inside.ok().filter(|_| path.is_absolute()).unwrap_or(path);
        match normal(path) {
            None => Err(outside("is outside the skill's directory")),
            Some(path) if path.as_os_str().is_empty() => Err(outside("names no file")),
            Some(path) => Ok(Self(path)),
        }
    }

    /// The real path of the regular file that this path names in `dir`.
    ///
    /// # Errors
    /// When there is no such file (the hint lists what exists), it is not a regular file, or a link
    /// leads out of the directory.
    pub fn resolve(&self, dir: &Path) -> Result<PathBuf> {
        self.find(dir).map(|found| found.path)
    }

    /// Opens the regular file that this path names in `dir`. It is opened at its resolved location
    /// without following links, so it lies in the directory even if the path changes meanwhile.
    ///
    /// # Errors
    /// As [`SkillPath::resolve`], and when it cannot be read.
    pub fn open(&self, dir: &Path) -> Result<(Found, File, Metadata)> {
        let found = self.find(dir)?;
        let (file, metadata) = found.open()?;
        Ok((found, file, metadata))
    }

    /// The real location of the regular file that this path names in `dir`.
    ///
    /// # Errors
    /// As [`SkillPath::resolve`].
    pub fn find(&self, dir: &Path) -> Result<Found> {
        let shown = self.0.display();
        let (root, path) = self.canonical(dir, "file", || what_is_there(dir))?;
        if path.is_dir() {
            let listing = what_is_there(dir);
            return Err(Error::new(format!("`{shown}` is a directory")).hint(listing));
        }
        let below = path.strip_prefix(&root).ok().and_then(EntryPath::parse);
        let below = below.filter(|_| path.is_file()).ok_or_else(|| {
            Error::new(format!("`{shown}` is not a regular file"))
                .hint("only regular files of a skill can be used")
        })?;
        Ok(Found { path, root, below })
    }

    /// The real path of the directory that this path names in `dir`.
    ///
    /// # Errors
    /// When there is no such directory, or a link leads out of `dir`.
    pub fn resolve_dir(&self, dir: &Path) -> Result<PathBuf> {
        let hint = || "give a directory of the skill, relative to it".to_owned();
        let (_, real) = self.canonical(dir, "directory", hint)?;
        if !real.is_dir() {
            let text = format!("`{}` is not a directory", self.0.display());
            return Err(Error::new(text).hint(hint()));
        }
        Ok(real)
    }

    /// `dir` and this path in it, both without links. `what` should be there; otherwise `hint` says
    /// what is.
    fn canonical(
        &self,
        dir: &Path,
        what: &str,
        hint: impl Fn() -> String,
    ) -> Result<(PathBuf, PathBuf)> {
        let shown = self.0.display();
        let missing =
            |_| Error::new(format!("there is no {what} `{shown}` in the skill")).hint(hint());
        let root = dir.canonicalize().map_err(missing)?;
        let real = root.join(&self.0).canonicalize().map_err(missing)?;
        if !real.starts_with(&root) {
            let text = format!("`{shown}` is a link that leads outside the skill's directory");
            return Err(Error::new(text).hint(format!("use a {what} that is part of the skill")));
        }
        Ok((root, real))
    }

    /// The path relative to the skill's directory.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

/// The path without `.` and `..`; `None` if it leaves its directory.
pub fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => normal.push(part),
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            _ => return None,
        }
    }
    Some(normal)
}

impl Listing {
    /// Lists the files of the skill in `dir`, without those of nested skills. Links to files in the
    /// directory are listed; links to directories are not followed.
    pub fn read(dir: &Path, max: usize) -> Self {
        let Ok(root) = dir.canonicalize() else {
            return Self::default();
        };
        let mut resources = Vec::new();
        walk(&root, Path::new(""), 0, &mut resources);
        resources.sort_by(|a, b| a.path.cmp(&b.path));
        let total = resources.len();
        resources.truncate(max);
        Self { resources, total }
    }
}

fn walk(root: &Path, below: &Path, depth: usize, found: &mut Vec<Resource>) {
    let Ok(entries) = fs::read_dir(root.join(below)) else {
        return;
    };
    for entry in entries.flatten() {
        if found.len() >= limits::WALKED_FILES {
            return;
        }
        let path = below.join(entry.file_name());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            let is_skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
            let is_entered = !is_skipped && depth < limits::WALK_DEPTH;
            if is_entered && find_skill_file(&root.join(&path)).is_none() {
                walk(root, &path, depth + 1, found);
            }
            continue;
        }
        let is_skill_file = depth == 0 && entry.file_name().eq_ignore_ascii_case("SKILL.md");
        if is_skill_file || (kind.is_symlink() && !leads_inside(root, &path)) {
            continue;
        }
        let metadata = fs::metadata(root.join(&path)).ok();
        if let Some(metadata) = metadata.filter(Metadata::is_file) {
            let size = metadata.len();
            found.push(Resource { path, size });
        }
    }
}

fn leads_inside(root: &Path, path: &Path) -> bool {
    root.join(path)
        .canonicalize()
        .is_ok_and(|real| real.starts_with(root))
}

fn what_is_there(dir: &Path) -> String {
    let files = Listing::read(dir, limits::WALKED_FILES).resources;
    if files.is_empty() {
        return "the skill has no files besides SKILL.md".to_owned();
    }
    let names: Vec<String> = files
        .iter()
        .map(|file| file.path.display().to_string())
        .collect();
    format!("the skill has {}", listed(&names, 20))
}

#[cfg(test)]
mod tests;
