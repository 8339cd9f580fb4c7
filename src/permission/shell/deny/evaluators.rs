//! Builtins and variables that evaluate text
//! (docs/spec/restriction.md#commands-that-evaluate-text). Under a denial their operands must be
//! plain; otherwise it is unknown what runs.

use super::input::sourced;
use crate::permission::shell::Fault;
use crate::permission::shell::builtins::{self, Builtin};
use crate::permission::shell::names::{self, Variables};
use crate::permission::shell::runners::{SHELLS, base};
use crate::permission::shell::special::is_special;
use crate::permission::shell::step::Simple;
use crate::permission::shell::word::{Piece, Word, all, is_digits};
use crate::sys::name_list::Names;

const AS_ASSIGNMENTS: &str = "it turns arguments into assignments";

/// Words before a builtin that leave it one.
const BEFORE: Names = Names::new("builtin command eval exec noglob nocorrect time ! - -- -p");

/// Variables whose value, or the file it names, a shell runs.
const RUN: Names = Names::new("PS4 PS0 BASH_ENV ENV ZDOTDIR PROMPT_COMMAND SHELLOPTS BASHOPTS");

/// Shell variables whose value is plain text in every shell.
const TEXTUAL: Names = Names::new(
    "PATH HOME IFS TERM LANG LANGUAGE EDITOR VISUAL TZ SHELL USER LOGNAME TMPDIR CDPATH PWD \
     OLDPWD MANPATH HOSTNAME INPUTRC PS1 PS2 REPLY MAIL INSIDE_EMACS TERMINFO POSIXLY_CORRECT",
);

/// Builtins of zsh that evaluate the names they are given, or load such.
const ZSH: Names = Names::new(
    "private vared getln zparseopts zstyle zregexparse zformat zmodload echotc echoti functions zle \
     strftime sysopen sysread sysseek syswrite zstat zselect zsocket ztcp zsystem zcompile log",
);

/// Whether a shell runs the value of this variable, or the file it names.
pub fn runs(name: &str) -> bool {
    RUN.has(name) || name.starts_with("BASH_FUNC")
}

/// Refuses to set a variable that a shell evaluates. `value` is `None` if unknown.
///
/// # Errors
/// For variables whose value runs, and for numeric ones whose value is not written in digits.
pub fn sets(name: &str, value: Option<&str>) -> Result<(), Fault> {
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let holds_text = TEXTUAL.has(name) || name.starts_with("LC_") || !is_special(name);
    if runs(name) || !(holds_text || value.is_some_and(digits)) {
        return Fault::refuse(name, "a shell evaluates this variable");
    }
    Ok(())
}

/// Refuses a builtin that evaluates text which is not plain.
///
/// # Errors
/// For operands that are unknown or that some shell evaluates.
pub fn check(program: &str, arguments: &[Word], zsh: bool) -> Result<(), Fault> {
    let safe = match program {
        "." | "source" => sourced(arguments).is_none_or(is_file),
        "alias" => all(arguments, |text| is_plain(text) && !text.contains('=')),
        "hash" => all(arguments, |text| {
            is_plain(text) && !text.contains('=') && !has_letter(text, 'p')
        }),
        "enable" => all(arguments, |text| is_plain(text) && !has_letter(text, 'f')),
        "compgen" | "complete" | "compopt" | "mapfile" | "readarray" => {
            all(arguments, |text| is_plain(text) && !has_letter(text, 'C'))
                && sets_each(arguments, None)?
        }
        "shopt" | "setopt" | "unsetopt" => {
            all(arguments, is_plain) && !sets_keyword(program, arguments)
        }
        "read" | "getopts" | "unset" => all(arguments, is_plain) && sets_each(arguments, None)?,
        "declare" | "typeset" | "local" => {
            let known = |text: &str| text.chars().all(|c| "-+aArxglpfFut".contains(c));
            all(arguments, |text| {
                is_plain(text) && (known(text) || !text.starts_with(['-', '+']))
            }) && sets_each(arguments, Some(""))?
        }
        "export" | "readonly" => sets_each(arguments, Some(""))?,
        "printf" => formats(arguments, zsh)?,
        "test" | "[" => is_neutral(program, arguments, zsh) || is_plain_test(arguments),
        "jobs" => all(arguments, |text| !has_letter(text, 'x')),
        "print" => all(arguments, |text| {
            is_plain(text) && !has_letter(text, 'P') && !has_letter(text, 'v')
        }),
        "let" | "fc" | "bind" | "emulate" | "integer" | "float" | "zargs" | "autoload" => false,
        "repeat" => arguments.first().is_some_and(|count| count.fits(is_digits)),
        "exit" | "return" | "break" | "continue" | "shift" | "wait" => {
            is_neutral(program, arguments, zsh) || !zsh && all(arguments, is_plain)
        }
        "set" => {
            let plain = || all(arguments, is_plain) || arguments[0].is_any(&["--"]);
            !sets_keyword(program, arguments) && (!zsh || plain())
        }
        name => !zsh || !ZSH.has(name) && !arguments.iter().any(|word| word.fits(is_subscript)),
    };
    if safe {
        return Ok(());
    }
    Fault::refuse(program, "it may evaluate text that is not plain")
}

/// Refuses what makes each `NAME=VALUE` behind a program an assignment, as `set -k` does: it would
/// vanish from the program's words.
///
/// # Errors
/// The program that is told to.
pub fn makes_assignments(command: &Simple) -> Result<(), Fault> {
    let words = &command.words;
    let is_it = |(at, word): (usize, &Word)| {
        let behind = &words[at + 1..];
        let is_option = |word: &&Word| word.begins_option();
        let options: Vec<Word> = behind.iter().take_while(is_option).cloned().collect();
        // A builtin is one only as the program: `kubectl set image` sets nothing in the shell.
        let is_program = || {
            words[..at]
                .iter()
                .all(|word| word.fits(|text| BEFORE.has(text)))
        };
        word.fits(|program| match base(program) {
            "set" | "shopt" | "setopt" => is_program() && sets_keyword(program, behind),
            shell => SHELLS.has(shell) && sets_keyword("shopt", &options),
        }) || word.prefix().starts_with("SHELLOPTS=")
    };
    Fault::refuse_if(command.assigns("SHELLOPTS"), "SHELLOPTS", AS_ASSIGNMENTS)?;
    let found = words.iter().enumerate().find(|one| is_it(*one));
    found.map_or(Ok(()), |(_, word)| Fault::refuse(&word.raw, AS_ASSIGNMENTS))
}

/// Whether a program may be told by its arguments to make each `NAME=VALUE` an assignment.
fn sets_keyword(program: &str, arguments: &[Word]) -> bool {
    let ends = |word: &&Word| program == "set" && word.is_any(&["--"]);
    let mut options = arguments.iter().take_while(|word| !ends(word));
    !options.all(|word| {
        word.is_never_option() && word.text().is_none()
            || word.fits(|text| !has_letter(text, 'k') && !text.ends_with("keyword"))
    })
}

/// Whether a word names a file, of which only the directory may be unknown. What ends like a device
/// may be standard input.
pub fn is_file(word: &Word) -> bool {
    if word.text().is_some() {
        return true;
    }
    let Some(Piece::Text(tail)) = word.pieces.last().filter(|_| word.is_one_word()) else {
        return false;
    };
    let Some((_, name)) = tail.rsplit_once('/') else {
        return false;
    };
    let is_device = is_digits(name)
        || matches!(name, "" | "." | ".." | "stdin" | "tty")
        || ["/dev/", "/proc/"].iter().any(|part| tail.contains(part));
    !is_device
}

/// Whether no shell finds anything to expand or compute in a text.
fn is_plain(text: &str) -> bool {
    !text.contains([
        '$', '`', '[', ']', '(', ')', '{', '}', '<', '>', ';', '&', '|', '\\', '\n',
    ])
}

/// Whether zsh may run a command in a text that it takes for a name: `x[$(cmd)]`.
fn is_subscript(text: &str) -> bool {
    text.contains('[') && ["$(", "${", "`"].iter().any(|part| text.contains(part))
}

/// Whether this is an option that includes the letter.
fn has_letter(text: &str, letter: char) -> bool {
    text.starts_with(['-', '+']) && text.contains(letter)
}

fn is_neutral(program: &str, arguments: &[Word], zsh: bool) -> bool {
    let variables = Variables {
        zsh,
        ..Variables::default()
    };
    builtins::classify(program, arguments, variables) == Ok(Builtin::Neutral)
}

/// Whether each operand is an option, or a settable plain name, with or without a value.
/// `otherwise` is the value of a bare name, if known.
fn sets_each(arguments: &[Word], otherwise: Option<&str>) -> Result<bool, Fault> {
    for word in arguments {
        let text = word.text();
        let value = text.and_then(|text| Some(text.split_once('=')?.1));
        match names::assignment(&word.raw).or(text.and_then(names::assignment)) {
            Some(_) if !word.is_one_word() => return Ok(false),
            Some((name, _)) => sets(name, value)?,
            None => match text {
                Some(text) if names::is_name(text) => sets(text, otherwise)?,
                Some(text) if is_plain(text) => {}
                _ => return Ok(false),
            },
        }
    }
    Ok(true)
}

/// Whether `printf` prints, or sets a plain variable.
fn formats(arguments: &[Word], zsh: bool) -> Result<bool, Fault> {
    let printed = match arguments {
        [option, operands @ ..] if option.text() == Some("-v") => {
            let name = operands.first().and_then(Word::text);
            return match name.filter(|name| names::is_name(name)) {
                Some(name) => sets(name, None).map(|()| true),
                None => Ok(false),
            };
        }
        [option, operands @ ..] if option.text() == Some("--") => operands,
        _ => arguments,
    };
    Ok(printed.is_empty() || is_neutral("printf", printed, zsh))
}

/// Whether the operands of a test are plain and no operator evaluates.
fn is_plain_test(arguments: &[Word]) -> bool {
    let operands = match arguments.split_last() {
        Some((last, operands)) if last.text() == Some("]") => operands,
        _ => arguments,
    };
    all(operands, |text| {
        is_plain(text) && !matches!(text, "-v" | "-R" | "-t")
    })
}
