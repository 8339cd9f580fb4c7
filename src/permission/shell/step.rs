//! What the shell will do, as a flat list in order: the form in which a command line is judged.

use super::names::SafeValue;
use super::word::Word;

/// What the shell will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A simple command.
    Command(Simple),
    /// A redirection of the command after it, simple or compound: the shell opens the file first.
    Redirect(Redirect),
    /// A loop gives this variable its values.
    Loop(String),
    /// From here on it is not known whether the last commands succeeded.
    Join,
    /// A part begins in which the directory is kept apart, or is not followed.
    Enter(Scope),
    /// That part ends.
    Leave,
}

/// A part of a command line that matters for the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// Whether something in it may change the directory of the shell that runs it.
    pub moves: bool,
}

/// What such a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// `( … )` or a substitution: what it changes ends with it.
    Subshell,
    /// `if` or `case`, of which only some of it runs.
    Branches,
    /// A loop, of which each part may run after each other part; or a pipeline, whose parts run at
    /// once and in the shell or not.
    Mixed,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// `NAME=value` words before it.
    pub assignments: Vec<Assignment>,
    /// Program and arguments; none for bare assignments.
    pub words: Vec<Word>,
    /// Where it stands in a pipeline.
    pub stage: usize,
    /// Whether it may run again and again.
    pub in_loop: bool,
    /// Whether something is read from a file or substitution.
    pub reads_input: bool,
    /// Whether its input is text in the command itself.
    pub has_text_input: bool,
}

/// An assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The word as it is written.
    pub raw: String,
    /// Name and value, when the value is known text.
    pub text: Option<String>,
    /// The value, when a program may be given it.
    pub value: Option<SafeValue>,
}

/// A redirection to or from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Whether the file is written.
    pub writes: bool,
    /// The file.
    pub target: Word,
}

/// Words that may leave the shell elsewhere.
const CHANGES_DIRECTORY: [&str; 3] = ["cd", "pushd", "popd"];

/// Words that run text in this shell, now or later.
const EVALUATES: [&str; 4] = ["eval", "source", ".", "trap"];

/// Whether a command line that is evaluated in this shell may leave it in another directory.
pub fn text_may_move(text: &str) -> bool {
    let mut words = CHANGES_DIRECTORY.iter().chain(&EVALUATES);
    words.any(|word| text.contains(word))
}

/// Whether a program of this name leaves the shell in another directory.
pub fn changes_directory(program: &str) -> bool {
    CHANGES_DIRECTORY.contains(&program)
}

impl Simple {
    /// Whether it may leave the shell in another directory, also behind wrappers.
    pub fn may_move(&self) -> bool {
        let sets = |one: &Assignment| one.name == "CDPATH";
        let is_unknown = self.words.first().is_some_and(|word| word.text().is_none());
        let prefixed = |at: usize| {
            let mut before = self.words[..at].iter();
            before.all(|word| matches!(word.text(), Some("command" | "builtin")))
        };
        let moves = |(at, word): (usize, &Word)| {
            let text = word.text().unwrap_or_default();
            CHANGES_DIRECTORY.contains(&text)
                || EVALUATES.contains(&text) && (text != "." || prefixed(at))
        };
        is_unknown || self.assignments.iter().any(sets) || self.words.iter().enumerate().any(moves)
    }

    /// The command as it is written, for people.
    pub fn shown(&self) -> String {
        let assignments = self.assignments.iter().map(|one| one.raw.as_str());
        let words = self.words.iter().map(|word| word.raw.as_str());
        assignments.chain(words).collect::<Vec<_>>().join(" ")
    }
}
