//! A local directory as a tree with its files' bytes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Content, Node, Tree, Visit, Wanted, check_total, tree};
use crate::sys::{Env, files, limits};

/// A local directory with its links resolved.
pub struct LocalDir(PathBuf);

impl LocalDir {
    /// Opens a directory as a person typed it; `~/` means the home directory.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open(written: &str, env: &Env) -> Result<Self> {
        let path = real(written, env)?;
        if !path.is_dir() {
            let text = format!("`{}` is not a directory", path.display());
            return Err(Error::new(text).hint("give the directory that holds SKILL.md"));
        }
        Ok(Self(path))
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its files.
    ///
    /// # Errors
    /// When a directory cannot be read, or there are too many files.
    pub fn tree(&self) -> Result<Tree> {
        let mut tree = Tree::default();
        let mut todo = vec![String::new()];
        let mut count = 0;
        while let Some(below) = todo.pop() {
            let dir = self.0.join(&below);
            let unreadable =
                |error| Error::io("read directory", &dir, &error).hint("check its permissions");
            for entry in fs::read_dir(&dir).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                count += 1;
                if count > limits::TREE_ENTRIES {
                    let text = format!("`{}` has too many files", self.0.display());
                    return Err(Error::new(text).hint("give the directory of the skill itself"));
                }
                let Ok(name) = entry.file_name().into_string() else {
                    tree.unusable += 1;
                    continue;
                };
                // What git keeps there is not content.
                if name.eq_ignore_ascii_case(".git") {
                    continue;
                }
                let path = tree::join(&below, &name);
                let node = node(&entry);
                let node = node.map_err(|error| Error::io("read", &entry.path(), &error))?;
                let is_dir = matches!(node, Node::Dir { .. });
                if tree.insert(path.clone(), node) && is_dir {
                    todo.push(path);
                }
            }
        }
        Ok(tree)
    }
}

/// Expands a path as a person typed it; `~/` means the home directory.
pub fn expand(written: &str, env: &Env) -> PathBuf {
    match (written.strip_prefix('~'), env.home()) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => env.cwd.join(written),
    }
}

/// As [`expand`], for a directory, with links resolved.
///
/// # Errors
/// When it does not exist.
pub fn real(written: &str, env: &Env) -> Result<PathBuf> {
    let path = expand(written, env);
    path.canonicalize().map_err(|error| {
        Error::io("open directory", &path, &error)
            .hint("check the path; it may be relative to the working directory")
    })
}

fn node(entry: &fs::DirEntry) -> std::io::Result<Node> {
    let metadata = entry.metadata()?;
    let kind = metadata.file_type();
    Ok(if kind.is_dir() {
        Node::Dir { id: String::new() }
    } else if kind.is_symlink() {
        let to = fs::read_link(entry.path())?;
        let to = to.to_str().unwrap_or_default().to_owned();
        Node::Link { to }
    } else if kind.is_file() {
        let executable = metadata.permissions().mode() & 0o100 != 0;
        let id = metadata.len().to_string();
        Node::File { id, executable }
    } else {
        Node::Special
    })
}

impl Content for LocalDir {
    fn each(&self, files: &[Wanted], max: u64, visit: &mut Visit) -> Result<()> {
        let mut total = 0;
        for (index, file) in files.iter().enumerate() {
            let path = self.0.join(&file.path);
            let unreadable = |error| Error::io("read", &path, &error).hint("check its permissions");
            let mut open = files::open_regular(&path).map_err(unreadable)?;
            let size = open.metadata().map_err(unreadable)?.len();
            total += size;
            check_total(total, max)?;
            visit(index, size, &mut std::io::Read::take(&mut open, size))?;
        }
        Ok(())
    }
}
