//! The files of a repository or a directory as a list of paths. Links are resolved in this list,
//! without the file system. Pure.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use crate::sys::limits;

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
                    at.pop().ok_or("it leads out of the repository")?;
                    continue;
                }
                part => at.push(part),
            }
            match self.nodes.get(&at.join("/")) {
                Some(Node::Link { to }) => {
                    hops += 1;
                    if hops > limits::LINK_HOPS {
                        return Err("it leads in a circle");
                    }
                    if to.starts_with('/') {
                        return Err("it leads to an absolute path");
                    }
                    at.pop();
                    for part in to.split('/').rev() {
                        todo.push_front(part);
                    }
                }
                Some(_) => {}
                None => return Err("it leads nowhere"),
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
pub fn normal(path: &str) -> Option<String> {
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
            ("b/out", "out of"),
            ("abs", "absolute"),
            ("loop", "circle"),
            ("dangling", "nowhere"),
            ("../x", "out of"),
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
}
