//! Files in memory as a tree with their bytes, for archives and sites.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::marketplace::fetch::content::{Content, Visit, Wanted};
use crate::marketplace::fetch::tree::{Node, Tree};

/// A tree with the bytes of its files.
#[derive(Debug, Default)]
pub struct Memory {
    tree: Tree,
    bytes: BTreeMap<String, Vec<u8>>,
    unusable: usize,
}

impl Memory {
    /// Adds a file, a link or a special file, together with its parent directories.
    pub fn add(&mut self, path: &str, node: Node) {
        for (at, _) in path.match_indices('/') {
            if self.tree.get(&path[..at]).is_none() {
                let id = String::new();
                self.tree.insert(path[..at].to_owned(), Node::Dir { id });
            }
        }
        self.unusable += usize::from(!self.tree.insert(path.to_owned(), node));
    }

    /// Adds a file with its bytes.
    pub fn add_file(&mut self, path: &str, bytes: Vec<u8>, executable: bool) {
        let id = format!("{:x}", Sha256::digest(&bytes));
        self.add(path, Node::File { id, executable });
        self.bytes.insert(path.to_owned(), bytes);
    }

    /// The bytes of a file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.bytes.get(path).map(Vec::as_slice)
    }

    /// The tree, and the number of paths that could not be used.
    pub fn tree(&self) -> (Tree, usize) {
        (self.tree.clone(), self.unusable)
    }

    /// Removes a directory that contains everything else, unless it is itself a skill.
    #[must_use]
    pub fn unwrapped(self) -> Self {
        let first = self.tree.iter().next().map(|(path, _)| path.to_owned());
        let Some(top) = first.filter(|path| !path.contains('/')) else {
            return self;
        };
        let inside = |path: &str| path.strip_prefix(&top).is_some_and(|r| r.starts_with('/'));
        let is_alone = self
            .tree
            .iter()
            .all(|(path, _)| path == top || inside(path));
        let is_skill = self
            .tree
            .below(&top)
            .any(|(path, _)| path.eq_ignore_ascii_case("SKILL.md"));
        if !is_alone || is_skill || self.tree.below(&top).next().is_none() {
            return self;
        }
        let mut inner = Self {
            unusable: self.unusable,
            ..Self::default()
        };
        for (path, node) in self.tree.below(&top) {
            inner.tree.insert(path.to_owned(), node.clone());
        }
        let cut = top.len() + 1;
        inner.bytes = self
            .bytes
            .into_iter()
            .map(|(path, b)| (path[cut..].to_owned(), b))
            .collect();
        inner
    }
}

impl Content for Memory {
    fn each(&self, files: &[Wanted], max: u64, visit: &mut Visit) -> Result<()> {
        let mut total = 0;
        for (index, file) in files.iter().enumerate() {
            let missing = || Error::new(format!("`{}` is not there", file.path.escape_debug()));
            let mut bytes = self.get(&file.path).ok_or_else(missing)?;
            let size = bytes.len() as u64;
            total += size;
            if total > max {
                let text = format!("the files are larger than {max} bytes together");
                return Err(Error::new(text).hint("ask its author to leave out what is not needed"));
            }
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
                memory.add_file(file, Vec::new(), false);
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
    }
}
