//! Where the words of a command lead: every path that one may name, in every directory where it may
//! run, and its relation to the protected places.

use std::path::{Component, Path, PathBuf};

use super::Fault;
use super::directories::WorkingDirectories;
use super::operand::{Known, Operand, operands};
use super::readings::Readings;
use super::word::Word;
use crate::permission::argument::PathContext;
use crate::permission::path::Located;
use crate::permission::protected::{ANY, ANYTHING, Relation, may_be};

/// Whether a word is accepted; the error names the word and the reason.
pub type Checked = Result<(), Fault>;

/// What a command is checked against.
#[derive(Clone, Copy)]
pub struct Guard<'a> {
    /// What paths are compared against.
    pub ground: PathContext<'a>,
    /// The shell's initial directory.
    pub begin: &'a Path,
    /// The active skills' own directories; other programs may use their files.
    pub own: &'a [&'a Path],
    /// The command lines read.
    pub readings: &'a Readings<'a>,
}

/// What the words of one command may lead to.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    /// What it is checked against.
    pub guard: Guard<'a>,
    /// Where it may run.
    pub directories: &'a WorkingDirectories,
    /// What its words may refer to.
    pub known: Known<'a>,
}

impl Reach<'_> {
    /// Applies a check to everything that a word may name.
    ///
    /// # Errors
    /// The first error of `check`.
    pub fn each(&self, word: &Word, check: impl FnMut(&Operand) -> Checked) -> Checked {
        let found = operands(word, self.known);
        self.guard.ground.steps.spend(word.raw.len() + found.len());
        found.iter().try_for_each(check)
    }

    /// How a path relates to the protected places; an unknown path counts as protected.
    pub fn relation(&self, text: &str) -> Relation {
        let Some(paths) = self.paths(text) else {
            return Relation::Within;
        };
        let relations = paths.iter().map(|path| self.relation_at(path));
        relations.max().unwrap_or(Relation::Apart)
    }

    /// How one path relates to the protected places.
    pub fn relation_at(&self, path: &Path) -> Relation {
        let PathContext {
            resolve,
            protection,
            ..
        } = self.guard.ground;
        protection.relation(&Located::at(path, resolve))
    }

    /// Whether a path leads to a protected place, or above one, only through links.
    pub fn leads_in(&self, text: &str) -> bool {
        let PathContext {
            resolve,
            protection,
            ..
        } = self.guard.ground;
        let mut paths = self.paths(text).into_iter().flatten();
        paths.any(|path| {
            let located = Located::at(&path, resolve);
            let lexical = Located {
                canonical: located.lexical.clone(),
                lexical: located.lexical.clone(),
            };
            protection.relation(&lexical) == Relation::Apart
                && protection.relation(&located) != Relation::Apart
        })
    }

    /// Whether a link to `target` may lead to a protected place, or above one: it may if it is
    /// created at or inside one of `places`. If these are unknown, it may be anywhere.
    pub fn may_lead_in(&self, places: Option<&[PathBuf]>, target: &str) -> bool {
        if target.starts_with('/') {
            return false;
        }
        let leads = |path: PathBuf| self.relation_at(&path) != Relation::Apart;
        let Some(places) = places else {
            let below = target.trim_start_matches("../");
            let protection = self.guard.ground.protection;
            return protection.may_lie_within(Path::new(below));
        };
        places
            .iter()
            .any(|place| leads(place.join(target)) || leads(place.with_file_name(target)))
    }

    /// Whether this is an existing directory.
    pub fn is_directory(&self, path: &Path) -> bool {
        self.guard.ground.resolve.is_directory(path)
    }

    /// A path in every directory where the command may run; `None` if they are unknown.
    pub fn paths(&self, text: &str) -> Option<Vec<PathBuf>> {
        if text.starts_with('/') {
            return Some(self.with_links(text.into()));
        }
        // After a `=`, only some shells expand it.
        if let Some(rest) = text.strip_prefix('~')
            && (rest.is_empty() || rest.starts_with('/'))
            && let Some(home) = self.known.home
        {
            return Some(vec![
                format!("{home}{rest}").into(),
                self.guard.begin.join(text),
            ]);
        }
        let paths: Vec<PathBuf> = self
            .directories
            .resolve(text)
            .take_while(|path| self.guard.ground.steps.spend(1 + path.len() / 8))
            .flat_map(|path| self.with_links(self.guard.begin.join(path)))
            .collect();
        (!paths.is_empty()).then_some(paths)
    }

    /// A path, and its targets through the links that its first wildcard may match.
    fn with_links(&self, path: PathBuf) -> Vec<PathBuf> {
        if !path.to_string_lossy().contains([ANY, ANYTHING]) {
            return vec![path];
        }
        let name = |part: &Component| part.as_os_str().to_string_lossy().into_owned();
        let wild = |part: &Component| name(part).contains([ANY, ANYTHING]);
        let mut parts = path.components();
        let before: PathBuf = parts.by_ref().take_while(|part| !wild(part)).collect();
        let Some(glob) = path.components().find(wild) else {
            return vec![path];
        };
        let links = self.guard.ground.resolve.links_in(&before);
        let matched = links.into_iter().filter(|link| {
            let link = link.file_name().unwrap_or_default().to_string_lossy();
            may_be(&name(&glob), &link)
        });
        let through: Vec<PathBuf> = matched.map(|link| link.join(parts.as_path())).collect();
        std::iter::once(path.clone()).chain(through).collect()
    }

    /// Whether a word in program position is our own executable.
    pub fn is_ours(&self, word: &Word) -> bool {
        let found = operands(word, self.known);
        found.iter().any(|operand| match operand {
            Operand::Path(text) => self.names_ours(text),
            _ => false,
        })
    }

    fn names_ours(&self, text: &str) -> bool {
        if text.is_empty() || text.contains('/') {
            return self.is_our_file(text);
        }
        let PathContext {
            places, resolve, ..
        } = self.guard.ground;
        places.executable.as_ref().is_some_and(|ours| {
            let mut found = places.path.iter().map(|dir| dir.join(text));
            found.any(|path| resolve.is_same_file(&path, ours))
        })
    }

    /// Whether a path leads to our executable; by its name if the directory is unknown.
    pub fn is_our_file(&self, text: &str) -> bool {
        let PathContext {
            places, resolve, ..
        } = self.guard.ground;
        places.executable.as_ref().is_some_and(|ours| {
            let is_ours = |path: &PathBuf| resolve.is_same_file(path, ours);
            match self.paths(text) {
                Some(paths) => paths.iter().any(is_ours),
                None => Path::new(text).file_name() == ours.file_name(),
            }
        })
    }

    /// Whether a path lies in a protected place other than the active skill's own.
    pub fn is_foreign(&self, text: &str) -> bool {
        let Some(paths) = self.paths(text) else {
            return self.guard.ground.protection.may_lie_within(Path::new(text));
        };
        let PathContext {
            resolve,
            protection,
            ..
        } = self.guard.ground;
        paths.iter().any(|path| {
            let located = Located::at(path, resolve);
            let mut own = self.guard.own.iter();
            protection.relation(&located) == Relation::Within
                && !own.any(|dir| located.stays_in(dir, resolve))
        })
    }
}
