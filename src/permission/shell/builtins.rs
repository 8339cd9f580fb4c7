//! Shell builtins: neutral ones, and forms that can set a variable or run text, which no rule can
//! grant (docs/spec/restriction.md#neutral-commands).

use super::names::{self, Variables};
use super::word::Word;
use super::{Fault, neutral};

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
    let neutral = |yes: bool| {
        Ok(if yes {
            Builtin::Neutral
        } else {
            Builtin::Ordinary
        })
    };
    let refuse = || {
        Err(Fault::new(
            program,
            "it can set variables or run text unseen",
        ))
    };
    let one_word_each = arguments.iter().all(Word::is_one_word);
    let may_read = |word: &Word| names_a(word, |name| variables.may_hold_anything(name));
    match program {
        "echo" => neutral(true),
        ":" | "true" | "false" => neutral(one_word_each),
        "pwd" => neutral(arguments.iter().all(|word| is_any(word, &["-P", "-L"]))),
        "exit" | "return" | "break" | "continue" | "shift" | "wait" => {
            neutral(arguments.iter().all(is_number))
        }
        "cd" => Ok(match arguments {
            [directory] => match directory.text() {
                Some(text) if !text.is_empty() && !text.starts_with(['-', '+', '~']) => {
                    Builtin::ChangeDirectory(text.to_owned())
                }
                _ => Builtin::Ordinary,
            },
            _ => Builtin::Ordinary,
        }),
        "test" => test(arguments),
        "[" => match arguments.split_last() {
            Some((last, inside)) if last.text() == Some("]") => test(inside),
            _ => refuse(),
        },
        "printf" => match arguments.first() {
            // The number of words after the format does not matter.
            Some(format) if format.text().is_some_and(formats_only) => {
                let computes = variables.zsh && !format.text().is_some_and(formats_text);
                neutral(!computes || arguments[1..].iter().all(is_digits))
            }
            _ => refuse(),
        },
        "set" => neutral(sets_only_strictness(arguments)),
        "command" => neutral(
            arguments
                .first()
                .is_some_and(|word| is_any(word, &["-v", "-V"]))
                && one_word_each,
        ),
        "export" | "readonly" => {
            let may_set = |word| exports(word) || program == "readonly" && keeps(word, variables);
            if arguments.iter().all(may_set) && !arguments.is_empty() {
                neutral(true)
            } else {
                refuse()
            }
        }
        "read" => {
            let options = arguments
                .iter()
                .take_while(|word| word.text() == Some("-r"))
                .count();
            let names = &arguments[options..];
            if !names.is_empty() && names.iter().all(may_read) {
                neutral(true)
            } else {
                refuse()
            }
        }
        "unset"
            if arguments
                .iter()
                .all(|word| names_a(word, |name| variables.may_be_set(name))) =>
        {
            Ok(Builtin::Ordinary)
        }
        "unset" | "let" | "declare" | "typeset" | "local" | "alias" | "unalias" | "getopts"
        | "mapfile" | "readarray" | "function" | "compgen" | "complete" | "shopt" => refuse(),
        _ => neutral(neutral::is_neutral(program, arguments)),
    }
}

/// Whether the program of this name is as harmless as the builtin.
pub fn is_program_too(name: &str) -> bool {
    const PROGRAMS: [&str; 17] = [
        "echo", "true", "false", "pwd", "test", "[", "printf", "sleep", "date", "basename",
        "dirname", "seq", "uname", "whoami", "id", "nproc", "hostname",
    ];
    PROGRAMS.contains(&name)
}

fn is_any(word: &Word, texts: &[&str]) -> bool {
    word.text().is_some_and(|text| texts.contains(&text))
}

fn is_digits(word: &Word) -> bool {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    word.text().is_some_and(digits)
}

fn is_number(word: &Word) -> bool {
    is_digits(word) || ["$?", "\"$?\"", "$!", "\"$!\"", "$$"].contains(&&*word.raw)
}

fn names_a(word: &Word, allowed: impl Fn(&str) -> bool) -> bool {
    word.text()
        .is_some_and(|name| names::is_name(name) && allowed(name))
}

/// A harmless variable, optionally with a plain value.
fn exports(word: &Word) -> bool {
    let harmless = |text| names::may_be_exported(text) || names::sets_harmlessly(text);
    word.text().is_some_and(harmless)
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
    let evaluates = |word: &Word| is_any(word, &["-v", "-R"]);
    // Some shells evaluate the number.
    let is_terminal = |pair: &[Word]| pair[0].text() != Some("-t") || is_digits(&pair[1]);
    let safe = !arguments.iter().any(evaluates)
        && arguments.windows(2).all(is_terminal)
        && arguments.iter().all(Word::is_one_word)
        && match arguments {
            [] | [_] => true,
            [operator, _] => unary(operator),
            [first, middle, _] => {
                is_any(middle, &BINARY) || unary(middle) && first.text() == Some("!")
            }
            more => more.iter().all(|word| word.text().is_some()),
        };
    if safe {
        return Ok(Builtin::Neutral);
    }
    Err(Fault::new(
        "test",
        "an operator that is not plain text may evaluate its operand",
    ))
}

/// Whether `printf` only prints with this format: `%n` sets a variable, and shells have further
/// conversions of their own.
pub fn formats_only(format: &str) -> bool {
    // Some shells process escapes first, so an escaped `%` may start a conversion.
    let escapes_percent = |escaped: &str| {
        let code = escaped.trim_start_matches(['x', 'u', 'U']);
        let code = code.trim_start_matches('0');
        code.starts_with("25") || code.starts_with("45")
    };
    if format.starts_with('-') || format.split('\\').skip(1).any(escapes_percent) {
        return false;
    }
    let mut rest = format;
    while let Some((_, conversion)) = rest.split_once('%') {
        let is_digit = |c: char| c.is_ascii_digit();
        let width = conversion.trim_start_matches(['-', '+', ' ', '#', '0', '\'']);
        let after_width = width.trim_start_matches(is_digit);
        let after_precision = match after_width.strip_prefix('.') {
            Some(precision) => precision.trim_start_matches(is_digit),
            None => after_width,
        };
        match after_precision.strip_prefix(|c| "sbqdiuoxXceEfgG%".contains(c)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

/// Whether a format takes only text operands; zsh evaluates others.
fn formats_text(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, conversion)) = rest.split_once('%') {
        let flags = |c: char| c.is_ascii_digit() || "-+ #.'".contains(c);
        let conversion = conversion.trim_start_matches(flags);
        if !conversion.starts_with(['s', 'b', '%']) {
            return false;
        }
        rest = &conversion[1..];
    }
    true
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

/// Whether `IFS=…` before this command ends with it, as in `while IFS= read -r line`.
pub fn keeps_separators_to_itself(program: &str) -> bool {
    program == "read"
}
