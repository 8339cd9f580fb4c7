//! The files of a repository or a directory as a list of paths. Links are resolved in this list,
//! without the file system. Pure.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::ops::Bound;
use std::path::PathBuf;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::marketplace::fetch::{FailureKind, FetchFailure};
use crate::marketplace::prelude::*;

/// The kind of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A directory; `id` is git's tree id, empty for a local one.
    Dir {
        /// Equal ids mean equal content.
        id: String,
    },
    /// A regular file.
    File {
        /// Git's blob id; for a local file, its size.
        id: String,
        /// Whether its owner may execute it.
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Its target, as written.
        to: String,
    },
    /// A nested repository; its content is not included.
    Submodule,
    /// A FIFO, socket or device.
    Special,
}

/// Paths sorted by bytes. Their parts are separated by `/`; none is `.`, `..` or `.git`. The root
/// has no entry.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: BTreeMap<String, Node>,
    /// The number of paths that are unsafe, too deep or too long, and were left out.
    pub unusable: usize,
    /// Git's tree id of the root; empty for other sources.
    pub root: String,
}

impl Tree {
    /// Adds a path if it is safe to write and within the limits, and else counts it; returns whether it was added.
    pub fn insert(&mut self, path: String, node: Node) -> bool {
        let unsafe_part = |part: &str| {
            matches!(part, "" | "." | "..")
                || part.eq_ignore_ascii_case(".git")
                || part.contains('\0')
        };
        let deep = path.len() > limits::TREE_PATH || path.split('/').count() > limits::TREE_DEPTH;
        let safe = !deep && !path.split('/').any(unsafe_part);
        if safe {
            self.nodes.insert(path, node);
        } else {
            self.unusable += 1;
        }
        safe
    }

    /// What is at `path`.
    pub fn get(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// Git's id of a directory; `None` if the source is not a git repository.
    pub fn id(&self, path: &str) -> Option<&str> {
        let id = match self.nodes.get(path) {
            None if path.is_empty() => &self.root,
            Some(Node::Dir { id }) => id,
            _ => return None,
        };
        (!id.is_empty()).then_some(id)
    }

    /// Everything, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.nodes.iter().map(|(path, node)| (path.as_str(), node))
    }

    /// Everything below `dir`, with paths relative to it; `""` is the root.
    pub fn below<'t>(&'t self, dir: &str) -> impl Iterator<Item = (&'t str, &'t Node)> + use<'t> {
        let start = join(dir, "");
        let cut = start.len();
        self.nodes
            .range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded))
            .take_while(move |(path, _)| path.starts_with(&start))
            .map(move |(path, node)| (&path[cut..], node))
    }

    /// The path to which `path` leads when all links are followed; `""` is the root.
    ///
    /// # Errors
    /// Why it leads to nothing: out of the tree, in a circle, or to a missing path.
    pub fn resolve(&self, path: &str) -> Result<String, &'static str> {
        let mut todo: VecDeque<&str> = path.split('/').collect();
        let mut at: Vec<&str> = Vec::new();
        let mut hops = 0;
        while let Some(part) = todo.pop_front() {
            match part {
                "" | "." => continue,
                ".." => {
                    at.pop().ok_or("it leaves the repository")?;
                    continue;
                }
                part => at.push(part),
            }
            match self.nodes.get(&at.join("/")) {
                Some(Node::Link { to }) => {
                    hops += 1;
                    if hops > limits::LINK_HOPS {
                        return Err("it is circular");
                    }
                    if to.starts_with('/') {
                        return Err("its target is an absolute path");
                    }
                    at.pop();
                    for part in to.split('/').rev() {
                        todo.push_front(part);
                    }
                }
                Some(_) => {}
                None => return Err("nothing exists there"),
            }
        }
        Ok(at.join("/"))
    }
}

/// The path `name` in the directory `dir`; `""` is the root.
pub fn join(dir: &str, name: &str) -> String {
    [dir, name].join(if dir.is_empty() { "" } else { "/" })
}

/// The parent directory of a path; `""` is the root.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// A path's last part.
pub fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The directory of a skill that is given by it or by its `SKILL.md`.
pub fn skill_dir(path: &str) -> &str {
    if base(path).eq_ignore_ascii_case("SKILL.md") {
        parent(path)
    } else {
        path
    }
}

/// `path` without `.` and empty parts; `None` if it leads out of its directory.
pub fn normalize_relative(path: &str) -> Option<String> {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<&str> = parts.collect();
    let leaves = path.starts_with('/') || path.contains('\\') || parts.contains(&"..");
    (!leaves).then(|| parts.join("/"))
}

/// Whether `path` is `dir` or below it.
pub fn is_within(path: &str, dir: &str) -> bool {
    let rest = path.strip_prefix(dir);
    dir.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A file of a tree to read.
#[derive(Debug, Clone)]
pub struct FileToRead {
    /// Its path in the tree.
    pub path: String,
    /// Its [`Node::File`] id.
    pub id: String,
}

/// Receives a file's index, its size and its bytes.
pub type Visit<'v> = dyn FnMut(usize, u64, &mut dyn Read) -> Result<()> + 'v;

/// Provides the bytes of a tree's files.
pub trait Contents {
    /// Visits the files in the given order. Bytes that the visitor does not read are skipped.
    ///
    /// # Errors
    /// When the files together exceed `max` bytes, cannot be read, or the visitor fails.
    fn each(&self, files: &[FileToRead], max: u64, visit: &mut Visit) -> Result<()>;

    /// Fetches files that later visits will read, so that each is requested only once.
    ///
    /// # Errors
    /// When they cannot be fetched.
    fn bring(&self, _files: &[FileToRead]) -> Result<()> {
        Ok(())
    }

    /// A commit or an annotated tag by its kind and id; `None` for what is no repository.
    ///
    /// # Errors
    /// When git does not have it.
    fn git_object(&self, _kind: &str, _id: &str) -> Result<Option<GitObject>> {
        Ok(None)
    }
}

/// A commit or an annotated tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitObject {
    /// The bare repository that it is in.
    pub repo: PathBuf,
    /// Its id.
    pub id: String,
    /// Its content.
    pub text: Rc<str>,
}

impl FileToRead {
    /// The file at `path`, if `node` is one.
    pub fn new(path: &str, node: &Node) -> Option<Self> {
        let Node::File { id, .. } = node else {
            return None;
        };
        let (path, id) = (path.to_owned(), id.clone());
        Some(Self { path, id })
    }
}

/// Checks that files of `total` bytes may be read.
///
/// # Errors
/// When that is more than `max`.
pub fn check_total(total: u64, max: u64) -> Result<(), FetchFailure> {
    if total <= max {
        return Ok(());
    }
    let text = format!("the files are larger than {max} bytes together");
    Err(FetchFailure::new(FailureKind::TooLarge, text))
}

/// The content of each file; `None` for one of more than `cap` bytes.
pub fn read_small(
    content: &dyn Contents,
    files: &[FileToRead],
    cap: u64,
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut all = Vec::with_capacity(files.len());
    each_small(content, files, cap, &mut |_, text| all.push(text))?;
    Ok(all)
}

/// As [`read_small`], one by one, with the index of each file.
pub fn each_small(
    content: &dyn Contents,
    files: &[FileToRead],
    cap: u64,
    visit: &mut dyn FnMut(usize, Option<Vec<u8>>),
) -> Result<()> {
    content.each(files, limits::TREE_SKILL_BYTES, &mut |at, size, bytes| {
        let mut read = Vec::new();
        let whole = size <= cap && bytes.take(cap).read_to_end(&mut read).is_ok();
        visit(at, whole.then_some(read));
        Ok(())
    })
}

/// A tree with the bytes of its files.
#[derive(Debug, Default)]
pub struct InMemoryTree {
    /// The tree.
    pub tree: Tree,
    bytes: BTreeMap<String, Vec<u8>>,
}

impl InMemoryTree {
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
    /// As [`InMemoryTree::add`].
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
    ///
    /// # Errors
    /// As [`InMemoryTree::add`].
    pub fn unwrapped(self) -> Result<Self> {
        let first = self.tree.iter().next().map(|(path, _)| path.to_owned());
        let Some(top) = first.filter(|path| !path.contains('/')) else {
            return Ok(self);
        };
        let is_outside = |(path, _): (&str, _)| !is_within(path, &top);
        let is_skill_file = |(path, _): (&str, _)| path.eq_ignore_ascii_case("SKILL.md");
        let below = || self.tree.below(&top);
        if self.tree.iter().any(is_outside) || below().any(is_skill_file) || below().count() == 0 {
            return Ok(self);
        }
        let mut inner = Self::default();
        inner.tree.unusable = self.tree.unusable;
        inner.add_below(&self, &top, "")?;
        Ok(inner)
    }

    /// Adds the files of another that are below its directory `from`, below the directory `to`.
    ///
    /// # Errors
    /// As [`InMemoryTree::add`].
    pub fn add_below(&mut self, other: &Self, from: &str, to: &str) -> Result<()> {
        for (path, node) in other.tree.below(from) {
            let (at, to) = (join(from, path), join(to, path));
            self.add(&to, node.clone())?;
            if let Some(bytes) = other.bytes.get(&at) {
                self.bytes.insert(to, bytes.clone());
            }
        }
        Ok(())
    }

    /// How many bytes all files have.
    pub fn size(&self) -> u64 {
        self.bytes.values().map(|bytes| bytes.len() as u64).sum()
    }
}

fn twofold(path: &str) -> Error {
    let path = path.escape_debug();
    let text = format!("the source lists `{path}` both as a directory and as something else");
    Error::new(text).hint("tell its author")
}

impl Contents for InMemoryTree {
    fn each(&self, files: &[FileToRead], max: u64, visit: &mut Visit) -> Result<()> {
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
pub mod tests {
    use super::*;

    /// A tree from `path`, `path*` (executable), `path@` with a target, or `path/` for a special
    /// file.
    pub fn tree(entries: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, content) in entries {
            let (path, node) = if let Some(link) = path.strip_suffix('@') {
                let to = (*content).to_owned();
                (link, Node::Link { to })
            } else {
                let executable = path.ends_with('*');
                let id = (*content).to_owned();
                (path.trim_end_matches('*'), Node::File { id, executable })
            };
            for (at, _) in path.match_indices('/') {
                tree.insert(path[..at].to_owned(), Node::Dir { id: String::new() });
            }
            tree.insert(path.to_owned(), node);
        }
        tree
    }

    #[test]
    fn links_are_followed_on_paper() {
        let tree = tree(&[
            ("a/file", ""),
            ("b/in@", "../a/file"),
            ("dir@", "a"),
            ("b/out@", "../../etc"),
            ("abs@", "/etc/passwd"),
            ("loop@", "loop2"),
            ("loop2@", "loop"),
            ("dangling@", "a/none"),
            ("up@", "."),
        ]);
        assert_eq!(tree.resolve("b/in").unwrap(), "a/file");
        assert_eq!(tree.resolve("dir/file").unwrap(), "a/file");
        assert_eq!(tree.resolve("up/up/dir").unwrap(), "a");
        assert_eq!(tree.resolve("up").unwrap(), "");
        for (path, why) in [
            ("b/out", "leaves"),
            ("abs", "absolute"),
            ("loop", "circular"),
            ("dangling", "nothing"),
            ("../x", "leaves"),
        ] {
            assert!(tree.resolve(path).unwrap_err().contains(why), "{path}");
        }
    }

    #[test]
    fn unsafe_paths_are_not_taken_in() {
        let mut tree = Tree::default();
        let deep = |parts: usize| "d/".repeat(parts - 1) + "x";
        assert!(tree.insert(deep(limits::TREE_DEPTH), Node::Submodule));
        for path in [
            &deep(limits::TREE_DEPTH + 1),
            &"x".repeat(limits::TREE_PATH + 1),
            "../x",
            "a/../b",
            "/x",
            ".git/config",
            "a/.GIT/x",
            "",
            "a//b",
        ] {
            assert!(!tree.insert(path.to_owned(), Node::Submodule), "{path}");
        }
        assert!(tree.insert("--help/-o".to_owned(), Node::Submodule));
    }

    #[test]
    fn below_takes_the_directory_and_not_its_namesakes() {
        let tree = tree(&[("a/b", ""), ("a-x/b", ""), ("a/c/d", ""), ("ab", "")]);
        let below: Vec<&str> = tree.below("a").map(|(path, _)| path).collect();
        assert_eq!(below, ["b", "c", "c/d"]);
    }

    #[test]
    fn a_directory_around_all_is_taken_off_unless_a_skill() {
        let paths = |files: &[&str]| {
            let mut memory = InMemoryTree::default();
            for file in files {
                memory.add_file(file, Vec::new(), false).unwrap();
            }
            memory
                .unwrapped()
                .unwrap()
                .bytes
                .into_keys()
                .collect::<Vec<_>>()
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
