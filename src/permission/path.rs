//! Paths as rules compare them: absolute, without `.` and `..`, both as written and with links
//! resolved. What a path may be used for is decided elsewhere.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::steps::Steps;

/// File system queries needed for decisions about paths; the caller implements them.
pub trait Resolve {
    /// The path without links: its deepest existing ancestor canonicalised, plus the rest.
    fn canonical(&self, path: &Path) -> PathBuf;

    /// The entries of a directory that are symbolic links.
    fn links_in(&self, dir: &Path) -> Vec<PathBuf>;

    /// Whether git certainly treats this directory as the root of a working tree.
    fn is_repository(&self, _: &Path) -> bool {
        false
    }

    /// Whether a directory exists at this path, possibly through a link.
    fn is_directory(&self, _path: &Path) -> bool {
        false
    }

    /// Whether two paths lead to the same file.
    fn is_same_file(&self, one: &Path, other: &Path) -> bool {
        self.canonical(one) == self.canonical(other)
    }
}

/// Caches the answers: one command may name the same directories a thousand times.
pub struct Remembering<'a> {
    inner: &'a dyn Resolve,
    steps: &'a Steps,
    known: RefCell<HashMap<PathBuf, PathBuf>>,
    links: RefCell<HashMap<PathBuf, Vec<PathBuf>>>,
}

impl<'a> Remembering<'a> {
    /// Queries `inner` while steps remain.
    pub fn new(inner: &'a dyn Resolve, steps: &'a Steps) -> Self {
        Self {
            inner,
            steps,
            known: RefCell::default(),
            links: RefCell::default(),
        }
    }
}

impl Resolve for Remembering<'_> {
    fn canonical(&self, path: &Path) -> PathBuf {
        self.steps.spend(path.as_os_str().len() / PER_STEP);
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        // Each component may cost a system call.
        let asked = ASK * path.components().count();
        if !self.steps.spend(asked) {
            return path.to_owned();
        }
        let canonical = self.inner.canonical(path);
        let mut known = self.known.borrow_mut();
        known.insert(path.to_owned(), canonical.clone());
        canonical
    }

    fn is_repository(&self, dir: &Path) -> bool {
        self.inner.is_repository(dir)
    }

    fn links_in(&self, dir: &Path) -> Vec<PathBuf> {
        let mut links = self.links.borrow_mut();
        let asked = || {
            let found = self.inner.links_in(dir);
            self.steps.spend(ASK * (1 + found.len()));
            found
        };
        links.entry(dir.to_owned()).or_insert_with(asked).clone()
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.steps.spend(ASK) && self.inner.is_directory(path)
    }

    fn is_same_file(&self, one: &Path, other: &Path) -> bool {
        self.steps.spend(ASK) && self.inner.is_same_file(one, other)
    }
}

/// Steps per query to the file system.
const ASK: usize = 30;
/// Characters of a path parsed or compared per step.
const PER_STEP: usize = 8;

/// A path in both forms: as written and with links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// `.` and `..` removed lexically.
    pub lexical: PathBuf,
    /// Links resolved.
    pub canonical: PathBuf,
}

impl Located {
    /// Locates an absolute path.
    pub fn at(path: &Path, resolve: &dyn Resolve) -> Self {
        Self {
            lexical: normalise(path),
            canonical: resolve.canonical(path),
        }
    }

    /// Whether the path stays in a directory, both as written and with links resolved.
    pub fn stays_in(&self, dir: &Path, resolve: &dyn Resolve) -> bool {
        let canonical = resolve.canonical(dir);
        let lexical =
            self.lexical.starts_with(normalise(dir)) || self.lexical.starts_with(&canonical);
        lexical && self.canonical.starts_with(&canonical)
    }
}

/// Removes `.` and `..` from a path lexically.
pub fn normalise(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
pub mod fake {
    use super::{Path, PathBuf, Resolve, normalise};

    /// A file system that contains only links.
    #[derive(Default)]
    pub struct Links(pub Vec<(&'static str, &'static str)>);

    impl Resolve for Links {
        fn canonical(&self, path: &Path) -> PathBuf {
            let mut done = PathBuf::new();
            for component in path.components() {
                done = normalise(&done.join(component));
                let link = self.0.iter().find(|(from, _)| Path::new(from) == done);
                if let Some((_, to)) = link {
                    done = PathBuf::from(to);
                }
            }
            done
        }

        fn is_repository(&self, dir: &Path) -> bool {
            dir == Path::new("/p") && !self.0.contains(&("/p/.git", "/nowhere"))
        }

        fn links_in(&self, dir: &Path) -> Vec<PathBuf> {
            let links = self.0.iter().map(|(from, _)| PathBuf::from(from));
            links.filter(|link| link.parent() == Some(dir)).collect()
        }

        /// A directory exists if it is listed as a link to itself.
        fn is_directory(&self, path: &Path) -> bool {
            let path = self.canonical(path);
            let mut entries = self.0.iter();
            entries.any(|(from, to)| from == to && Path::new(from) == path)
        }
    }
}
