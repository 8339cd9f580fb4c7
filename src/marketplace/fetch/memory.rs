//! Files in memory as a tree with their bytes, for archives and sites.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Content, Node, Tree, Visit, Wanted, check_total, tree};

/// A tree with the bytes of its files.
#[derive(Debug, Default)]
pub struct Memory {
    /// The tree.
    pub tree: Tree,
    bytes: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    /// Adds a file, a link or a special file, together with its parent directories, unless the path
    /// is unsafe.
    ///
    /// # Errors
    /// When a path is both a directory and something else.
    pub fn add(&mut self, path: &str, node: Node) -> Result<()> {
        let is_dir = |node: &Node| matches!(node, Node::Dir { .. });
        for (at, _) in path.match_indices('/') {
            let (dir, id) = (&path[..at], String::new());
            match self.tree.get(dir) {
                Some(there) if is_dir(there) => {}
                Some(_) => return Err(twofold(dir)),
                None => {
                    if !self.tree.insert(dir.to_owned(), Node::Dir { id }) {
                        return Ok(());
                    }
                }
            }
        }
        if self.tree.get(path).is_some_and(is_dir) {
            return Err(twofold(path));
        }
        self.bytes.remove(path);
        self.tree.insert(path.to_owned(), node);
        Ok(())
    }

    /// Adds a file with its bytes.
    ///
    /// # Errors
    /// As [`Memory::add`].
    pub fn add_file(&mut self, path: &str, bytes: Vec<u8>, executable: bool) -> Result<()> {
        let id = format!("{:x}", Sha256::digest(&bytes));
        self.add(path, Node::File { id, executable })?;
        if self.tree.get(path).is_some() {
            self.bytes.insert(path.to_owned(), bytes);
        }
        Ok(())
    }

    /// The bytes of a file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.bytes.get(path).map(Vec::as_slice)
    }

    /// Removes a directory that contains everything else, unless it is itself a skill.
    #[must_use]
    pub fn unwrapped(mut self) -> Self {
        let first = self.tree.iter().next().map(|(path, _)| path.to_owned());
        let Some(top) = first.filter(|path| !path.contains('/')) else {
            return self;
        };
        let is_outside = |(path, _): (&str, _)| !tree::is_within(path, &top);
        let is_skill_file = |(path, _): (&str, _)| path.eq_ignore_ascii_case("SKILL.md");
        let below = || self.tree.below(&top);
        if self.tree.iter().any(is_outside) || below().any(is_skill_file) || below().count() == 0 {
            return self;
        }
        let mut inner = Self::default();
        inner.tree.unusable = self.tree.unusable;
        for (path, node) in below() {
            inner.tree.insert(path.to_owned(), node.clone());
            if let Some(bytes) = self.bytes.remove(&tree::join(&top, path)) {
                inner.bytes.insert(path.to_owned(), bytes);
            }
        }
        inner
    }
}

fn twofold(path: &str) -> Error {
    let path = path.escape_debug();
    let text = format!("its source contradicts itself: `{path}` is a directory and something else");
    Error::new(text).hint("tell its author")
}

impl Content for Memory {
    fn each(&self, files: &[Wanted], max: u64, visit: &mut Visit) -> Result<()> {
        let mut total = 0;
        for (index, file) in files.iter().enumerate() {
            let missing = || Error::new(format!("`{}` is not there", file.path.escape_debug()));
            let mut bytes = self.get(&file.path).ok_or_else(missing)?;
            let size = bytes.len() as u64;
            total += size;
            check_total(total, max)?;
            visit(index, size, &mut bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_around_all_is_taken_off_unless_a_skill() {
        let paths = |files: &[&str]| {
            let mut memory = Memory::default();
            for file in files {
                memory.add_file(file, Vec::new(), false).unwrap();
            }
            memory.unwrapped().bytes.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(
            paths(&["r-main/a/SKILL.md", "r-main/x"]),
            ["a/SKILL.md", "x"]
        );
        assert_eq!(paths(&["a/SKILL.md", "a/x"]), ["a/SKILL.md", "a/x"]);
        assert_eq!(paths(&["a/SKILL.md", "b"]), ["a/SKILL.md", "b"]);
        assert_eq!(paths(&["a"]), ["a"]);
        // What is no content of a tree has no bytes either.
        for file in [".git", ".git/x", ".git/a/SKILL.md", ".Git/é"] {
            assert_eq!(paths(&["+top/a/SKILL.md", file]), ["a/SKILL.md"], "{file}");
        }
    }
}
