//! Shell builtins: neutral ones, and forms that can set a variable or run text, which no rule can
//! grant (docs/spec/restriction.md#neutral-commands).

use super::names::{self, Variables};
use super::word::{Word, after_options, all, is_digits};
use super::{Fault, neutral};
use crate::sys::name_list::Names;

/// How the shell treats a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Builtin {
    /// It needs no rule.
    Neutral,
    /// It changes the working directory to this one; inside the project or skill it needs no rule.
    ChangeDirectory(String),
    /// It needs a rule, like any program.
    Ordinary,
}

/// Classifies a command whose first word is `program`.
///
/// # Errors
/// For forms that set a variable of any name or evaluate text; no rule covers these.
pub fn classify(program: &str, arguments: &[Word], variables: Variables) -> Result<Builtin, Fault> {
    let neutral_if = |yes: bool| {
        Ok(if yes {
            Builtin::Neutral
        } else {
            Builtin::Ordinary
        })
    };
    let only_if = |yes: bool| {
        let unseen = || Fault::new(program, "it can set variables or run text unseen");
        yes.then_some(Builtin::Neutral).ok_or_else(unseen)
    };
    let one_word_each = arguments.iter().all(Word::is_one_word);
    match program {
        "echo" => neutral_if(true),
        ":" | "true" | "false" => neutral_if(one_word_each),
        "pwd" => neutral_if(after_options(arguments, &["-P", "-L"]).is_empty()),
        "exit" | "return" | "break" | "continue" | "shift" | "wait" => {
            neutral_if(arguments.iter().all(is_number))
        }
        "cd" => {
            let is_plain = |to: &&str| !to.is_empty() && !to.starts_with(['-', '+', '~']);
            let to = match arguments {
                [directory] => directory.text().filter(is_plain),
                _ => None,
            };
            let change = to.map(|to| Builtin::ChangeDirectory(to.to_owned()));
            Ok(change.unwrap_or(Builtin::Ordinary))
        }
        "test" => test(arguments),
        "[" => match arguments.split_last() {
            Some((last, inside)) if last.text() == Some("]") => test(inside),
            _ => only_if(false),
        },
        "printf" => {
            let format = arguments.first().and_then(Word::text);
            let Some(letters) = format.and_then(conversions) else {
                return only_if(false);
            };
            // The number of words after the format does not matter, but zsh evaluates those that
            // are not printed as text.
            let computes = variables.zsh && letters.contains(|c| !"sb%".contains(c));
            neutral_if(!computes || all(&arguments[1..], is_digits))
        }
        "set" => neutral_if(sets_only_strictness(arguments)),
        "command" => {
            let looks = |word: &Word| word.is_any(&["-v", "-V"]);
            neutral_if(arguments.first().is_some_and(looks) && one_word_each)
        }
        "export" | "readonly" => {
            let may_set = |word| exports(word) || program == "readonly" && keeps(word, variables);
            only_if(arguments.iter().all(may_set) && !arguments.is_empty())
        }
        "read" => {
            let names = after_options(arguments, &["-r"]);
            only_if(!names.is_empty() && all(names, |name| variables.may_hold_anything(name)))
        }
        "unset" if all(arguments, |name| variables.may_be_set(name)) => Ok(Builtin::Ordinary),
        "unset" | "let" | "declare" | "typeset" | "local" | "alias" | "unalias" | "getopts"
        | "mapfile" | "readarray" | "function" | "compgen" | "complete" | "shopt" => only_if(false),
        _ => neutral_if(neutral::is_neutral(program, arguments)),
    }
}

/// Whether the program of this name is as harmless as the builtin.
pub fn is_program_too(name: &str) -> bool {
    const PROGRAMS: Names = Names::new(
        "echo true false pwd test [ printf sleep date basename dirname seq uname whoami id nproc \
         hostname",
    );
    PROGRAMS.has(name)
}

fn is_number(word: &Word) -> bool {
    word.fits(is_digits) || ["$?", "\"$?\"", "$!", "\"$!\"", "$$"].contains(&&*word.raw)
}

/// A harmless variable, optionally with a plain value.
fn exports(word: &Word) -> bool {
    let harmless = |text: &str| names::may_be_exported(text) || names::sets_harmlessly(text);
    word.fits(harmless)
}

/// A variable of the shell itself, optionally with any value.
fn keeps(word: &Word, variables: Variables) -> bool {
    let name = match names::assignment(&word.raw) {
        Some((name, _)) if word.is_one_word() => Some(name),
        Some(_) => None,
        None => word.text(),
    };
    name.is_some_and(|name| variables.may_hold_anything(name))
}

/// `test` evaluates the operand of `-v` and `-R`, so no operator may be a word that could become
/// one of them.
fn test(arguments: &[Word]) -> Result<Builtin, Fault> {
    const UNARY: &str = "bcdefghkprstuwxzGLNOSn";
    const BINARY: [&str; 16] = [
        "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
        "-a", "-o",
    ];
    let unary = |word: &Word| {
        let letter = word.text().and_then(|text| text.strip_prefix('-'));
        word.text() == Some("!")
            || letter.is_some_and(|letter| letter.len() == 1 && UNARY.contains(letter))
    };
    let evaluates = |word: &Word| word.is_any(&["-v", "-R"]);
    // Some shells evaluate the number.
    let is_terminal = |pair: &[Word]| pair[0].text() != Some("-t") || pair[1].fits(is_digits);
    let safe = !arguments.iter().any(evaluates)
        && arguments.windows(2).all(is_terminal)
        && arguments.iter().all(Word::is_one_word)
        && match arguments {
            [] | [_] => true,
            [operator, _] => unary(operator),
            [first, middle, _] => {
                middle.is_any(&BINARY) || unary(middle) && first.text() == Some("!")
            }
            more => more.iter().all(|word| word.text().is_some()),
        };
    if safe {
        return Ok(Builtin::Neutral);
    }
    Fault::refuse(
        "test",
        "an operator that is not plain text may evaluate its operand",
    )
}

/// The letters of a `printf` format's conversions; `None` if it may do more than print: `%n` sets a
/// variable, and shells have further conversions of their own.
fn conversions(format: &str) -> Option<String> {
    // Some shells process escapes first, so an escaped `%` may start a conversion.
    let escapes_percent = |escaped: &str| {
        let code = escaped.trim_start_matches(['x', 'u', 'U']);
        let code = code.trim_start_matches('0');
        code.starts_with("25") || code.starts_with("45")
    };
    if format.starts_with('-') || format.split('\\').skip(1).any(escapes_percent) {
        return None;
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let mut letters = String::new();
    let mut rest = format;
    while let Some((_, conversion)) = rest.split_once('%') {
        let width = conversion.trim_start_matches(['-', '+', ' ', '#', '0', '\'']);
        let after_width = width.trim_start_matches(is_digit);
        let after_precision = match after_width.strip_prefix('.') {
            Some(precision) => precision.trim_start_matches(is_digit),
            None => after_width,
        };
        let letter = after_precision.chars().next();
        letters.push(letter.filter(|letter| "sbqdiuoxXceEfgG%".contains(*letter))?);
        rest = &after_precision[1..];
    }
    Some(letters)
}

/// `set -e`, `set -euo pipefail` and similar, which only change when the shell stops.
pub fn sets_only_strictness(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().map(Word::text);
    while let Some(word) = words.next() {
        let letters = word.and_then(|text| text.strip_prefix(['-', '+']));
        let Some(letters) = letters.filter(|letters| !letters.is_empty()) else {
            return false;
        };
        let (letters, named) = match letters.strip_suffix('o') {
            Some(letters) => (letters, true),
            None => (letters, false),
        };
        if !letters.chars().all(|c| c == 'e' || c == 'u') {
            return false;
        }
        let name = |name: &str| ["pipefail", "errexit", "nounset"].contains(&name);
        if named && !words.next().flatten().is_some_and(name) {
            return false;
        }
    }
    !arguments.is_empty()
}
