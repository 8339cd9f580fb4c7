//! Where the words of a command lead: every path that one may name, in every directory where it may
//! run, and its relation to the protected places.

use std::path::{Path, PathBuf};

use super::Rejection;
use super::directories::WorkingDirectories;
use super::programs::is_known;
use super::word::Word;
use super::word_expansion::{KnownValues, expansions, possible_paths};
use crate::path::LocatedPath;
use crate::path_context::PathContext;
use crate::protected::{Relation, UNKNOWN, WHY_PROTECTED};

/// Whether a word is accepted; the error names the word and the reason.
pub type Checked = Result<(), Rejection>;

/// What the words of one command may lead to.
#[derive(Clone, Copy)]
pub struct OperandCheck<'a> {
    /// What paths are compared against.
    pub context: PathContext<'a>,
    /// The active skills' own directories; other programs may use their files.
    pub own: &'a [&'a Path],
    /// Where it may run: an option may lead it away from the shell's directory.
    pub directories: &'a WorkingDirectories,
    /// What its words may refer to.
    pub known: KnownValues<'a>,
}

/// One thing that a word of a command may become.
pub struct WordExpansion<'w> {
    /// The word.
    pub word: &'w Word,
    /// Its place among the command's words.
    pub at: usize,
    /// What it becomes: [`ANY_TEXT`] and [`ANY_CHAR`] are what a glob matches, [`UNKNOWN`] is not known.
    pub text: String,
}

impl WordExpansion<'_> {
    /// Whether this is an option.
    pub fn is_option(&self) -> bool {
        self.text.starts_with('-')
    }
}

/// Steps per word that is expanded, beside its length.
const WORD: usize = 4;
/// Steps per part of a word that may be a path, beside its length.
const PART: usize = 2;
/// Steps per directory in which one may be.
const PATH: usize = 8;
/// A word of more parts is a text: only the whole is followed through links on disk, and parts
/// without a slash do not count.
const FOLLOWED: usize = 32;
/// The system's longest path. A longer word is none, though its parts may be.
pub const LONGEST: usize = 4096;
const TOO_MANY: &str = "it has too many alternatives";

impl OperandCheck<'_> {
    /// Everything that the words of a command may become, in their order.
    ///
    /// # Errors
    /// A word that may become too many.
    pub fn expand<'w>(&self, words: &'w [Word]) -> Result<Vec<WordExpansion<'w>>, Rejection> {
        let mut all = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            let found =
                expansions(word, self.known).ok_or_else(|| Rejection::new(&word.raw, TOO_MANY))?;
            let length: usize = found.iter().map(String::len).sum();
            let steps = WORD * found.len() + word.raw.len() / 4 + length / 8;
            Rejection::spend(self.context.steps, steps)?;
            all.extend(
                found
                    .into_iter()
                    .map(|text| WordExpansion { word, at, text }),
            );
        }
        Ok(all)
    }

    /// How a text relates to the protected places as a whole. Of one that is known in part, that
    /// part counts.
    pub fn relation(&self, text: &str) -> Relation {
        self.relation_except(text, &[], true)
    }

    /// Whether a text as a whole is, lies in or holds a protected place.
    pub fn hits_place(&self, text: &str) -> bool {
        self.relation(text) != Relation::Unrelated
    }

    /// Whether part of a text lies in a protected place other than the active skill's own.
    pub fn names_place(&self, text: &str) -> bool {
        let is_text = possible_paths(text).nth(FOLLOWED).is_some();
        possible_paths(text).enumerate().any(|(at, part)| {
            let follows = at == 0 || !is_text;
            (follows || part.contains('/'))
                && self.relation_except(part, self.own, follows) == Relation::Inside
        })
    }

    fn relation_except(&self, text: &str, except: &[&Path], follows: bool) -> Relation {
        let context = self.context;
        let known = text.split(UNKNOWN).next().unwrap_or_default();
        if known.len() < text.len() && known.is_empty() || known.len() > LONGEST {
            return Relation::Unrelated;
        }
        if !context.steps.spend(PART + known.len() / 16) {
            return Relation::Inside;
        }
        // What is not known names something in that directory.
        let is_below = known.len() < text.len() && known.ends_with('/');
        let relation = |path: PathBuf| {
            let located = if follows {
                context.locate(&path)
            } else {
                LocatedPath::as_written(&path)
            };
            let is_own = |dir: &&Path| located.is_inside(dir, context.resolve);
            match context.protection.relation(&located) {
                Relation::Inside if except.iter().any(is_own) => Relation::Unrelated,
                Relation::Ancestor if is_below => Relation::Unrelated,
                relation => relation,
            }
        };
        let paths = self.paths(known).into_iter();
        paths.map(relation).max().unwrap_or(Relation::Unrelated)
    }

    /// A path in every directory where the command may run.
    fn paths(&self, text: &str) -> Vec<PathBuf> {
        if text.starts_with('/') {
            return vec![text.into()];
        }
        let begin = self.known.start;
        // After a `=`, only some shells expand it.
        if let Some(rest) = text.strip_prefix('~')
            && (rest.is_empty() || rest.starts_with('/'))
            && let Some(home) = self.known.home
        {
            return vec![format!("{home}{rest}").into(), begin.join(text)];
        }
        let known = self.directories.resolve(text).map(|path| begin.join(path));
        let mut paths: Vec<PathBuf> = known.collect();
        if !self.directories.are_known() {
            let entered = self.known.entered.borrow();
            let entered = entered.iter().map(|entered| entered.join(text));
            paths.extend(std::iter::once(begin.join(text)).chain(entered));
        }
        self.context.steps.spend(PATH * paths.len());
        paths
    }

    /// Whether a text is certainly a directory.
    pub fn is_directory(&self, text: &str) -> bool {
        let (paths, resolve) = (self.paths(text), self.context.resolve);
        !paths.is_empty() && paths.iter().all(|path| resolve.is_directory(path))
    }

    /// Refuses a file that the shell itself writes.
    ///
    /// # Errors
    /// The word, and the reason.
    pub fn check_written(&self, word: &Word) -> Checked {
        const NOT_KNOWN: &str = "it is not known which file this writes";
        let all = self.expand(std::slice::from_ref(word))?;
        // `>(…)` is a pipe: the command in it is judged by itself.
        let is_pipe = word.raw.starts_with(['<', '>']);
        let is_known = |it: &WordExpansion| it.text.contains(|c| c != UNKNOWN);
        Rejection::err_if(!is_pipe && !all.iter().any(is_known), &word.raw, NOT_KNOWN)?;
        let is_place = |it: &WordExpansion| self.relation(&it.text) == Relation::Inside;
        Rejection::err_if(all.iter().any(is_place), &word.raw, WHY_PROTECTED)
    }

    /// Whether the program of this name is our own executable. A name in the table of programs is
    /// looked for nowhere.
    pub fn is_our_executable(&self, program: &str) -> bool {
        let places = self.context.places;
        let ours = places.executable.as_deref();
        let Some(ours) = ours.filter(|_| !program.contains(UNKNOWN) && !program.is_empty()) else {
            return false;
        };
        let is_same_executable = |path: &Path| self.context.resolve.is_same_file(path, ours);
        if program.contains('/') {
            return self
                .paths(program)
                .iter()
                .any(|path| is_same_executable(path));
        }
        let name = ours.file_name().unwrap_or_default().to_string_lossy();
        let mut directories = places.path.iter();
        program == name
            || !is_known(program) && directories.any(|dir| is_same_executable(&dir.join(program)))
    }
}
