//! A local directory as a tree with its files' bytes.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::marketplace::fetch::{Contents, FileToRead, Node, Tree, Visit, check_total, tree};
use crate::marketplace::prelude::*;

/// A local directory with its links resolved. What is in it is reached from its handle, so that no
/// link that appears in it while it is read leads elsewhere.
pub struct LocalDir(Dir);

impl LocalDir {
    /// Opens a directory as a person typed it, who may have named the `SKILL.md` in it; `~/` means
    /// the home directory.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open(written: &str, env: &Env) -> Result<Self> {
        let is_file = expand(written, env).is_file();
        let named = is_file.then(|| tree::skill_dir(written));
        let path = real(named.unwrap_or(written), env)?;
        if !path.is_dir() {
            let text = format!("`{}` is not a directory", path.display());
            return Err(Error::new(text).hint("give the directory with the SKILL.md"));
        }
        let dir = Dir::anchor(&path);
        dir.map(Self)
            .map_err(|error| Error::io("read directory", &path, &error))
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        self.0.path()
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
            let dir = self.0.open_dir_below(Path::new(&below));
            let listed = dir.and_then(|dir| Ok((dir.entries()?, dir)));
            let (entries, dir) = listed
                .map_err(|error| Error::io("read directory", &self.path().join(&below), &error))?;
            for (name, kind) in entries {
                count += 1;
                if count > limits::TREE_ENTRIES {
                    let text = format!("`{}` has too many files", self.path().display());
                    return Err(Error::new(text).hint("give the directory of the skill itself"));
                }
                let Some(text) = name.as_str() else {
                    tree.unusable += 1;
                    continue;
                };
                // What git keeps there is not content.
                if text.eq_ignore_ascii_case(".git") {
                    continue;
                }
                let path = tree::join(&below, text);
                let node = node(&dir, &name, kind);
                let node = node.map_err(|error| dir.error("read", &name, &error))?;
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

fn node(dir: &Dir, name: &EntryName, kind: EntryKind) -> io::Result<Node> {
    Ok(match kind {
        EntryKind::Dir => Node::Dir { id: String::new() },
        EntryKind::Link => {
            let to = dir.read_link(name)?;
            let to = to.to_str().unwrap_or_default().to_owned();
            Node::Link { to }
        }
        EntryKind::File => {
            let stat = dir.stat(name)?;
            Node::File {
                id: stat.st_size.to_string(),
                executable: stat.st_mode & 0o100 != 0,
            }
        }
        EntryKind::Other => Node::Special,
    })
}

impl Contents for LocalDir {
    fn each(&self, files: &[FileToRead], max: u64, visit: &mut Visit) -> Result<()> {
        let mut total = 0;
        for (index, file) in files.iter().enumerate() {
            let path = EntryPath::parse(&file.path);
            let path = path.ok_or_else(|| io::ErrorKind::InvalidInput.into());
            let (open, metadata) = path
                .and_then(|path| self.0.open_below(&path))
                .map_err(|error| Error::io("read", &self.path().join(&file.path), &error))?;
            let size = metadata.len();
            total += size;
            check_total(total, max)?;
            visit(index, size, &mut open.take(size))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::dir::swapping::while_swapped;

    #[test]
    fn nothing_outside_is_copied_while_links_are_swapped_in() {
        while_swapped(|skill| {
            let env = Env::new([("HOME", skill)], skill);
            let local = LocalDir::open(".", &env).unwrap();
            let Ok(tree) = local.tree() else {
                return false;
            };
            let mut seen = false;
            for (path, node) in tree.iter() {
                assert!(!path.ends_with("only-outside"), "{path}");
                let Some(wanted) = FileToRead::new(path, node) else {
                    continue;
                };
                let mut text = String::new();
                // It may have become a link meanwhile.
                let _ = local.each(&[wanted], 1000, &mut |_, _, bytes| {
                    let read = bytes.read_to_string(&mut text);
                    read.map(|_| ())
                        .map_err(|error| Error::io("read", skill, &error))
                });
                assert!(!text.contains("secret"), "{path}");
                seen |= text == "inside";
            }
            seen
        });
    }
}
