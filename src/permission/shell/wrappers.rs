//! Programs that run the command in their arguments (docs/spec/restriction.md#wrappers). Options
//! are parsed exactly; any other option makes the wrapper an ordinary command.

use std::borrow::Cow;

use super::PLACEHOLDER;
use super::names;
use super::shells::{self, Rendered};
use super::word::{self, Arity, Piece, Word, after_options, is_digits};

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
    let inner = match program.text()? {
        "timeout" => timeout(arguments)?,
        "time" => after_options(arguments, &["-p"]),
        "nice" => nice(arguments)?,
        "nohup" | "exec" | "command" => arguments,
        "stdbuf" => stdbuf(arguments)?,
        "env" => env(arguments)?,
        "xargs" => return unwrap_xargs(arguments),
        "eval" => {
            let texts = word::texts(arguments).filter(|texts| !texts.is_empty())?;
            return Some(Inner::Text(texts.join(" ")));
        }
        program if shells::is_read(program) => {
            return match shells::read(arguments) {
                Rendered::Text(text) => Some(Inner::Text(text.to_owned())),
                Rendered::File(_) | Rendered::Other => None,
            };
        }
        _ => return None,
    };
    ends_options(inner.first()?).then_some(Inner::Command(Cow::Borrowed(inner)))
}

/// Whether a word is certainly not an option.
fn ends_options(word: &Word) -> bool {
    word.fits(|text| !text.starts_with('-'))
}

fn timeout(arguments: &[Word]) -> Option<&[Word]> {
    let mut rest = arguments;
    loop {
        let (word, after) = rest.split_first()?;
        let text = word.text()?;
        rest = match text {
            "-k" | "-s" => {
                after.first()?.text()?;
                &after[1..]
            }
            "--foreground" | "--preserve-status" | "-v" => after,
            _ if text.starts_with("--signal=") || text.starts_with("--kill-after=") => after,
            duration => {
                let number = duration.trim_end_matches(['s', 'm', 'h', 'd']);
                let is_part = |c: char| c.is_ascii_digit() || c == '.';
                let plain = !number.is_empty() && number.chars().all(is_part);
                return plain.then_some(after);
            }
        };
    }
}

fn nice(arguments: &[Word]) -> Option<&[Word]> {
    let text = arguments.first()?.text()?;
    let is_number = |text: &str| is_digits(text.strip_prefix(['-', '+']).unwrap_or(text));
    let adjustment = text.strip_prefix("--adjustment=");
    let count = match adjustment.or_else(|| text.strip_prefix("-n")) {
        Some("") => is_number(arguments.get(1)?.text()?).then_some(2)?,
        Some(number) => is_number(number).then_some(1)?,
        None if text.starts_with('-') => is_number(text).then_some(1)?,
        None => 0,
    };
    arguments.get(count..)
}

fn stdbuf(arguments: &[Word]) -> Option<&[Word]> {
    let buffers = |word: &&Word| {
        let text = word.text().unwrap_or_default();
        let mut options = ["-i", "-o", "-e"].iter();
        let mode = options.find_map(|option| text.strip_prefix(option));
        mode.is_some_and(|mode| mode == "L" || is_digits(mode))
    };
    let count = arguments.iter().take_while(buffers).count();
    (count > 0).then(|| &arguments[count..])
}

fn env(arguments: &[Word]) -> Option<&[Word]> {
    let is_harmless = |word: &&Word| word.fits(names::sets_harmlessly);
    let inner = &arguments[arguments.iter().take_while(is_harmless).count()..];
    (!inner.first()?.text()?.contains('=')).then_some(inner)
}

/// `xargs` appends unknown words to the command it runs, or substitutes them.
pub fn unwrap_xargs(arguments: &[Word]) -> Option<Inner<'_>> {
    let mut at = 0;
    let mut placeholder = None;
    let option = |at: usize| arguments.get(at).and_then(Word::text);
    while let Some(text) = option(at).filter(|text| text.starts_with('-')) {
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

/// Makes every word that contains `name` unknown in its place.
pub fn make_unknown(words: &mut [Word], name: &str) {
    for word in words {
        let has_name = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(name));
        // Beside a `..` it is not read as text: it looks like an open brace.
        if word.pieces.iter().any(has_name) || word.raw.contains(name) {
            word.raw = word.raw.replace(name, PLACEHOLDER);
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
