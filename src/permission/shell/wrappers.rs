//! Programs that run the command in their arguments (docs/spec/restriction.md#wrappers). Options
//! are parsed exactly; any other option makes the wrapper an ordinary command.

use std::borrow::Cow;

use super::PLACEHOLDER;
use super::names;
use super::programs::{
    APPENDS_INPUT, Program, Runs, SAME_GRAMMAR, by_exact_name, list_contains, without_system_path,
};
use super::shells;
use super::word::{self, Piece, Word, WordCount, is_digits};

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
    let program = by_exact_name(without_system_path(program.text()?));
    match program.runs {
        Runs::Command { .. } => behind_options(program, arguments).map(Inner::Command),
        Runs::Words => {
            let texts = word::literal_texts(arguments).filter(|texts| !texts.is_empty())?;
            Some(Inner::Text(texts.join(" ")))
        }
        Runs::Text if program.has(SAME_GRAMMAR) => {
            let text = shells::text(arguments).map(|text| Inner::Text(text.to_owned()));
            let script = || {
                arguments
                    .first()
                    .filter(|word| word.text_is(shells::is_script))
            };
            text.or_else(|| script().map(|_| Inner::Command(arguments.into())))
        }
        Runs::Text | Runs::Later | Runs::Nothing => None,
    }
}

/// The command behind the options and operands of a wrapper, if the table lists them all. `xargs`
/// appends unknown words to it, or substitutes them.
pub fn behind_options<'w>(program: &Program, arguments: &'w [Word]) -> Option<Cow<'w, [Word]>> {
    let Runs::Command {
        operands,
        grantable: Some(grantable),
        ..
    } = program.runs
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
            _ => text.split_at(text.len().min(2)),
        };
        let is_number = list_contains(grantable, "-#") && is_digits(&text[1..]);
        if is_number || list_contains(grantable, text) {
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
        rest = rest
            .split_first()
            .filter(|(word, _)| word.text_is(begins))?
            .1;
    }
    let is_program =
        |text: &str| !text.starts_with('-') && (grantable != "=" || !text.contains('='));
    if !program.has(APPENDS_INPUT) {
        return rest
            .first()?
            .text_is(is_program)
            .then_some(Cow::Borrowed(rest));
    }
    let mut words = rest.to_vec();
    match words.first() {
        Some(first) if !first.text_is(is_program) => return None,
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
    let may_be_set = |text| names::sets_harmlessly(text) || names::is_setting(text);
    text.len() > 1 && text.starts_with('-') || grantable == "=" && may_be_set(text)
}

/// Makes every word that contains `name` unknown in its place.
pub fn make_unknown(words: &mut [Word], name: &str) {
    for word in words {
        let has_name = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(name));
        // Beside a `..` it is not read as text: it looks like an open brace.
        if word.pieces.iter().any(has_name) || word.raw.contains(name) {
            word.raw = word.raw.replace(name, PLACEHOLDER);
            word.pieces = vec![Piece::Expansion(WordCount::Any)];
        }
    }
}
