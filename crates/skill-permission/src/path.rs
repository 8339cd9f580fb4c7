//! Paths as rules compare them: absolute, without `.` and `..`, both as written and with links
//! resolved. What a path may be used for is decided elsewhere.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::steps::Steps;

/// File system queries needed for decisions about paths; the caller implements them.
pub trait PathResolver {
    /// The path without links and `..`, where missing names count as directories yet to be made;
    /// `None` if it cannot be known.
    fn canonical(&self, path: &Path) -> Option<PathBuf>;

    /// The same of a name in a directory whose canonical path is `dir`.
    fn canonical_in(&self, dir: &Path, name: &OsStr) -> Option<PathBuf> {
        self.canonical(&dir.join(name))
    }

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

    /// Whether something exists at this path, be it a link that leads nowhere.
    fn exists(&self, _path: &Path) -> bool {
        true
    }

    /// Whether a file exists at this path, possibly through a link.
    fn is_file(&self, _path: &Path) -> bool {
        false
    }

    /// Whether two paths lead to the same file.
    fn is_same_file(&self, one: &Path, other: &Path) -> bool {
        let one = self.canonical(one);
        one.is_some() && one == self.canonical(other)
    }
}

/// Caches the answers: one command may name the same directories a thousand times.
pub struct CachingResolver<'a> {
    inner: &'a dyn PathResolver,
    steps: &'a Steps,
    known: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    links: RefCell<HashMap<PathBuf, Vec<PathBuf>>>,
}

impl<'a> CachingResolver<'a> {
    /// Queries `inner` while steps remain.
    pub fn new(inner: &'a dyn PathResolver, steps: &'a Steps) -> Self {
        Self {
            inner,
            steps,
            known: RefCell::default(),
            links: RefCell::default(),
        }
    }
}

impl PathResolver for CachingResolver<'_> {
    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        self.steps.spend(path.as_os_str().len() / PER_STEP);
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        // Each component may cost a system call.
        let asked = STEPS_PER_QUERY * path.components().count();
        if !self.steps.spend(asked) {
            return None;
        }
        let canonical = self.inner.canonical(path);
        let mut known = self.known.borrow_mut();
        known.insert(path.to_owned(), canonical.clone());
        canonical
    }

    fn canonical_in(&self, dir: &Path, name: &OsStr) -> Option<PathBuf> {
        if !self.steps.spend(STEPS_PER_QUERY) {
            return None;
        }
        self.inner.canonical_in(dir, name)
    }

    fn exists(&self, path: &Path) -> bool {
        self.steps.spend(STEPS_PER_QUERY);
        self.inner.exists(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.steps.spend(STEPS_PER_QUERY);
        self.inner.is_file(path)
    }

    fn is_repository(&self, dir: &Path) -> bool {
        self.inner.is_repository(dir)
    }

    fn links_in(&self, dir: &Path) -> Vec<PathBuf> {
        let mut links = self.links.borrow_mut();
        let asked = || {
            let found = self.inner.links_in(dir);
            self.steps.spend(STEPS_PER_QUERY * (1 + found.len()));
            found
        };
        links.entry(dir.to_owned()).or_insert_with(asked).clone()
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.steps.spend(STEPS_PER_QUERY) && self.inner.is_directory(path)
    }

    fn is_same_file(&self, one: &Path, other: &Path) -> bool {
        self.steps.spend(STEPS_PER_QUERY) && self.inner.is_same_file(one, other)
    }
}

/// Steps per query to the file system.
const STEPS_PER_QUERY: usize = 30;
/// Characters of a path parsed or compared per step.
const PER_STEP: usize = 8;

/// A path in all its forms. What may happen to it depends on every one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedPath {
    /// `.` and `..` removed lexically.
    pub lexical: PathBuf,
    /// Links resolved, in the lexical form and in the path as written: a shell's `cd` follows the
    /// one, the kernel the other. `None` if one of them cannot be known.
    pub resolved: Option<Vec<PathBuf>>,
}

impl LocatedPath {
    /// Locates an absolute path.
    pub fn at(path: &Path, resolve: &dyn PathResolver) -> Self {
        let lexical = normalise(path);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let forms = [lexical.as_path()]
            .into_iter()
            .chain(climbs.then_some(path));
        let resolved = forms.map(|form| resolve.canonical(form));
        let mut resolved: Option<Vec<PathBuf>> = resolved.collect();
        resolved.iter_mut().for_each(Vec::dedup);
        Self { lexical, resolved }
    }

    /// The lexical form alone, without a look at the disk.
    pub fn as_written(path: &Path) -> Self {
        Self {
            lexical: normalise(path),
            resolved: Some(Vec::new()),
        }
    }

    /// Every form; `None` if one of them cannot be known.
    pub fn forms(&self) -> Option<impl Iterator<Item = &Path>> {
        let resolved = self.resolved.as_ref()?;
        let forms = std::iter::once(&self.lexical).chain(resolved);
        Some(forms.map(PathBuf::as_path))
    }

    /// Whether the path stays in a directory in every form.
    pub fn is_inside(&self, dir: &Path, resolve: &dyn PathResolver) -> bool {
        let Some((resolved, canonical)) = self.resolved.as_ref().zip(resolve.canonical(dir)) else {
            return false;
        };
        let lexical =
            self.lexical.starts_with(normalise(dir)) || self.lexical.starts_with(&canonical);
        lexical && resolved.iter().all(|path| path.starts_with(&canonical))
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
mod tests {
    use super::*;

    struct Nothing;

    impl PathResolver for Nothing {
        fn canonical(&self, _: &Path) -> Option<PathBuf> {
            None
        }

        fn links_in(&self, _: &Path) -> Vec<PathBuf> {
            Vec::new()
        }
    }

    #[test]
    fn an_unknown_path_is_in_no_directory() {
        let path = Path::new("/p");
        assert!(!Nothing.is_directory(path) && !Nothing.is_repository(path));
        assert!(!Nothing.is_same_file(path, path));
        let located = LocatedPath::at(path, &Nothing);
        assert!(located.forms().is_none() && !located.is_inside(path, &Nothing));
    }

    #[test]
    fn a_directory_may_be_named_by_its_link_or_by_what_it_is() {
        let links = fake::Links(vec![("/link", "/real"), ("/real/out", "/etc")]);
        let stays = |path: &str, dir: &str| {
            LocatedPath::at(Path::new(path), &links).is_inside(Path::new(dir), &links)
        };
        for (path, dir) in [
            ("/link/x", "/link"),
            ("/real/x", "/link"),
            ("/real/x", "/real"),
        ] {
            assert!(stays(path, dir), "{path} {dir}");
        }
        for (path, dir) in [
            ("/link/x", "/real"),
            ("/link/out", "/link"),
            ("/real/out/x", "/real"),
            ("/etc/x", "/real"),
        ] {
            assert!(!stays(path, dir), "{path} {dir}");
        }
    }
}

#[cfg(test)]
pub mod fake {
    use super::{Path, PathBuf, PathResolver, normalise};

    /// A file system that contains only links. One to nowhere (`""`) cannot be resolved.
    #[derive(Default)]
    pub struct Links(pub Vec<(&'static str, &'static str)>);

    impl PathResolver for Links {
        fn canonical(&self, path: &Path) -> Option<PathBuf> {
            let mut done = PathBuf::new();
            for component in path.components() {
                done = normalise(&done.join(component));
                let link = self.0.iter().find(|(from, _)| Path::new(from) == done);
                match link {
                    Some((_, "")) => return None,
                    Some((_, to)) => done = PathBuf::from(to),
                    None => {}
                }
            }
            Some(done)
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
            let Some(path) = self.canonical(path) else {
                return false;
            };
            let mut entries = self.0.iter();
            entries.any(|(from, to)| from == to && Path::new(from) == path)
        }
    }
}
