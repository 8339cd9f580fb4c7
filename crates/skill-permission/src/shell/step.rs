//! What the shell will do, as a flat list in order; the rules are checked against this list.

use std::rc::Rc;

use super::programs::{CHANGES_DIRECTORY, EVALUATES, PREFIX, by_name};
use super::word::Word;

/// One step of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineStep {
    /// A simple command.
    Command(SimpleCommand),
    /// A redirection of the next command, simple or compound: the shell opens the file first.
    Redirect(Redirection),
    /// A loop assigns this variable.
    Loop(String),
    /// From here on it is unknown whether the preceding commands succeeded.
    Join,
    /// Begins a part in which directory changes are local or are not followed.
    Enter {
        /// The kind of part.
        kind: BlockKind,
        /// Whether something in it may change the directory of the shell that runs it.
        moves: bool,
    },
    /// Ends that part.
    Leave,
}

/// The kind of a part that affects the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// `( … )` or a substitution: its changes end with it.
    Subshell,
    /// `if` or `case`: only some of its parts run.
    Branches,
    /// A loop, whose parts may run in any order; or a pipeline, whose parts run concurrently, in
    /// the shell or not.
    Mixed,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// `NAME=value` words before it.
    pub assignments: Vec<Assignment>,
    /// Program and arguments; empty for bare assignments.
    pub words: Vec<Word>,
    /// Its position in a pipeline.
    pub stage: usize,
    /// Whether it may run repeatedly.
    pub in_loop: bool,
    /// Where its input comes from.
    pub input: StdinSource,
    /// The variables that nothing in the command line sets: their values are the host's.
    pub untouched: Rc<[String]>,
}

/// Where the input of a command comes from; of several redirections, the later in this list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StdinSource {
    /// From a pipe, or from outside.
    Outer,
    /// From text in the command itself.
    Text,
    /// From a file or substitution.
    File,
    /// Perhaps from another descriptor.
    Unknown,
}

/// An assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The word as written.
    pub raw: String,
    /// Name and value, if the value is known text.
    pub text: Option<String>,
    /// Whether its value may be passed to a program.
    pub is_safe: bool,
}

/// A redirection to or from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Whether the file is written.
    pub writes: bool,
    /// The file.
    pub target: Word,
}

impl SimpleCommand {
    /// Whether it may change the shell's directory, including behind wrappers.
    pub fn may_change_directory(&self) -> bool {
        let has = |word: &Word, traits| word.fits(|text| by_name(text).has(traits));
        let prefixed = |at: usize| self.words[..at].iter().all(|word| has(word, PREFIX));
        let moves = |(at, word): (usize, &Word)| {
            has(word, CHANGES_DIRECTORY | EVALUATES) && (word.text() != Some(".") || prefixed(at))
        };
        self.words.first().is_some_and(|word| word.text().is_none())
            || self.assigns("CDPATH")
            || self.words.iter().enumerate().any(moves)
    }

    /// Whether it assigns a value to this variable.
    pub fn assigns(&self, name: &str) -> bool {
        self.assignments.iter().any(|one| one.name == name)
    }

    /// The command as written, for people.
    pub fn source(&self) -> String {
        let assignments = self.assignments.iter().map(|one| one.raw.as_str());
        let words = self.words.iter().map(|word| word.raw.as_str());
        assignments.chain(words).collect::<Vec<_>>().join(" ")
    }
}
