//! Where the shell may be while a command line runs: every directory that some outcome of the
//! commands before leads to, so that a relative path is judged for all of them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::judge::Rules;

/// Beyond this many the shell's directory counts as unknown.
const MAX: usize = 32;

/// The directories the shell may be in, relative to the project.
#[derive(Debug, Clone)]
pub struct WorkingDirectories {
    /// `None` when they are not known.
    current: Option<BTreeSet<PathBuf>>,
    /// Where it is if something in the current chain of `&&` failed.
    if_failed: BTreeSet<PathBuf>,
}

impl Default for WorkingDirectories {
    fn default() -> Self {
        Self {
            current: Some(BTreeSet::from([PathBuf::new()])),
            if_failed: BTreeSet::new(),
        }
    }
}

impl WorkingDirectories {
    /// Whether the shell is surely where it began, so that a relative program is the one meant.
    pub fn are_unchanged(&self) -> bool {
        let begin =
            |current: &BTreeSet<PathBuf>| current.iter().all(|one| one.as_os_str().is_empty());
        self.current.as_ref().is_some_and(begin)
    }

    /// Whether anything is known.
    pub fn are_known(&self) -> bool {
        self.current.is_some()
    }

    /// From here on the shell may be anywhere.
    pub fn lose(&mut self) {
        self.current = None;
    }

    /// Changes to `directory`, if that is home ground wherever the shell is now.
    pub fn enter(&mut self, directory: &str, rules: &dyn Rules) -> bool {
        let is_explicit = ["/", "./", "../"]
            .iter()
            .any(|start| directory.starts_with(start));
        if rules.searches_directories() && !is_explicit {
            return false;
        }
        let from = match &self.current {
            None if directory.starts_with('/') => BTreeSet::from([PathBuf::new()]),
            None => return false,
            Some(current) => current.clone(),
        };
        let to: BTreeSet<PathBuf> = from.iter().map(|from| from.join(directory)).collect();
        let at_home = |path: &PathBuf| rules.is_home_ground(&path.to_string_lossy());
        if !to.iter().all(at_home) {
            return false;
        }
        if self.current.is_some() {
            self.if_failed.extend(from);
            self.current = Some(to);
        }
        true
    }

    /// Forgets what was known to have succeeded.
    pub fn join(&mut self) {
        let failed = std::mem::take(&mut self.if_failed);
        if let Some(current) = &mut self.current {
            current.extend(failed);
            if current.len() > MAX {
                self.current = None;
            }
        }
    }

    /// A relative path in each directory; none when they are not known.
    pub fn resolve(&self, path: &str) -> impl Iterator<Item = String> {
        let current = self.current.iter().flatten();
        current.map(move |directory| directory.join(path).to_string_lossy().into_owned())
    }
}
