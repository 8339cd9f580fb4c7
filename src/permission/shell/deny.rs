//! Checks commands against denials, more strictly than against grants
//! (docs/spec/restriction.md#denials): programs are found by base name, behind every wrapper and
//! assignment, and in texts that run later. A command that cannot be parsed is denied.

use super::programs::runs_words_from;
use super::readings::Readings;
use super::runners::{self, SHELLS, base, runs_text};
use super::shells::{self, Rendered};
use super::step::{Simple, Step};
use super::word::{self, Word};
use super::{Fault, find};
use crate::host::shell::{Language, Shell};
use crate::permission::command::Canonical;

mod env;
mod evaluators;
mod input;
mod place;

pub use place::placeholders;

const UNKNOWN_TEXT: &str = "it runs text that is not known";
/// The cost of a text in an argument, beyond its length.
const TEXT_COST: usize = 32;
/// The limit of words after a program that runs them.
const MAX_WORDS: usize = 256;
/// The limit of nested texts.
const MAX_DEPTH: usize = 8;

/// The first part of a command line that `denies` matches: the part, and the rule's number.
///
/// # Errors
/// If the command cannot be read, or runs a program whose name is not plain text: it may be the
/// denied one.
pub fn denied(
    command: &str,
    denies: &dyn Fn(&Canonical) -> Option<usize>,
    readings: &Readings,
) -> Result<Option<(String, usize)>, Fault> {
    // `||` does not pipe; every other use of these characters may feed a program.
    let feeds = command.replace("||", "").contains(['|', '<']);
    Seeker {
        denies,
        feeds,
        readings,
    }
    .text(command, readings.places.shell, 0)
}

struct Seeker<'a> {
    denies: &'a dyn Fn(&Canonical) -> Option<usize>,
    /// Whether the command line feeds the standard input of some program.
    feeds: bool,
    readings: &'a Readings<'a>,
}

/// What surrounds a command that is looked at.
struct Inside {
    shell: Shell,
    depth: usize,
    /// The placeholders that `xargs`, `find` and similar programs replace.
    placeholders: Vec<String>,
}

type Found = Result<Option<(String, usize)>, Fault>;

impl Seeker<'_> {
    fn text(&mut self, text: &str, shell: Shell, depth: usize) -> Found {
        if depth > MAX_DEPTH {
            return Fault::refuse("", "too many command lines within command lines");
        }
        let reading = self.readings.read(text, shell, false);
        for step in &reading.as_ref().as_ref().map_err(Fault::clone)?.steps {
            match step {
                Step::Command(simple) => {
                    if let Some(found) = self.simple(simple, shell, depth)? {
                        return Ok(Some(found));
                    }
                }
                Step::Loop(name) => evaluators::sets(name, None)?,
                _ => {}
            }
        }
        Ok(None)
    }

    fn simple(&mut self, simple: &Simple, shell: Shell, depth: usize) -> Found {
        for one in &simple.assignments {
            let value = one.text.as_deref().and_then(|text| text.split_once('='));
            evaluators::sets(&one.name, value.map(|(_, value)| value))?;
        }
        if let Some(part) = place::unknown_program(&simple.words) {
            return Fault::refuse(&part, "the program must be plain text");
        }
        // Any word may begin the command that runs, so the work is quadratic in their number.
        let many = simple.words.len() > MAX_WORDS;
        let runs_from = runs_from(&simple.words);
        let in_shell = |word: &Word| {
            word.is_any(&[
                "command",
                "builtin",
                "time",
                "!",
                "noglob",
                "nocorrect",
                "-",
            ])
        };
        let inside = Inside {
            shell,
            depth,
            placeholders: place::placeholders(&simple.words),
        };
        for (at, word) in simple.words.iter().enumerate() {
            if at > 0 && at < runs_from {
                continue;
            }
            let words = &simple.words[at..];
            let Some(program) = word.text() else {
                if at == 0 {
                    return Fault::refuse(&word.raw, "the program must be plain text");
                }
                continue;
            };
            if at > 0 && many {
                return Fault::refuse(program, "it runs too long a command");
            }
            let base = base(program);
            // `command -v bash` only looks it up.
            let looks = at > 0 && only_looks(&simple.words);
            for name in [program, base].into_iter().filter(|_| !looks) {
                let renamed = Word::literal(name);
                let command = std::iter::once(&renamed).chain(&words[1..]);
                if let Some(rule) = (self.denies)(&word::canonical(&[], command)) {
                    return Ok(Some((simple.shown(), rule)));
                }
            }
            if is_loader(base) {
                return Fault::refuse(base, "it runs a program by a way of its own");
            }
            if simple.words[..at].iter().all(in_shell) {
                let zsh = shell.language == Language::BashOrZsh;
                evaluators::check(program, &words[1..], zsh)?;
            }
            if !looks && let Some(found) = self.arguments(base, &words[1..], &inside)? {
                return Ok(Some(found));
            }
            if self.feeds && !looks && input::runs_input(base, &words[1..]) {
                return Fault::refuse(base, UNKNOWN_TEXT);
            }
        }
        Ok(None)
    }

    /// Checks arguments that may be command lines themselves.
    fn arguments(&mut self, program: &str, arguments: &[Word], inside: &Inside) -> Found {
        let &Inside { shell, depth, .. } = inside;
        if program == "eval" {
            return match word::texts(arguments) {
                Some(texts) => self.text(&texts.join(" "), shell, depth + 1),
                None => Fault::refuse("eval", UNKNOWN_TEXT),
            };
        }
        if program == "env" {
            let names = arguments.iter().filter_map(|word| word.raw.split_once('='));
            let mut names = names.map(|(name, _)| name.trim_matches(['\'', '"']));
            if let Some(name) = names.find(|name| evaluators::runs(name)) {
                return Fault::refuse(name, "a shell evaluates this variable");
            }
            return match env::split(arguments)? {
                // The options of `env` count too.
                Some(text) => self.text(&format!("env {text}"), shell, depth + 1),
                None => Ok(None),
            };
        }
        if SHELLS.has(program) {
            return self.shell(program, arguments, inside);
        }
        if !runs_text(program) {
            return Ok(None);
        }
        if !inside.placeholders.is_empty() && program != "parallel" {
            return Fault::refuse(program, UNKNOWN_TEXT);
        }
        for word in arguments {
            let unknown = || Fault::new(&word.raw, UNKNOWN_TEXT);
            let text = word.text().ok_or_else(unknown)?;
            for text in runners::texts(text) {
                if !self.readings.steps.spend(TEXT_COST) {
                    return Err(Fault::too_much());
                }
                if let Some(found) = self.text(text, shell, depth + 1)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// A shell with the supported form of `-c`, or with a script.
    fn shell(&mut self, program: &str, arguments: &[Word], inside: &Inside) -> Found {
        let language = match program {
            "zsh" => Language::BashOrZsh,
            "fish" | "csh" | "tcsh" => Language::Other,
            _ => Language::Sh,
        };
        let shell = Shell {
            language,
            persists: false,
        };
        let filled_in = |text: &str| inside.placeholders.iter().any(|name| text.contains(name));
        match shells::read(arguments) {
            Rendered::Text(text) if !filled_in(text) => self.text(text, shell, inside.depth + 1),
            Rendered::File(_) => Ok(None),
            // It reads standard input, which is checked elsewhere, or `xargs` appends words.
            _ if arguments.is_empty() && inside.placeholders.is_empty() => Ok(None),
            _ => Fault::refuse(program, UNKNOWN_TEXT),
        }
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

/// Whether a program is a dynamic loader, which runs its first operand.
fn is_loader(base: &str) -> bool {
    base == "ld.so"
        || base.starts_with("ld")
            && (base.contains(".so") || base.contains("-linux") || base.contains("-musl"))
}

/// Whether a command that begins with these words only looks up the rest.
fn only_looks(words: &[Word]) -> bool {
    matches!(words, [command, option, ..]
        if command.is_any(&["command"]) && option.is_any(&["-v", "-V"]))
}
