//! Tracks every directory that the preceding commands may lead to, so that a relative path is
//! checked in all of them. If that is unclear, the directory is unknown and no relative path is
//! granted (docs/spec/restriction.md#the-working-directory).

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::step::BlockKind;
use crate::protected::UNKNOWN;

/// With more directories than this, the directory counts as unknown.
const MAX: usize = 32;

/// The directories the shell may be in, relative to the project.
#[derive(Debug, Clone)]
pub struct WorkingDirectories {
    /// `None` if they are unknown.
    current: Option<Paths>,
    /// Where the shell is if a command in the current `&&` chain failed.
    if_failed: Paths,
    /// Of each enclosing part whether it moves, and if a subshell does, the two above at its beginning.
    around: Vec<(bool, Option<State>)>,
}

type Paths = BTreeSet<PathBuf>;
/// The two that change.
type State = (Option<Paths>, Paths);

impl Default for WorkingDirectories {
    fn default() -> Self {
        Self::at(PathBuf::new())
    }
}

impl WorkingDirectories {
    /// Only this directory.
    pub fn at(directory: PathBuf) -> Self {
        Self {
            current: Some(Paths::from([directory])),
            if_failed: Paths::new(),
            around: Vec::new(),
        }
    }

    /// Where a command runs that changes to one of these directories by an option. What is not
    /// known leads nowhere else.
    pub fn joined_with(&self, to: &[&str]) -> Self {
        let known = to.iter().filter_map(|to| to.split(UNKNOWN).next());
        let nowhere = Paths::from([PathBuf::new()]);
        let current = self.current.as_ref().unwrap_or(&nowhere).iter();
        let all = current.flat_map(|from| known.clone().map(|to| from.join(to)));
        Self {
            current: Some(all.collect()),
            ..Self::default()
        }
    }

    /// Whether relative paths in rules mean what their author intended: each directory is a root,
    /// the project's or a skill's.
    pub fn are_roots(&self, is_root: impl Fn(&str) -> bool) -> bool {
        let is_root =
            |path: &PathBuf| path.as_os_str().is_empty() || is_root(&path.to_string_lossy());
        self.current
            .as_ref()
            .is_some_and(|all| all.iter().all(is_root))
    }

    /// The total length of all paths.
    pub fn length(&self) -> usize {
        let paths = self.current.iter().flatten().chain(&self.if_failed);
        paths.map(|path| path.as_os_str().len()).sum()
    }

    /// Whether the directories are known.
    pub fn are_known(&self) -> bool {
        self.current.is_some()
    }

    /// Marks the directory as unknown from here on.
    pub fn forget(&mut self) {
        self.current = None;
    }

    /// Enters a part of the command line.
    pub fn enter_block(&mut self, kind: BlockKind, moves: bool) {
        if moves && kind == BlockKind::Mixed {
            self.forget();
        }
        let is_restored = moves && kind == BlockKind::Subshell;
        let before = is_restored.then(|| (self.current.clone(), self.if_failed.clone()));
        self.around.push((moves, before));
    }

    /// Leaves the innermost part; a subshell restores the directory.
    pub fn leave_block(&mut self) {
        match self.around.pop() {
            Some((_, Some(before))) => (self.current, self.if_failed) = before,
            Some((true, None)) => self.forget(),
            _ => {}
        }
    }

    /// Changes to `directory`, if it is inside the project or skill from every possible current
    /// one. With `cdpath`, `cd x` may lead to an `x` elsewhere.
    pub fn enter(
        &mut self,
        directory: &str,
        is_inside: impl Fn(&str) -> bool,
        cdpath: bool,
    ) -> bool {
        let starts = ["/", "./", "../"];
        if cdpath && !starts.iter().any(|start| directory.starts_with(start)) {
            return false;
        }
        let from = match &self.current {
            None if directory.starts_with('/') => Paths::from([PathBuf::new()]),
            None => return false,
            Some(current) => current.clone(),
        };
        let to: Paths = from.iter().map(|from| from.join(directory)).collect();
        let at_home = |path: &PathBuf| is_inside(&path.to_string_lossy());
        if !to.iter().all(at_home) {
            return false;
        }
        if self.current.is_some() {
            self.if_failed.extend(from);
            self.current = Some(to);
        }
        true
    }

    /// Discards what was known to have succeeded.
    pub fn join(&mut self) {
        let failed = std::mem::take(&mut self.if_failed);
        if let Some(current) = &mut self.current {
            current.extend(failed);
            if current.len() > MAX {
                self.current = None;
            }
        }
    }

    /// A relative path in each directory; empty if they are unknown.
    pub fn resolve(&self, path: &str) -> impl Iterator<Item = String> {
        let current = self.current.iter().flatten();
        current.map(move |directory| directory.join(path).to_string_lossy().into_owned())
    }
}
