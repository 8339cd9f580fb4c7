//! Where the words of a command lead: every path that one may name, in every directory where it may
//! run, and its relation to the protected places.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::Fault;
use super::directories::WorkingDirectories;
use super::git_names::GitNames;
use super::operand::{Known, Operand, operands};
use super::readings::Readings;
use super::word::Word;
use crate::permission::path::normalise;
use crate::permission::path_context::PathContext;
use crate::permission::protected::{ANY, ANYTHING, Relation, WHY_PROTECTED, may_be};

/// Why a directory must not be moved.
pub const MOVES_HERE: &str = "it moves the directory in which a command runs";

/// Whether a word is accepted; the error names the word and the reason.
pub type Checked = Result<(), Fault>;

/// What a command is checked against.
#[derive(Clone, Copy)]
pub struct Guard<'a> {
    /// What paths are compared against.
    pub context: PathContext<'a>,
    /// The shell's initial directory.
    pub begin: &'a Path,
    /// The active skills' own directories; other programs may use their files.
    pub own: &'a [&'a Path],
    /// The command lines read.
    pub readings: &'a Readings<'a>,
}

/// Directories that the commands read so far run in, and what they move.
#[derive(Debug, Default)]
pub struct Passed {
    /// Directories in which they may run.
    pub entered: BTreeSet<PathBuf>,
    /// What they move.
    pub moved: BTreeSet<PathBuf>,
}

impl Passed {
    /// Whether one of the directories is moved.
    pub fn is_moved(&self) -> bool {
        let mut entered = self.entered.iter();
        entered.any(|here| self.moved.iter().any(|path| here.starts_with(path)))
    }
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
    /// The names of links that the command line makes.
    pub links: &'a [String],
    /// Where the commands before it may run and what they move, if `..` may lead out of it.
    pub passed: Option<&'a RefCell<Passed>>,
    /// Whether the command line says where programs are looked for.
    pub sets_path: bool,
    /// What the command line names that `git` may be given unseen.
    pub git: GitNames,
    /// Set once an operand that a program may change is not known at all.
    pub met_unknown: &'a Cell<bool>,
}

/// Steps per word that is expanded, beside its length.
const WORD: usize = 4;

impl Reach<'_> {
    /// Applies a check to everything that a word may name.
    ///
    /// # Errors
    /// The first error of `check`.
    pub fn each(&self, word: &Word, check: impl FnMut(&Operand) -> Checked) -> Checked {
        let found = self.named(word);
        Fault::afford(self.guard.context.steps, 0)?;
        found.iter().try_for_each(check)
    }

    /// Refuses a word if `is_refused` holds for a path that it may name.
    ///
    /// # Errors
    /// The word.
    pub fn each_path(&self, word: &Word, mut is_refused: impl FnMut(&str) -> bool) -> Checked {
        self.each(word, |operand| {
            let refused = operand.path().is_some_and(&mut is_refused);
            Fault::refuse_if(refused, &word.raw, WHY_PROTECTED)
        })
    }

    /// Everything that a word may name. Costs steps.
    pub fn named(&self, word: &Word) -> Vec<Operand> {
        let found = operands(word, self.known);
        let steps = WORD + word.raw.len() + found.len();
        self.guard.context.steps.spend(steps);
        found
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
        self.guard.context.relation(path)
    }

    /// Whether a path leads to a protected place, or above one, only through links.
    pub fn leads_in(&self, text: &str) -> bool {
        let protection = self.guard.context.protection;
        let mut paths = self.paths(text).into_iter().flatten();
        paths.any(|path| {
            let located = self.guard.context.locate(&path);
            protection.relation(&located.as_written()) == Relation::Apart
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
            let protection = self.guard.context.protection;
            return protection.may_lie_within(Path::new(below));
        };
        places
            .iter()
            .any(|place| leads(place.join(target)) || leads(place.with_file_name(target)))
    }

    /// A path in every directory where the command may run; `None` if they are unknown, or if it
    /// leads through a link that the command line makes.
    pub fn paths(&self, text: &str) -> Option<Vec<PathBuf>> {
        let paths = self.paths_now(text)?;
        let leads_on =
            !self.links.is_empty() && paths.iter().any(|path| self.leads_through_link(path));
        (!leads_on).then_some(paths)
    }

    /// Whether a path leads through a link that the command line makes.
    pub fn leads_through_link(&self, path: &Path) -> bool {
        let below = path.strip_prefix(self.guard.begin).unwrap_or(path);
        let directory = below.parent().into_iter().flat_map(Path::components);
        let mut names = directory.map(|name| name.as_os_str().to_string_lossy());
        names.any(|name| {
            self.links
                .iter()
                .any(|link| may_be(link, &name) || may_be(&name, link))
        })
    }

    fn paths_now(&self, text: &str) -> Option<Vec<PathBuf>> {
        if text.starts_with('/')
            && let Some(rest) = plain_path(text).strip_prefix("/proc/")
        {
            let behind = |name| rest.split_once(name).map(|(_, path)| path);
            if let Some(path) = behind("/cwd/") {
                return self.paths_now(path);
            }
            if let Some(path) = behind("/root/") {
                return self.paths_now(&format!("/{path}"));
            }
        }
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
            .take_while(|path| self.guard.context.steps.spend(1 + path.len() / 8))
            .flat_map(|path| self.with_links(self.guard.begin.join(path)))
            .collect();
        (!paths.is_empty()).then_some(paths)
    }

    /// A path, and its targets through the links that its first wildcard may match.
    fn with_links(&self, path: PathBuf) -> Vec<PathBuf> {
        if !path.to_string_lossy().contains([ANY, ANYTHING]) {
            return vec![path];
        }
        let name = |part: Component| part.as_os_str().to_string_lossy().into_owned();
        let mut parts = path.components();
        let mut before = PathBuf::new();
        let glob = parts.by_ref().map(name).find(|name| {
            let wild = name.contains([ANY, ANYTHING]);
            if !wild {
                before.push(name);
            }
            wild
        });
        let glob = glob.unwrap_or_default();
        let links = self.guard.context.resolve.links_in(&before);
        let matched = links.into_iter().filter(|link| {
            let link = link.file_name().unwrap_or_default().to_string_lossy();
            may_be(&glob, &link)
        });
        let through: Vec<PathBuf> = matched.map(|link| link.join(parts.as_path())).collect();
        std::iter::once(path.clone()).chain(through).collect()
    }

    /// Whether a word in program position is our own executable.
    pub fn is_ours(&self, word: &Word) -> bool {
        let found = self.named(word);
        let mut paths = found.iter().filter_map(Operand::path);
        paths.any(|path| self.names_ours(path))
    }

    /// Whether a word has the name of our own executable, in whatever directory.
    pub fn is_named_like_ours(&self, word: &Word) -> bool {
        let ours = self.guard.context.places.executable.as_deref();
        let ours = ours.and_then(Path::file_name);
        let found = self.named(word);
        let mut paths = found.iter().filter_map(Operand::path);
        ours.is_some() && paths.any(|path| Path::new(path).file_name() == ours)
    }

    fn names_ours(&self, text: &str) -> bool {
        if text.is_empty() || text.contains('/') {
            return self.is_our_file(text);
        }
        let mut directories = self.guard.context.places.path.iter();
        directories.any(|directory| self.is_executable(&directory.join(text)))
    }

    fn is_executable(&self, path: &Path) -> bool {
        let PathContext {
            places, resolve, ..
        } = self.guard.context;
        let Some(ours) = places.executable.as_ref() else {
            return false;
        };
        if !path.to_string_lossy().contains([ANY, ANYTHING]) {
            return resolve.is_same_file(path, ours);
        }
        let names = |path: &Path| -> Vec<String> {
            let path = normalise(&self.guard.begin.join(path));
            let name = |name: Component| name.as_os_str().to_string_lossy().into_owned();
            path.components().map(name).collect()
        };
        let glob = names(path);
        let is_it = |ours: &Path| {
            let ours = names(ours);
            let mut both = glob.iter().zip(&ours);
            glob.len() == ours.len() && both.all(|(glob, name)| may_be(glob, name))
        };
        is_it(ours) || resolve.canonical(ours).is_some_and(|ours| is_it(&ours))
    }

    /// Whether a path leads to our executable; by its name if the directory is unknown.
    pub fn is_our_file(&self, text: &str) -> bool {
        if let Some(paths) = self.paths(text) {
            return paths.iter().any(|path| self.is_executable(path));
        }
        let ours = self.guard.context.places.executable.as_ref();
        ours.is_some_and(|ours| Path::new(text).file_name() == ours.file_name())
    }

    /// Whether a path lies in a protected place other than the active skill's own.
    pub fn is_foreign(&self, text: &str) -> bool {
        self.lies_within(text, self.guard.own)
    }

    /// Whether a path lies in a protected place other than these.
    pub fn lies_within(&self, text: &str, except: &[&Path]) -> bool {
        let PathContext {
            resolve,
            protection,
            ..
        } = self.guard.context;
        let Some(paths) = self.paths(text) else {
            // Behind a link that the command line makes, each directory may be any.
            let behind = text.match_indices('/').filter(|_| !self.links.is_empty());
            let mut behind = behind.map(|(at, _)| Path::new(&text[at + 1..]));
            return protection.may_lie_within(Path::new(text))
                || behind.any(|path| protection.may_end_within(path));
        };
        paths.iter().any(|path| {
            let located = self.guard.context.locate(path);
            let mut except = except.iter();
            protection.relation(&located) == Relation::Within
                && !except.any(|dir| located.stays_in(dir, resolve))
        })
    }

    /// Whether a directory holds a protected place, and neither the project nor the home directory.
    pub fn holds_little_else(&self, directory: &str) -> bool {
        self.is_near(directory, |path| self.relation_at(path) == Relation::Around)
    }

    /// Whether a path that goes on with an unknown name may well be a protected place: the directory
    /// of that name holds little else.
    pub fn may_be_place(&self, path: &str) -> bool {
        let Some((directory, name)) = path.rsplit_once('/') else {
            return false;
        };
        self.is_near(directory, |directory| {
            self.relation_at(&directory.join(format!("{name}{ANYTHING}"))) == Relation::Within
        })
    }

    fn is_near(&self, directory: &str, is: impl Fn(&Path) -> bool) -> bool {
        let home = self.known.home.map(Path::new);
        let is_wide = |path: &Path| {
            let mut bases = [Some(self.guard.begin), home].into_iter().flatten();
            bases.any(|base| base.starts_with(path))
        };
        let mut paths = self.paths(directory).into_iter().flatten();
        paths.any(|path| {
            let path = self.guard.begin.join(path);
            !is_wide(&normalise(&path)) && is(&path)
        })
    }
}

/// A path without empty and `.` names.
pub fn plain_path(path: &str) -> String {
    let begin = if path.starts_with('/') { "/" } else { "" };
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    let end = if path.ends_with('/') { "/" } else { "" };
    format!("{begin}{}{end}", names.collect::<Vec<_>>().join("/"))
}
