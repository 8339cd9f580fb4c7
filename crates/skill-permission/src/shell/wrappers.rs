//! What a command runs by its words, as the table of programs says: another command, or a command
//! string. For denials and protected places this is whatever may run; for grants only what every
//! shell and version reads alike (docs/spec/restriction.md#wrappers): any other option makes the
//! wrapper an ordinary command.

use std::borrow::Cow;

use super::programs::{
    APPENDS_INPUT, NeutralForm, OperandUse, Program, SAME_GRAMMAR, Wraps, by_name, has_word,
    without_system_path,
};
use super::word::{Piece, Word, is_digits, make_unknown};
use super::{find, neutral_commands, variables};

/// Something that a command runs by its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrappedCommand<'w> {
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
pub fn inner_command_start(program: &Program, arguments: &[Word]) -> Option<usize> {
    let Wraps::Command {
        valued,
        operands,
        verbs,
        ..
    } = program.wraps
    else {
        return None;
    };
    let mut at = 0;
    if !verbs.is_empty() {
        at = 1 + arguments
            .iter()
            .position(|word| word.fits(|text| has_word(verbs, text)))?;
    }
    let assigns = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('='));
    let (mut left, mut options) = (operands, true);
    while let Some(word) = arguments.get(at) {
        let text = word.prefix();
        if options && text == "--" {
            options = false;
        } else if options && text.len() > 1 && text.starts_with('-') {
            let is_valued = |c: char| has_word(valued, c.encode_utf8(&mut [0; 4]));
            let takes_next = if text.starts_with("--") {
                has_word(valued, text)
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
pub fn inner_commands<'w>(program: &Program, arguments: &'w [Word]) -> Vec<WrappedCommand<'w>> {
    let text = |words: &[Word]| {
        let written = |word: &Word| match word.text() {
            Some(text) => text.to_owned(),
            None => word.raw.trim_matches(['"', '\'']).to_owned(),
        };
        let all: Vec<String> = words.iter().map(written).collect();
        let text = WrappedCommand::Text {
            text: all.join(" "),
            is_known: words.iter().all(|word| word.text().is_some()),
        };
        let is_empty = all.iter().all(|text| text.trim().is_empty());
        (!is_empty).then_some(text).into_iter().collect()
    };
    match program.wraps {
        Wraps::Nothing if program.operand_use == OperandUse::Find => {
            let commands = find::exec_commands(arguments).into_iter();
            commands
                .map(|words| WrappedCommand::Command(words.into()))
                .collect()
        }
        Wraps::Nothing => Vec::new(),
        Wraps::CommandString => match text_for_bash(arguments) {
            Some(word) => text(std::slice::from_ref(word)),
            None if runs_script(arguments) => vec![WrappedCommand::Command(arguments.into())],
            None => Vec::new(),
        },
        Wraps::Eval => text(arguments),
        Wraps::Trap => text(&arguments[..arguments.len().min(1)]),
        Wraps::Command { .. }
            if program.neutral == NeutralForm::CommandV
                && neutral_commands::is_name_lookup(arguments) =>
        {
            Vec::new()
        }
        Wraps::Command { .. } => {
            let Some(from) = inner_command_start(program, arguments) else {
                return Vec::new();
            };
            let mut words = Cow::Borrowed(&arguments[from..]);
            if program.has(APPENDS_INPUT) {
                match after_listed_options(program, arguments) {
                    Some(exact) => words = exact,
                    None => find::substitute_file_names(words.to_mut()),
                }
            }
            vec![WrappedCommand::Command(words)]
        }
    }
}

/// Options of `git` whose value is the next word.
const VALUED: &str =
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source";

/// The directory and the command of `git -C DIRECTORY …`, which runs as behind `cd DIRECTORY`.
pub fn split_git_directory(words: &[Word]) -> Option<(&str, Vec<Word>)> {
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
pub fn git_subcommand_index(arguments: &[Word]) -> usize {
    let mut at = 0;
    while let Some(option) = arguments.get(at).filter(|word| word.may_be_option()) {
        at += 1 + usize::from(option.fits(|text| has_word(VALUED, text)));
    }
    at.min(arguments.len())
}

/// The command inside a wrapper; `None` if this is not certainly one.
pub fn grantable_inner(words: &[Word]) -> Option<WrappedCommand<'_>> {
    let (program, arguments) = words.split_first()?;
    let program = by_name(without_system_path(program.text()?));
    let known = |text: String| WrappedCommand::Text {
        text,
        is_known: true,
    };
    match program.wraps {
        Wraps::Command { .. } => {
            after_listed_options(program, arguments).map(WrappedCommand::Command)
        }
        Wraps::Eval => {
            let texts: Option<Vec<&str>> = arguments.iter().map(Word::text).collect();
            let texts = texts.filter(|texts| !texts.is_empty())?;
            Some(known(texts.join(" ")))
        }
        Wraps::CommandString if program.has(SAME_GRAMMAR) => match grantable_text(arguments) {
            Some(text) => Some(known(text.to_owned())),
            None => runs_script(arguments).then(|| WrappedCommand::Command(arguments.into())),
        },
        Wraps::CommandString | Wraps::Trap | Wraps::Nothing => None,
    }
}

/// The command behind the options and operands of a wrapper, if the table lists them all. `xargs`
/// appends unknown words to it, or substitutes them.
fn after_listed_options<'w>(program: &Program, arguments: &'w [Word]) -> Option<Cow<'w, [Word]>> {
    let Wraps::Command {
        operands,
        grantable: Some(grantable),
        ..
    } = program.wraps
    else {
        return None;
    };
    let (mut rest, mut placeholder) = (arguments, None);
    while let Some((word, after)) = rest.split_first() {
        let Some(text) = word.text().filter(|text| is_option(text, grantable)) else {
            break;
        };
        rest = after;
        if text.contains('=') && !text.starts_with('-') {
            continue;
        }
        let (option, joined) = match text.split_once('=') {
            Some((option, value)) if text.starts_with("--") => (option, value),
            _ if text.starts_with("--") => (text, ""),
            _ => text.split_at_checked(2).unwrap_or((text, "")),
        };
        let is_number = has_word(grantable, "-#") && is_digits(&text[1..]);
        if is_number || has_word(grantable, text) {
            continue;
        }
        // Not `--option VALUE`: some versions take no value there.
        let is_valued = grantable
            .split(' ')
            .any(|one| one.strip_suffix(':') == Some(option));
        if !is_valued || joined.is_empty() && text.starts_with("--") {
            return None;
        }
        let mut value = joined;
        if joined.is_empty() {
            (value, rest) = (rest.first()?.text()?, &rest[1..]);
        }
        if option == "-I" {
            placeholder = Some(value).filter(|name| !name.is_empty());
            placeholder?;
        }
    }
    for _ in 0..operands {
        let begins = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        rest = rest.split_first().filter(|(word, _)| word.fits(begins))?.1;
    }
    let is_program =
        |text: &str| !text.starts_with('-') && (grantable != "=" || !text.contains('='));
    if !program.has(APPENDS_INPUT) {
        return rest
            .first()?
            .fits(is_program)
            .then_some(Cow::Borrowed(rest));
    }
    let mut words = rest.to_vec();
    match words.first() {
        Some(first) if !first.fits(is_program) => return None,
        Some(_) => {}
        None => words.push(Word::literal("echo")),
    }
    if let Some(name) = placeholder {
        make_unknown(&mut words, name);
    }
    words.push(Word::unknown());
    Some(Cow::Owned(words))
}

/// Whether a word stands before the command: an option, or an assignment for `env`.
fn is_option(text: &str, grantable: &str) -> bool {
    let may_be_set = |text| variables::is_harmless_assignment(text) || variables::is_setting(text);
    text.len() > 1 && text.starts_with('-') || grantable == "=" && may_be_set(text)
}

/// The text in `[-l] [-e] [-u] [-o pipefail] -c TEXT`; further words are its parameters. Options must
/// be in this order, separate or clustered.
fn grantable_text(arguments: &[Word]) -> Option<&str> {
    let mut words = arguments.iter().map(Word::text);
    let mut order = "leuoc".chars();
    loop {
        let letters = words.next()??.strip_prefix('-')?;
        let mut each = letters.chars();
        let is_ordered = each.all(|letter| order.any(|next| next == letter));
        if letters.is_empty() || !is_ordered || letters.contains('o') && letters.ends_with('c') {
            return None;
        }
        if letters.ends_with('o') && words.next()?? != "pipefail" {
            return None;
        }
        if letters.ends_with('c') {
            return words.next()?.filter(|text| !text.starts_with(['-', '+']));
        }
    }
}

/// Whether a shell runs the file that its first argument names: without a slash, it may look for one
/// elsewhere.
fn runs_script(arguments: &[Word]) -> bool {
    let is_path = |word: &str| word.contains('/') && !word.starts_with(['-', '+']);
    arguments.first().is_some_and(|word| word.fits(is_path))
}

/// The text that bash would run, behind whatever options.
fn text_for_bash(arguments: &[Word]) -> Option<&Word> {
    let mut words = arguments.iter();
    let mut runs_text = false;
    loop {
        let word = words.next()?;
        let option = word.prefix();
        if !option.starts_with(['-', '+']) {
            return runs_text.then_some(word);
        }
        if matches!(option, "-" | "--") {
            return words.next().filter(|_| runs_text);
        }
        if let Some(long) = option.strip_prefix("--") {
            if matches!(long, "rcfile" | "init-file") {
                words.next();
            }
            continue;
        }
        runs_text |= option.contains('c');
        for _ in option.matches(['o', 'O']) {
            words.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_takes_a_command_string_behind_options() {
        for (arguments, text) in [
            ("-c x", Some("x")),
            ("-lc x y", Some("x")),
            ("-ce x", Some("x")),
            ("-c -e -- x", Some("x")),
            ("-o pipefail -O extglob -xc x", Some("x")),
            ("-coe pipefail x", Some("x")),
            ("--rcfile y -c x", Some("x")),
            ("x -c y", None),
            ("-x x", None),
            ("-c", None),
            ("--norc x", None),
        ] {
            let words: Vec<_> = arguments.split(' ').map(Word::literal).collect();
            assert_eq!(
                text_for_bash(&words).and_then(Word::text),
                text,
                "{arguments}"
            );
        }
    }

    fn text_of(arguments: &str) -> Option<String> {
        let words: Vec<_> = arguments.split(' ').map(Word::literal).collect();
        grantable_text(&words).map(str::to_owned)
    }

    #[test]
    fn one_form_of_a_command_string_is_grantable() {
        for options in [
            "-c",
            "-e -c",
            "-u -c",
            "-eu -c",
            "-ec",
            "-euc",
            "-uc",
            "-e -u -o pipefail -c",
            "-euo pipefail -c",
            "-eo pipefail -c",
            "-o pipefail -c",
            "-l -c",
            "-lec",
        ] {
            for rest in ["x", "x -c y"] {
                let text = text_of(&format!("{options} {rest}"));
                assert_eq!(text.as_deref(), Some("x"), "{options}");
            }
        }
        for arguments in [
            "x",
            "x -c y",
            "-e x",
            "-eu -o pipefail x y",
            "- -c x",
            "-- -c x",
            "-c -- x",
            "-c - x",
            "-c -e x",
            "-c +e x",
            "+e -c x",
            "-ce x",
            "-cc x",
            "-ue x",
            "-e -e x",
            "-x -c x",
            "-i -c x",
            "-s -c x",
            "-c",
            "-ec",
            "-e",
            "-o -c x",
            "-oc pipefail x",
            "-euoc pipefail x",
            "-o errexit -c x",
            "-o posix -c x",
            "-O extglob -c x",
            "--norc -c x",
            "--rcfile y -c x",
            "--posix -c x",
            "--login -c x",
            "-o pipefail -e -c x",
            "-o pipefail -o pipefail -c x",
            "-ceuo pipefail x",
            "-n -c x",
            "-p -c x",
            "-c ",
            "-",
            "--",
            "",
            "+x x",
            "-x x",
            "--norc x",
            "-s x",
        ] {
            let text = text_of(arguments);
            assert!(text.is_none_or(|text| text.is_empty()), "{arguments}");
        }
    }
}
