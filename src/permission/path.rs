//! Paths as rules compare them: absolute, without `.` and `..`, and the same once more with links
//! resolved. What a path may be used for is decided elsewhere.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::call::Places;
use super::steps::Steps;

/// The one question that deciding about a path asks the file system, answered by the caller.
pub trait Resolve {
    /// The path without links: its deepest existing parent canonicalised, and the rest.
    fn canonical(&self, path: &Path) -> PathBuf;

    /// The entries of a directory that are links.
    fn links_in(&self, dir: &Path) -> Vec<PathBuf>;

    /// Whether git surely takes this directory for the top of a working tree.
    fn is_repository(&self, _: &Path) -> bool {
        false
    }
}

/// Asks about each path once: one command may name the same directories a thousand times.
pub struct Remembering<'a> {
    inner: &'a dyn Resolve,
    steps: &'a Steps,
    known: RefCell<HashMap<PathBuf, PathBuf>>,
    links: RefCell<HashMap<PathBuf, Vec<PathBuf>>>,
}

impl<'a> Remembering<'a> {
    /// Asks `inner`, as long as there are steps.
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
        // Each component may be a question to the system.
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
}

/// Steps of one question to the file system.
const ASK: usize = 30;
/// Characters of a path that are taken apart or compared in one step.
const PER_STEP: usize = 16;

/// A path of the file system both ways: as written, and with links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// `.` and `..` taken out by their spelling.
    pub lexical: PathBuf,
    /// Links followed.
    pub canonical: PathBuf,
}

impl Located {
    /// Where the host goes for `written`: relative to the project, with `~` as the home.
    pub fn of(written: &str, places: &Places, resolve: &dyn Resolve) -> Self {
        let home = places.home.as_deref();
        let below_home = written.strip_prefix('~').zip(home);
        let path = match below_home {
            Some((rest, home)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => places.project_root.join(written),
        };
        Self {
            lexical: normalise(&path),
            canonical: resolve.canonical(&path),
        }
    }

    /// Whether either spelling lies in (or is) a directory whose links are resolved too.
    pub fn is_below(&self, dir: &Path, resolve: &dyn Resolve) -> bool {
        let canonical = resolve.canonical(dir);
        let dir = normalise(dir);
        [&self.lexical, &self.canonical]
            .into_iter()
            .any(|path| path.starts_with(&dir) || path.starts_with(&canonical))
    }

    /// Whether the path stays in a directory, as written and with links resolved.
    pub fn stays_in(&self, dir: &Path, resolve: &dyn Resolve) -> bool {
        let canonical = resolve.canonical(dir);
        let lexical =
            self.lexical.starts_with(normalise(dir)) || self.lexical.starts_with(&canonical);
        lexical && self.canonical.starts_with(&canonical)
    }

    /// Whether writing here could change skills, restrictions or what is trusted.
    pub fn is_protected(&self, places: &Places, resolve: &dyn Resolve) -> bool {
        std::iter::once(&places.plugin_dir)
            .chain(&places.skill_dirs)
            .chain(&places.skill_roots)
            .chain(&places.private)
            .filter(|dir| !dir.as_os_str().is_empty())
            .any(|dir| self.is_below(dir, resolve))
            // Looked for last: in a directory with many skills that takes a while.
            || places.skill_roots.iter().any(|root| {
                let mut linked = resolve.links_in(root).into_iter();
                linked.any(|link| self.is_below(&link, resolve))
            })
    }
}

/// A path without `.` and `..`, by spelling alone.
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

    /// A file system that is nothing but links.
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
            dir == Path::new("/p")
        }

        fn links_in(&self, dir: &Path) -> Vec<PathBuf> {
            let links = self.0.iter().map(|(from, _)| PathBuf::from(from));
            links.filter(|link| link.parent() == Some(dir)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_to_our_own_directories_is_seen_through_links_and_dots() {
        let places = Places {
            project_root: "/p".into(),
            home: Some("/h".into()),
            plugin_dir: "/h/.chibi/plugins/agent-skills".into(),
            skill_dirs: vec!["/p/.skills/pdf".into()],
            environment: None,
            cdpath: false,
            skill_roots: vec!["/skills".into()],
            private: vec!["/h/trust.json".into()],
        };
        let links = fake::Links(vec![
            ("/p/link", "/h/.chibi"),
            ("/p/.skills", "/real"),
            ("/skills/mine", "/p/work/mine"),
        ]);
        for path in [
            "/h/.chibi/plugins/agent-skills/state.json",
            "~/.chibi/plugins/agent-skills",
            "link/plugins/agent-skills/x",
            "a/../.skills/pdf/SKILL.md",
            "/real/pdf/SKILL.md",
            "/skills/new/SKILL.md",
            "work/mine/SKILL.md",
            "/h/trust.json",
        ] {
            let located = Located::of(path, &places, &links);
            assert!(located.is_protected(&places, &links), "{path}");
        }
        for path in [
            "x",
            "/h/.chibi/plugins/other",
            "~x/.chibi/plugins/agent-skills",
            "/real/pd",
        ] {
            let located = Located::of(path, &places, &links);
            assert!(!located.is_protected(&places, &links), "{path}");
        }
    }
}
