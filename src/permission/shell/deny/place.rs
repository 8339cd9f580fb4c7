//! Finds the program behind a wrapper, so that an unknown word in its place is not taken for an
//! operand (docs/spec/restriction.md#unknown-programs). Options are parsed by the wrapper's own
//! syntax; ambiguity counts against the command.

use super::env;
use crate::permission::shell::find;
use crate::permission::shell::names;
use crate::permission::shell::programs::runs_words_from;
use crate::permission::shell::runners::{self, Wrapper, base};
use crate::permission::shell::word::{Arity, Piece, Word};

/// The placeholders that a command replaces before it runs: those of `xargs`, `find` and similar
/// programs. A text that contains one is unknown.
pub fn placeholders(words: &[Word]) -> Vec<String> {
    let text = |word: &Word| word.text().unwrap_or_default().to_owned();
    let texts: Vec<String> = words.iter().map(text).collect();
    let fills = |text: &String| ["xargs", "find", "parallel", "fd"].contains(&base(text));
    let Some(at) = texts.iter().position(fills) else {
        return Vec::new();
    };
    let mut names = vec!["{}".to_owned()];
    for (at, text) in texts.iter().enumerate().skip(at) {
        let options = ["-I", "-J", "-i", "--replace="];
        match options.iter().find_map(|option| text.strip_prefix(option)) {
            Some("") => names.extend(texts.get(at + 1).cloned()),
            Some(name) => names.push(name.to_owned()),
            None => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The limit of words after a program that runs them.
pub const MAX_WORDS: usize = 256;

/// Which words of a command may begin another.
pub struct Places {
    /// Where the command begins, and those behind its wrappers.
    starts: Vec<usize>,
    /// From here on, every word.
    from: usize,
}

impl Places {
    pub fn of(words: &[Word]) -> Self {
        let mut starts = vec![0];
        let mut at = 0;
        while let Some(inner) = behind_wrapper(&words[at..]) {
            at = words.len() - inner.len();
            starts.push(at);
        }
        let from = at + runs_from(&words[at..]);
        Self { starts, from }
    }

    /// Whether a command may begin at this word.
    pub fn begins(&self, at: usize) -> bool {
        at >= self.from || self.starts.binary_search(&at).is_ok()
    }

    /// Whether this word belongs to a program that runs others, and may hold a command line.
    pub fn is_read(&self, at: usize) -> bool {
        at >= self.from || self.starts.last().is_some_and(|last| at <= *last)
    }
}

/// The command behind a wrapper whose options are known; `None` if any word may begin one.
fn behind_wrapper(words: &[Word]) -> Option<&[Word]> {
    let (first, rest) = words.split_first()?;
    let name = first
        .text()
        .map(base)
        .filter(|_| words.len() <= MAX_WORDS)?;
    let wrapper = runners::wrapper(name).filter(|_| runners::EXACT.has(name))?;
    // What `env -S` splits may be another wrapper.
    let splits = name == "env" && !matches!(env::split(rest), Ok(None));
    match behind(wrapper, rest) {
        Place::Known(inner) if !splits => Some(inner),
        _ => None,
    }
}

/// The place from which on every word may be a program.
fn runs_from(words: &[Word]) -> usize {
    let first = words.first().and_then(Word::text).map(base);
    // An unknown word may be an action.
    let may_be_action =
        |word: &Word| word.is_any(&find::RUNS) || word.text().is_none() && !word.is_never_option();
    let from = match first.unwrap_or_default() {
        "find" => words.iter().position(may_be_action).map(|at| at + 1),
        _ => runs_words_from(words),
    };
    from.unwrap_or(words.len())
}

/// The unknown word, as written, that may be the program behind wrappers.
pub fn unknown_program(words: &[Word]) -> Option<String> {
    let mut words = words.to_vec();
    let names = placeholders(&words);
    for word in words.iter_mut().skip(1) {
        let is_filled_in =
            |text: &str| !text.starts_with('-') && names.iter().any(|name| text.contains(name));
        if word.fits(is_filled_in) {
            word.pieces = vec![Piece::Value(Arity::One)];
        }
    }
    unknown_in(&words)
}

fn unknown_in(words: &[Word]) -> Option<String> {
    let mut words = words;
    // Whether words are added from elsewhere, so that a program follows in any case.
    let mut is_fed = false;
    loop {
        let (first, mut rest) = words.split_first()?;
        let Some(name) = first.text().map(base) else {
            return Some(first.raw.clone());
        };
        let looks = |word: &Word| word.is_any(&["-v", "-V"]);
        if name == "command" && rest.first().is_some_and(looks) {
            return None;
        }
        if name == "find" {
            let unknown = unknown_action(rest);
            return unknown.or(is_fed.then(|| first.raw.clone()));
        }
        let wrapper = runners::wrapper(name)?;
        if runners::BY_SUBCOMMAND.has(name) {
            let running = |word: &Word| word.fits(|text| runners::RUNNING.has(text));
            let runs = rest.iter().position(running)?;
            rest = &rest[runs + 1..];
        }
        words = match behind(wrapper, rest) {
            Place::Known(inner) | Place::Likely(inner) => inner,
            Place::Unknown(word) => return Some(word.raw.clone()),
            Place::Nowhere => return is_fed.then(|| first.raw.clone()),
        };
        is_fed |= matches!(name, "xargs" | "parallel");
    }
}

enum Place<'a> {
    /// The program and the words after it.
    Known(&'a [Word]),
    /// The same, unless an option takes its value differently.
    Likely(&'a [Word]),
    Unknown(&'a Word),
    Nowhere,
}

fn behind<'a>(wrapper: &Wrapper, words: &'a [Word]) -> Place<'a> {
    // How many operands must precede the program, and may.
    let (mut least, mut most) = (wrapper.operands, wrapper.operands);
    let mut rest = words.iter().enumerate();
    // Whether the previous option may take this word as its value.
    let mut may_be_value = false;
    let mut options = true;
    let mut certain = true;
    while let Some((at, word)) = rest.next() {
        let assigns = names::assignment(&word.raw).is_some() && word.is_one_word();
        match word.text() {
            // It may be an operand too.
            _ if assigns => (least, may_be_value) = (least.saturating_sub(1), false),
            Some("--") if options => (options, may_be_value) = (false, false),
            Some(text) if options && text.len() > 1 && text.starts_with('-') => {
                match wrapper.takes_value(text) {
                    Some(true) => match rest.next() {
                        Some((_, value)) if !value.is_one_word() => return Place::Unknown(value),
                        _ => may_be_value = false,
                    },
                    takes => may_be_value = takes.is_none(),
                }
                certain &= !may_be_value;
            }
            Some(_) if may_be_value => (least, may_be_value) = (least.saturating_sub(1), false),
            Some(_) if most > 0 => (least, most) = (least.saturating_sub(1), most - 1),
            Some(_) if certain => return Place::Known(&words[at..]),
            Some(_) => return Place::Likely(&words[at..]),
            None if may_be_value || word.arity() == Arity::Any => return Place::Unknown(word),
            None if options && word.begins_option() => certain = false,
            None if least > 0 => (least, most) = (least - 1, most - 1),
            None => return Place::Unknown(word),
        }
    }
    Place::Nowhere
}

/// A word of `find` that may be a program it runs, or may become an action.
fn unknown_action(arguments: &[Word]) -> Option<String> {
    let is_unknown = |word: &Word| word.text().is_none() && !word.is_never_option();
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        if word.is_any(&find::RUNS) {
            let run = find::command_from(after);
            rest = &after[run.len()..];
            // Two unknown words may be `;` and `-exec`.
            let may_run =
                |at: usize| at == 0 || run[..at].iter().filter(|word| is_unknown(word)).count() > 1;
            let mut places = (0..run.len()).filter(|at| may_run(*at));
            if let Some(found) = places.find_map(|at| unknown_in(&run[at..])) {
                return Some(found);
            }
        } else if is_unknown(word) {
            // It may be `-exec`, and the next word a program.
            let found = if word.is_one_word() {
                unknown_in(after)
            } else {
                Some(word.raw.clone())
            };
            if found.is_some() {
                return found;
            }
        }
    }
    None
}
