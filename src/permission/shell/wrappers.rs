//! Programs that run the command in their arguments (docs/spec/restriction.md#wrappers). Options
//! are parsed exactly; any other option makes the wrapper an ordinary command.

use std::borrow::Cow;

use super::names;
use super::shells::{self, Rendered};
use super::word::{Arity, Piece, Word};

/// What a wrapper runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inner<'a> {
    /// Another command.
    Command(Cow<'a, [Word]>),
    /// A command line.
    Text(String),
}

/// The command inside a wrapper; `None` if this is not certainly one.
pub fn unwrap(words: &[Word]) -> Option<Inner<'_>> {
    let (program, arguments) = words.split_first()?;
    let after = |length: Option<usize>| {
        let inner = arguments.get(length?..)?;
        (!inner.is_empty()).then_some(Inner::Command(Cow::Borrowed(inner)))
    };
    match program.text()? {
        "timeout" => after(timeout(arguments)),
        "time" => after(flags(arguments, &["-p"])),
        "nice" => after(nice(arguments)),
        "nohup" | "exec" | "command" => after(flags(arguments, &[])),
        "stdbuf" => after(stdbuf(arguments)),
        "env" => after(env(arguments)),
        "xargs" => xargs(arguments),
        program if shells::is_read(program) => match shells::read(arguments) {
            Rendered::Text(text) => Some(Inner::Text(text.to_owned())),
            Rendered::File(_) | Rendered::Other => None,
        },
        "eval" => {
            let texts: Option<Vec<&str>> = arguments.iter().map(Word::text).collect();
            let text = texts.filter(|texts| !texts.is_empty())?.join(" ");
            Some(Inner::Text(text))
        }
        _ => None,
    }
}

/// The number of these flags at the front; `None` if another option follows.
fn flags(arguments: &[Word], known: &[&str]) -> Option<usize> {
    let is_known = |word: &&Word| word.text().is_some_and(|text| known.contains(&text));
    let count = arguments.iter().take_while(is_known).count();
    ends_options(arguments.get(count)?).then_some(count)
}

/// Whether a word is certainly not an option.
fn ends_options(word: &Word) -> bool {
    word.text().is_some_and(|text| !text.starts_with('-'))
}

fn timeout(arguments: &[Word]) -> Option<usize> {
    let mut at = 0;
    loop {
        let text = arguments.get(at)?.text()?;
        at += match text {
            "-k" | "-s" => {
                arguments.get(at + 1)?.text()?;
                2
            }
            "--foreground" | "--preserve-status" | "-v" => 1,
            _ if text.starts_with("--signal=") || text.starts_with("--kill-after=") => 1,
            _ => break,
        };
    }
    let duration = arguments.get(at)?.text()?;
    let number = duration.trim_end_matches(['s', 'm', 'h', 'd']);
    let plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    (plain && ends_options(arguments.get(at + 1)?)).then_some(at + 1)
}

fn nice(arguments: &[Word]) -> Option<usize> {
    let text = arguments.first()?.text()?;
    let is_number = |text: &str| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
    };
    let count = match text
        .strip_prefix("--adjustment=")
        .or_else(|| text.strip_prefix("-n"))
    {
        Some("") => is_number(arguments.get(1)?.text()?).then_some(2)?,
        Some(number) => is_number(number).then_some(1)?,
        None if text.starts_with('-') => is_number(text).then_some(1)?,
        None => 0,
    };
    ends_options(arguments.get(count)?).then_some(count)
}

fn stdbuf(arguments: &[Word]) -> Option<usize> {
    let buffers = |word: &&Word| {
        let text = word.text().unwrap_or_default();
        let mode = ["-i", "-o", "-e"]
            .iter()
            .find_map(|option| text.strip_prefix(option));
        mode.is_some_and(|mode| {
            mode == "L" || !mode.is_empty() && mode.chars().all(|c| c.is_ascii_digit())
        })
    };
    let count = arguments.iter().take_while(buffers).count();
    (count > 0 && ends_options(arguments.get(count)?)).then_some(count)
}

fn env(arguments: &[Word]) -> Option<usize> {
    let is_harmless = |word: &&Word| word.text().is_some_and(names::sets_harmlessly);
    let count = arguments.iter().take_while(is_harmless).count();
    let next = arguments.get(count)?;
    (ends_options(next) && !next.text()?.contains('=')).then_some(count)
}

/// `xargs` appends unknown words to the command it runs, or substitutes them.
fn xargs(arguments: &[Word]) -> Option<Inner<'_>> {
    let mut at = 0;
    let mut placeholder = None;
    while let Some(text) = arguments
        .get(at)
        .and_then(Word::text)
        .filter(|t| t.starts_with('-'))
    {
        let value = |joined: &str| match joined {
            "" => Some((arguments.get(at + 1)?.text()?.to_owned(), 2)),
            joined => Some((joined.to_owned(), 1)),
        };
        let number = |joined: &str| {
            let (value, width) = value(joined)?;
            value.chars().all(|c| c.is_ascii_digit()).then_some(width)
        };
        at += match text.split_at_checked(2)? {
            ("-0" | "-r" | "-t", "") => 1,
            ("-n" | "-P" | "-L", joined) => number(joined)?,
            ("-I", joined) => {
                let (name, width) = value(joined)?;
                placeholder = Some(name).filter(|name| !name.is_empty());
                placeholder.as_ref()?;
                width
            }
            _ => return None,
        };
    }
    let mut words = arguments[at..].to_vec();
    if words.is_empty() {
        words.push(Word::literal("echo"));
    } else if !ends_options(&words[0]) {
        return None;
    }
    if let Some(name) = placeholder {
        make_unknown(&mut words, &name);
    }
    words.push(Word::unknown());
    Some(Inner::Command(Cow::Owned(words)))
}

/// Makes every word that contains `name` unknown.
pub fn make_unknown(words: &mut [Word], name: &str) {
    for word in words {
        let has_name = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(name));
        if word.pieces.iter().any(has_name) {
            word.pieces = vec![Piece::Value(Arity::Any)];
        }
    }
}

/// Whether this wrapper runs only programs, never shell builtins.
pub fn runs_programs_only(wrapper: &str) -> bool {
    !matches!(wrapper, "command" | "eval") && !shells::is_read(wrapper)
}

/// Whether a wrapper is a shell builtin, which is unavailable where only programs run.
pub fn is_builtin(wrapper: &str) -> bool {
    matches!(wrapper, "command" | "eval" | "exec")
}
