//! Commands that need no rule, each in the form that keeps it harmless, and forms that can set a
//! variable or run text, which no rule can grant (docs/spec/restriction.md#neutral-commands). Options
//! must be literal. An unknown operand must be quoted and must not be where it could be an option:
//! `date FILE` sets the clock, `date -f FILE` prints it.

use super::programs::{NeutralForm, has_word};
use super::variables::{self, Variables};
use super::word::{Word, after_options, all_literal, is_digits};

/// How the shell treats a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandClass {
    /// It needs no rule.
    Neutral,
    /// It changes the working directory to this one; inside the project or skill it needs no rule.
    ChangeDirectory(String),
    /// It needs a rule, like any program.
    Ordinary,
}

/// Classifies a command of `program`, which is free in this form.
///
/// # Errors
/// For forms that set a variable of any name or evaluate text; no rule covers these.
pub fn classify(
    neutral: NeutralForm,
    arguments: &[Word],
    variables: Variables,
) -> Result<CommandClass, &'static str> {
    const UNSEEN: &str = "it can set variables or run text unseen";
    let require = |yes: bool| yes.then_some(true).ok_or(UNSEEN);
    let one_word_each = || arguments.iter().all(Word::is_one_word);
    let is_neutral = match neutral {
        NeutralForm::Never => false,
        NeutralForm::SetsAnyVariable => require(false)?,
        NeutralForm::Always => true,
        NeutralForm::SingleWords => one_word_each(),
        NeutralForm::Numbers => arguments.iter().all(is_status_or_pid),
        NeutralForm::OnlyWords(words) => all_literal(arguments, |text| has_word(words, text)),
        NeutralForm::OptionsThenNames(options) => {
            let names = after_options(arguments, options);
            !names.is_empty() && all_literal(names, is_plain_name)
        }
        NeutralForm::OptionLetters(letters) => {
            all_literal(arguments, |text| is_cluster(text, letters))
        }
        NeutralForm::Paths(most) => has_only_operands(most, arguments),
        NeutralForm::Cd => {
            let is_plain = |to: &&str| !to.is_empty() && !to.starts_with(['-', '+', '~']);
            let to = match arguments {
                [directory] => directory.text().filter(is_plain),
                _ => None,
            };
            let change = to.map(|to| CommandClass::ChangeDirectory(to.to_owned()));
            return Ok(change.unwrap_or(CommandClass::Ordinary));
        }
        NeutralForm::Test => is_neutral_test(arguments)?,
        NeutralForm::Bracket => match arguments.split_last() {
            Some((last, inside)) if last.text() == Some("]") => is_neutral_test(inside)?,
            _ => require(false)?,
        },
        NeutralForm::Printf => {
            let format = arguments.first().and_then(Word::text);
            let letters = format.and_then(printf_conversions);
            require(letters.is_some())?;
            // The number of words after the format does not matter, but zsh evaluates those that
            // are not printed as text.
            let computes = |letters: String| letters.contains(|c| !"sb%".contains(c));
            !(variables.zsh && letters.is_some_and(computes))
                || all_literal(&arguments[1..], is_digits)
        }
        NeutralForm::Set => only_sets_strictness(arguments),
        NeutralForm::CommandV => is_name_lookup(arguments) && one_word_each(),
        NeutralForm::Export => {
            require(!arguments.is_empty() && arguments.iter().all(is_harmless_export))?
        }
        NeutralForm::Readonly => {
            let may_set =
                |word: &Word| is_harmless_export(word) || is_allowed_readonly(word, variables);
            require(!arguments.is_empty() && arguments.iter().all(may_set))?
        }
        NeutralForm::Read => {
            let names = after_options_of_read(arguments, variables.zsh);
            require(names.is_some_and(|names| {
                all_literal(names, |name| variables.may_have_any_value(name))
            }))?
        }
        NeutralForm::Unset => require(all_literal(arguments, |name| variables.may_be_set(name)))?,
        NeutralForm::Sleep => !arguments.is_empty() && all_literal(arguments, is_duration),
        NeutralForm::Date => is_neutral_date(arguments),
        NeutralForm::Seq => is_neutral_seq(arguments),
        NeutralForm::Id => is_neutral_id(arguments),
    };
    Ok(if is_neutral {
        CommandClass::Neutral
    } else {
        CommandClass::Ordinary
    })
}

/// Whether `command` only looks up names.
pub fn is_name_lookup(arguments: &[Word]) -> bool {
    let first = arguments.first();
    first.is_some_and(|word| word.is_one_of(&["-v", "-V"]))
}

fn is_status_or_pid(word: &Word) -> bool {
    word.fits(is_digits) || ["$?", "\"$?\"", "$!", "\"$!\"", "$$"].contains(&&*word.raw)
}

/// A harmless variable, optionally with a plain value.
fn is_harmless_export(word: &Word) -> bool {
    let harmless =
        |text: &str| variables::may_be_exported(text) || variables::is_harmless_assignment(text);
    word.fits(harmless)
}

/// A variable of the shell itself, optionally with any value.
fn is_allowed_readonly(word: &Word, variables: Variables) -> bool {
    let name = match variables::assignment(&word.raw) {
        Some((name, _)) if word.is_one_word() => Some(name),
        Some(_) => None,
        None => word.text(),
    };
    name.is_some_and(|name| variables.may_have_any_value(name))
}

/// What stands behind the options of `read`, as in `-rs -p TEXT -n1`. `None` if the value of one may be
/// the name of a variable to some shell: of zsh, `-p` takes no text.
fn after_options_of_read(mut arguments: &[Word], zsh: bool) -> Option<&[Word]> {
    let is_option = |text: &&str| text.len() > 1 && text.starts_with('-');
    while let Some(option) = arguments.first().and_then(Word::text).filter(is_option) {
        arguments = &arguments[1..];
        let valued = option[1..].trim_start_matches(['r', 's', 'e']);
        let letter = valued.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_accepted = match (valued, letter) {
            ("", _) => continue,
            ("n" | "N" | "t" | "u", _) => arguments.split_off_first()?.fits(is_number),
            ("p" | "i", _) if zsh => false,
            ("p" | "i" | "d", _) => arguments.split_off_first()?.is_one_word(),
            _ => ["n", "N", "t", "u"].contains(&letter),
        };
        is_accepted.then_some(())?;
    }
    Some(arguments)
}

/// `test` evaluates the operand of `-v` and `-R`, so no operator may be a word that could become
/// one of them.
fn is_neutral_test(arguments: &[Word]) -> Result<bool, &'static str> {
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
    let evaluates = |word: &Word| word.is_one_of(&["-v", "-R"]);
    // Some shells evaluate the number.
    let is_terminal = |pair: &[Word]| pair[0].text() != Some("-t") || pair[1].fits(is_digits);
    let safe = !arguments.iter().any(evaluates)
        && arguments.windows(2).all(is_terminal)
        && arguments.iter().all(Word::is_one_word)
        && match arguments {
            [] | [_] => true,
            [operator, _] => unary(operator),
            [first, middle, _] => {
                middle.is_one_of(&BINARY) || unary(middle) && first.text() == Some("!")
            }
            more => more.iter().all(|word| word.text().is_some()),
        };
    let why = "an operator that is not plain text may evaluate its operand";
    safe.then_some(true).ok_or(why)
}

/// The letters of a `printf` format's conversions; `None` if it may do more than print: `%n` sets a
/// variable, and shells have further conversions of their own.
fn printf_conversions(format: &str) -> Option<String> {
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
pub fn only_sets_strictness(arguments: &[Word]) -> bool {
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

/// `-` followed by some of these letters.
fn is_cluster(text: &str, letters: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|these| !these.is_empty() && these.chars().all(|c| letters.contains(c)))
}

fn is_number(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    is_digits(whole) && is_digits(part)
}

fn is_duration(text: &str) -> bool {
    is_number(text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text))
}

/// `+FORMAT`, `-d TEXT`, BSD's `-v`, and output format options.
fn is_neutral_date(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    let mut formats = 0;
    while let Some(word) = words.next() {
        if word.prefix().starts_with('+') && word.is_one_word() {
            formats += 1;
            continue;
        }
        match word.text() {
            Some("-d" | "-v") if words.next().is_some_and(Word::is_one_word) => {}
            Some(text) if text.len() > 2 && text.starts_with("-v") => {}
            Some(
                "-u" | "-R" | "-I" | "-Idate" | "-Ihours" | "-Iminutes" | "-Iseconds" | "-Ins",
            ) => {}
            _ => return false,
        }
    }
    formats <= 1
}

/// Operands without options, at most so many.
fn has_only_operands(most: usize, arguments: &[Word]) -> bool {
    let operands = match arguments {
        [first, operands @ ..] if first.text() == Some("--") => operands,
        operands => operands,
    };
    // A known operand is not an option: `basename -s x y` and similar are not interpreted.
    let plain =
        |word: &Word| word.is_one_word() && word.text().is_none_or(|text| !text.starts_with('-'));
    (1..=most).contains(&operands.len()) && operands.iter().all(plain)
}

/// Numbers; after the first, where options have ended, unknown words too.
fn is_neutral_seq(arguments: &[Word]) -> bool {
    let mut rest = arguments;
    while let [option, after @ ..] = rest {
        rest = match (option.text(), after) {
            (Some("-w"), _) => after,
            (Some("-s"), [separator, after @ ..]) if separator.text().is_some() => after,
            _ => break,
        };
    }
    let is_signed = |text: &str| is_number(text.strip_prefix('-').unwrap_or(text));
    let number = |word: &Word| match word.text() {
        Some(text) => is_signed(text),
        None => word.is_one_word(),
    };
    match rest {
        [first, others @ ..] => {
            others.len() <= 2 && first.text().is_some_and(is_number) && others.iter().all(number)
        }
        [] => false,
    }
}

/// Options, then at most one user.
fn is_neutral_id(arguments: &[Word]) -> bool {
    let is_option = |word: &&Word| word.fits(|text| is_cluster(text, "ugGnr"));
    let users = &arguments[arguments.iter().take_while(is_option).count()..];
    users.len() <= 1 && all_literal(users, is_plain_name)
}

fn is_plain_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

#[cfg(test)]
#[rustfmt::skip]
mod tests {
    use super::*;
    use crate::shell::programs::by_name;
    use crate::shell::word::{WordCount, Piece};

    /// `?` is a quoted unknown word, `*` an unquoted one.
    fn neutral(command: &str) -> bool {
        let hole = |word_count| Word {
            raw: "…".to_owned(),
            pieces: vec![Piece::Expansion(word_count)],
            is_complete: true,
        };
        let words: Vec<_> = command
            .split(' ')
            .map(|word| match word {
                "?" => hole(WordCount::One),
                "*" => hole(WordCount::Any),
                text => Word::literal(text),
            })
            .collect();
        let name = words[0].text().unwrap();
        let neutral = by_name(name).neutral;
        classify(neutral, &words[1..], Variables::default()) == Ok(CommandClass::Neutral)
    }

    #[test]
    fn commands_that_only_report_or_wait_are_neutral() {
        for command in [
            "sleep 5", "sleep 0.5", "sleep 2m 3s", "date", "date +%F", "date -u +%Y-%m-%dT%H:%M:%SZ", "date -d yesterday +%F",
            "date -d ? +%s", "date -R", "date -Iseconds", "basename ?", "basename a/b.md .md", "basename -- ?", "dirname ?",
            "dirname /a/b", "seq 3", "seq 1 ?", "seq -w 1 10", "seq -s , 1 3", "seq 10 -1 1", "uname", "uname -s", "uname -sm",
            "whoami", "id", "id -u", "id -un", "id -u root", "nproc", "nproc --all", "which git", "which -a git", "type git",
            "type -t cd", "hostname",
        ] {
            assert!(neutral(command), "{command}");
        }
    }

    #[test]
    fn commands_that_may_do_more_are_not_neutral() {
        for command in [
            "sleep", "sleep ?", "sleep infinity", "sleep --help", "sleep 1x", "date ?", "date *", "date -f x", "date -s x",
            "date --set=x", "date 010100002030", "date -fx", "date -r x", "date -d", "date -d *", "date +%F ?", "date +%F +%s",
            "date -d x -s y", "date -us x", "date --file=x", "basename", "basename *", "basename -s x", "basename a b c",
            "dirname *", "dirname a b", "dirname --", "seq", "seq ?", "seq *", "seq 1 *", "seq --help", "seq -f x 1", "seq -5",
            "seq 1 2 3 4", "uname ?", "uname --all", "uname x", "uname -", "whoami x", "id ?", "id -u ?", "id --zero", "id a b",
            "nproc ?", "nproc --ignore=1", "which", "which ?", "which --read-alias", "which -i x", "type", "type ?", "type -f x",
            "type -m x", "hostname x", "hostname ?", "hostname -F x", "hostname -s", "hostname -b x", "env", "rm x",
        ] {
            assert!(!neutral(command), "{command}");
        }
    }
}
