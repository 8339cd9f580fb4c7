//! What a command runs by its words, as the table of programs says: another command, or a text.

use std::borrow::Cow;

use super::programs::{APPENDS_INPUT, NeutralForm, OperandUse, Program, Runs, list_contains};
use super::word::{Piece, Word};
use super::{builtins, find, shells, wrappers};

/// Something that a command runs by its words.
pub enum Run<'w> {
    /// Another command.
    Command(Cow<'w, [Word]>),
    /// A command line.
    Text {
        /// The text; what is not known of it stays as it is written.
        text: String,
        /// Whether all of it is known.
        is_known: bool,
    },
}

/// The place among its arguments where the command begins that it runs.
pub fn runs_from(program: &Program, arguments: &[Word]) -> Option<usize> {
    let Runs::Command {
        valued,
        operands,
        verbs,
        ..
    } = program.runs
    else {
        return None;
    };
    let mut at = 0;
    if !verbs.is_empty() {
        at = 1 + arguments
            .iter()
            .position(|word| word.text_is(|text| list_contains(verbs, text)))?;
    }
    let assigns = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('='));
    let (mut left, mut options) = (operands, true);
    while let Some(word) = arguments.get(at) {
        let text = word.prefix();
        if options && text == "--" {
            options = false;
        } else if options && text.len() > 1 && text.starts_with('-') {
            let is_valued = |c: char| list_contains(valued, c.encode_utf8(&mut [0; 4]));
            let takes_next = if text.starts_with("--") {
                list_contains(valued, text)
            } else {
                let found = text[1..].find(is_valued);
                found.is_some_and(|at| at + 2 == text.len())
            };
            at += usize::from(takes_next);
        } else if !word.pieces.iter().any(assigns) {
            if left == 0 {
                return Some(at);
            }
            left -= 1;
        }
        at += 1;
    }
    None
}

/// What a command of it runs by its words.
pub fn run_by<'w>(program: &Program, arguments: &'w [Word]) -> Vec<Run<'w>> {
    let text = |words: &[Word]| {
        let written = |word: &Word| match word.text() {
            Some(text) => text.to_owned(),
            None => word.raw.trim_matches(['"', '\'']).to_owned(),
        };
        let all: Vec<String> = words.iter().map(written).collect();
        let text = Run::Text {
            text: all.join(" "),
            is_known: words.iter().all(|word| word.text().is_some()),
        };
        let is_empty = all.iter().all(|text| text.trim().is_empty());
        (!is_empty).then_some(text).into_iter().collect()
    };
    match program.runs {
        Runs::Nothing if program.operand_use == OperandUse::Find => {
            let commands = find::commands(arguments).into_iter();
            commands.map(|words| Run::Command(words.into())).collect()
        }
        Runs::Nothing => Vec::new(),
        Runs::Text => match (shells::text_of(arguments), arguments.first()) {
            (Some(word), _) => text(std::slice::from_ref(word)),
            (None, Some(script)) if script.text_is(shells::is_script) => {
                vec![Run::Command(arguments.into())]
            }
            _ => Vec::new(),
        },
        Runs::Words => text(arguments),
        Runs::Later => text(&arguments[..arguments.len().min(1)]),
        Runs::Command { .. }
            if program.neutral == NeutralForm::CommandV && builtins::looks(arguments) =>
        {
            Vec::new()
        }
        Runs::Command { .. } => {
            let Some(from) = runs_from(program, arguments) else {
                return Vec::new();
            };
            let mut words = Cow::Borrowed(&arguments[from..]);
            if program.has(APPENDS_INPUT) {
                match wrappers::behind_options(program, arguments) {
                    Some(exact) => words = exact,
                    None => find::fill_in(words.to_mut()),
                }
            }
            vec![Run::Command(words)]
        }
    }
}

/// Options of `git` whose value is the next word.
const VALUED: &str =
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source";

/// The directory and the command of `git -C DIRECTORY …`, which runs as behind `cd DIRECTORY`.
pub fn git_elsewhere(words: &[Word]) -> Option<(&str, Vec<Word>)> {
    let [git, option, directory, rest @ ..] = words else {
        return None;
    };
    let directory = directory
        .text()
        .filter(|to| !to.is_empty() && !to.starts_with('~'))?;
    let is_git = git.text() == Some("git") && option.text() == Some("-C");
    is_git.then(|| (directory, [std::slice::from_ref(git), rest].concat()))
}

/// The place of the subcommand of `git` among its arguments.
pub fn git_verb(arguments: &[Word]) -> usize {
    let mut at = 0;
    while let Some(option) = arguments.get(at).filter(|word| word.may_be_option()) {
        at += 1 + usize::from(option.text_is(|text| list_contains(VALUED, text)));
    }
    at.min(arguments.len())
}
