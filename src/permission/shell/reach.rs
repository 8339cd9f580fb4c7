//! Where the words of a command lead: every path that one may name, in every directory where it may
//! run, and its relation to the protected places.

use std::path::{Component, Path, PathBuf};

use super::Fault;
use super::directories::WorkingDirectories;
use super::operand::{Known, parts, texts};
use super::readings::Readings;
use super::word::Word;
use crate::permission::path::Located;
use crate::permission::path_context::PathContext;
use crate::permission::protected::{ANY, ONE, Relation, UNKNOWN, WHY_PROTECTED, may_be};

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

/// What the words of one command may lead to.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    /// What it is checked against.
    pub guard: Guard<'a>,
    /// Where it may run.
    pub directories: &'a WorkingDirectories,
    /// Where it may run if that is not known: the directories that the command line names.
    pub entered: &'a [PathBuf],
    /// What its words may refer to.
    pub known: Known<'a>,
}

/// One thing that a word of a command may become.
pub struct Named<'w> {
    /// The word.
    pub word: &'w Word,
    /// Its place among the command's words.
    pub at: usize,
    /// What it becomes: [`ANY`] and [`ONE`] are what a glob matches, [`UNKNOWN`] is not known.
    pub text: String,
}

impl Named<'_> {
    /// Whether this is an option.
    pub fn is_option(&self) -> bool {
        self.text.starts_with('-')
    }
}

/// Steps per word that is expanded, beside its length.
const WORD: usize = 4;
/// Steps per part of a word that may be a path, beside its length.
const PART: usize = 2;
/// A word of more parts is a text: only the whole is followed through links on disk, and parts
/// without a slash do not count.
const FOLLOWED: usize = 32;
/// The system's longest path. A longer word is none, though its parts may be.
const LONGEST: usize = 4096;
const TOO_MANY: &str = "it has too many alternatives";

impl Reach<'_> {
    /// Everything that the words of a command may become, in their order.
    ///
    /// # Errors
    /// A word that may become too many.
    pub fn named<'w>(&self, words: &'w [Word]) -> Result<Vec<Named<'w>>, Fault> {
        let mut all = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            let found = texts(word, self.known).ok_or_else(|| Fault::new(&word.raw, TOO_MANY))?;
            let length: usize = found.iter().map(String::len).sum();
            let steps = WORD * found.len() + word.raw.len() / 4 + length / 8;
            Fault::afford(self.guard.context.steps, steps)?;
            all.extend(found.into_iter().map(|text| Named { word, at, text }));
        }
        Ok(all)
    }

    /// How a text relates to the protected places as a whole. Of one that is known in part, that
    /// part counts.
    pub fn relation(&self, text: &str) -> Relation {
        self.relation_outside(text, &[], true)
    }

    /// How one path relates to the protected places.
    pub fn relation_at(&self, path: &Path) -> Relation {
        self.guard.context.relation(path)
    }

    /// Whether a text as a whole is, lies in or holds a protected place.
    pub fn is_near(&self, text: &str) -> bool {
        self.relation(text) != Relation::Apart
    }

    /// Whether a text as a whole lies in a protected place other than the active skill's own.
    pub fn lies_within(&self, text: &str) -> bool {
        self.relation_outside(text, self.guard.own, true) == Relation::Within
    }

    /// Whether part of a text lies in a protected place other than the active skill's own.
    pub fn names_place(&self, text: &str) -> bool {
        let is_text = parts(text).nth(FOLLOWED).is_some();
        parts(text).enumerate().any(|(at, part)| {
            let follows = at == 0 || !is_text;
            (follows || part.contains('/'))
                && self.relation_outside(part, self.guard.own, follows) == Relation::Within
        })
    }

    fn relation_outside(&self, text: &str, except: &[&Path], follows: bool) -> Relation {
        let steps = self.guard.context.steps;
        let known = text.split(UNKNOWN).next().unwrap_or_default();
        if known.len() < text.len() && known.is_empty() || known.len() > LONGEST {
            return Relation::Apart;
        }
        if !steps.spend(PART + known.len() / 16) {
            return Relation::Within;
        }
        // What is not known names something in that directory.
        let is_below = known.len() < text.len() && known.ends_with('/');
        let PathContext {
            resolve,
            protection,
            ..
        } = self.guard.context;
        let relation = |path: &PathBuf| {
            let located = if follows {
                self.guard.context.locate(path)
            } else {
                Located::as_written(path)
            };
            match protection.relation(&located) {
                Relation::Within if except.iter().any(|dir| located.stays_in(dir, resolve)) => {
                    Relation::Apart
                }
                Relation::Around if is_below => Relation::Apart,
                relation => relation,
            }
        };
        let paths = self.paths(known, follows);
        paths.iter().map(relation).max().unwrap_or(Relation::Apart)
    }

    /// A path in every directory where the command may run.
    pub fn paths(&self, text: &str, follows: bool) -> Vec<PathBuf> {
        if text.starts_with('/') {
            return self.with_links(text.into(), follows);
        }
        let begin = self.guard.begin;
        // After a `=`, only some shells expand it.
        if let Some(rest) = text.strip_prefix('~')
            && (rest.is_empty() || rest.starts_with('/'))
            && let Some(home) = self.known.home
        {
            return vec![format!("{home}{rest}").into(), begin.join(text)];
        }
        let mut paths: Vec<PathBuf> = Vec::new();
        for path in self.directories.resolve(text) {
            paths.extend(self.with_links(begin.join(path), follows));
        }
        if !self.directories.are_known() {
            for directory in [begin]
                .into_iter()
                .chain(self.entered.iter().map(PathBuf::as_path))
            {
                paths.extend(self.with_links(directory.join(text), follows));
            }
        }
        self.guard.context.steps.spend(paths.len());
        paths
    }

    /// A path, and its targets through the links that its first wildcard may match.
    fn with_links(&self, path: PathBuf, follows: bool) -> Vec<PathBuf> {
        if !follows || !path.to_string_lossy().contains([ANY, ONE]) {
            return vec![path];
        }
        let name = |part: Component| part.as_os_str().to_string_lossy().into_owned();
        let mut parts = path.components();
        let mut before = PathBuf::new();
        let glob = parts.by_ref().map(name).find(|name| {
            let wild = name.contains([ANY, ONE]);
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

    /// Refuses a file that the shell itself writes.
    ///
    /// # Errors
    /// The word, and the reason.
    pub fn written(&self, word: &Word) -> Checked {
        const NOT_KNOWN: &str = "it is not known which file this writes";
        let all = self.named(std::slice::from_ref(word))?;
        // `>(…)` is a pipe: the command in it is judged by itself.
        let is_pipe = word.raw.starts_with(['<', '>']);
        let is_known = |named: &Named| named.text.contains(|c| c != UNKNOWN);
        Fault::refuse_if(!is_pipe && !all.iter().any(is_known), &word.raw, NOT_KNOWN)?;
        let is_place = |named: &Named| self.relation(&named.text) == Relation::Within;
        Fault::refuse_if(all.iter().any(is_place), &word.raw, WHY_PROTECTED)
    }

    /// Whether the program of this name is our own executable.
    pub fn is_ours(&self, program: &str) -> bool {
        let places = self.guard.context.places;
        let ours = places.executable.as_deref();
        let Some(ours) = ours.filter(|_| !program.contains(UNKNOWN)) else {
            return false;
        };
        if program.contains('/') {
            return self.is_our_file(program);
        }
        let name = ours.file_name().unwrap_or_default().to_string_lossy();
        let (mut directories, resolve) = (places.path.iter(), self.guard.context.resolve);
        program == name || directories.any(|dir| resolve.is_same_file(&dir.join(program), ours))
    }

    /// Whether a text names our own executable as a file.
    pub fn is_our_file(&self, text: &str) -> bool {
        let ours = self.guard.context.places.executable.as_deref();
        ours.filter(|_| !text.contains(UNKNOWN) && !text.is_empty())
            .is_some_and(|ours| {
                let mut paths = self.paths(text, true).into_iter();
                paths.any(|path| self.guard.context.resolve.is_same_file(&path, ours))
            })
    }
}
