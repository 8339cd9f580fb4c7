//! The files bundled in a skill: lists them, and resolves a written path to a file that certainly
//! lies in the skill's directory.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::sys::text::listed;
use crate::sys::{Dir, EntryKind, EntryName, EntryPath, limits};

/// Directories that never contain files by the author.
const SKIPPED: [&str; 3] = [".git", "node_modules", "__pycache__"];

/// A relative path without `..`, root or NUL. It can leave the directory that it is joined to only
/// through a link, for which [`SkillPath::resolve`] checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPath(PathBuf);

/// One bundled file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Relative to the skill's directory.
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
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
        match normalized(path) {
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
        self.find(dir).map(|(_, path, _)| path)
    }

    /// Opens the regular file that this path names in `dir`. It is opened at its resolved location
    /// without following links, so it lies in the directory even if the path changes meanwhile.
    ///
    /// # Errors
    /// As [`SkillPath::resolve`], and when it cannot be read.
    pub fn open(&self, dir: &Path) -> Result<(PathBuf, File, Metadata)> {
        let (root, path, below) = self.find(dir)?;
        let opened = Dir::anchor(&root).and_then(|root| root.open_below(&below));
        let (file, metadata) = opened.map_err(|error| Error::io("read", &path, &error))?;
        Ok((path, file, metadata))
    }

    /// `dir`, the regular file that this path names in it, and its path below `dir`, all free of links.
    ///
    /// # Errors
    /// As [`SkillPath::resolve`].
    pub fn find(&self, dir: &Path) -> Result<(PathBuf, PathBuf, EntryPath)> {
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
        Ok((root, path, below))
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
            let text = format!("`{shown}` is a link that leaves the skill's directory");
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
pub fn normalized(path: &Path) -> Option<PathBuf> {
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

impl Resource {
    /// The files of the skill in `dir`, sorted by path, without those of nested skills, at most
    /// [`limits::WALKED_FILES`]. Links to files in the directory are listed; links to directories are
    /// not followed.
    pub fn all(dir: &Path) -> Vec<Self> {
        let mut resources = Vec::new();
        if let Ok(real) = dir.canonicalize()
            && let Ok(root) = Dir::anchor(&real)
        {
            walk(&root, Path::new(""), 0, &mut resources);
        }
        resources.sort_by(|a, b| a.path.cmp(&b.path));
        resources
    }
}

fn walk(root: &Dir, below: &Path, depth: usize, found: &mut Vec<Resource>) {
    let opened = root.open_dir_below(below);
    let Ok((entries, dir)) = opened.and_then(|dir| Ok((dir.entries()?, dir))) else {
        return;
    };
    let is_skill_file = |name: &EntryName, kind: EntryKind| {
        name.as_os_str().eq_ignore_ascii_case("SKILL.md") && kind != EntryKind::Dir
    };
    let mut each = entries.iter();
    if depth > 0 && each.any(|(name, kind)| is_skill_file(name, *kind)) {
        return;
    }
    for (name, kind) in entries {
        if found.len() >= limits::WALKED_FILES {
            return;
        }
        let path = below.join(name.as_os_str());
        let size = match kind {
            EntryKind::Dir => {
                let is_skipped = SKIPPED.iter().any(|skipped| name.as_os_str() == *skipped);
                if !is_skipped && depth < limits::WALK_DEPTH {
                    walk(root, &path, depth + 1, found);
                }
                continue;
            }
            _ if is_skill_file(&name, kind) => continue,
            EntryKind::File => dir.stat(&name).map(|stat| stat.st_size),
            EntryKind::Link => linked_file(root, &path),
            EntryKind::Other => continue,
        };
        if let Some(size) = size.ok().and_then(|size| u64::try_from(size).ok()) {
            found.push(Resource { path, size });
        }
    }
}

/// The size of the regular file in `root` to which the link at `path` leads.
fn linked_file(root: &Dir, path: &Path) -> io::Result<i64> {
    let real = root.path().join(path).canonicalize()?;
    let below = real.strip_prefix(root.path()).ok();
    let (dir, name) = below
        .and_then(|below| Some((below.parent()?, EntryName::parse(below.file_name()?)?)))
        .ok_or(io::ErrorKind::NotFound)?;
    let dir = root.open_dir_below(dir)?;
    if dir.kind(&name)? != Some(EntryKind::File) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(dir.stat(&name)?.st_size)
}

fn what_is_there(dir: &Path) -> String {
    let files = Resource::all(dir);
    if files.is_empty() {
        return "the skill has no files besides SKILL.md".to_owned();
    }
    let names = files.iter().map(|file| file.path.display().to_string());
    let names: Vec<String> = names.collect();
    format!("the skill has {}", listed(&names, 20))
}

#[cfg(test)]
mod tests;
