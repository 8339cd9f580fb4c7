//! Checks commands against denials, more strictly than against grants
//! (docs/spec/restriction.md#denials): programs are found by base name, behind every wrapper and
//! assignment, and in texts that run later. A command that cannot be parsed is denied.

use std::path::Path;

use super::Fault;
use super::name_list::Names;
use super::operand::alternatives;
use super::programs;
use super::readings::Readings;
use super::runners::{self, SHELLS, UNKNOWN_TEXT, base, runs_text};
use super::shells::{self, Rendered};
use super::step::{Simple, Step};
use super::word::{self, Word};
use crate::host::shell::{Language, Shell};
use crate::permission::command::Canonical;
use place::{MAX_WORDS, Places};

mod env;
mod evaluators;
mod input;
mod maybe;
mod place;

pub use evaluators::makes_assignments;
pub use input::runs_input;
pub use place::placeholders;

/// The cost of a text in an argument, beyond its length.
const TEXT_COST: usize = 32;
/// Builtins that may export variables.
const EXPORTS: Names = Names::new("export declare typeset local readonly");
/// Programs that may name a denied one, as they neither run nor copy it.
const ONLY_LOOK: Names = Names::new("which type test [ [[ ls file stat readlink realpath dpkg");
/// Whether a program may export variables to those that run later.
pub fn exports(program: &str) -> bool {
    EXPORTS.has(program)
}

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
    let feeds = command.replace("||", "").contains(['|', '<']) || command.contains(">(");
    let context = Context {
        shell: readings.places.shell,
        depth: 0,
        may_be_prose: false,
    };
    Seeker {
        denies,
        feeds,
        readings,
    }
    .text(command, context)
}

struct Seeker<'a> {
    denies: &'a dyn Fn(&Canonical) -> Option<usize>,
    /// Whether the command line feeds the standard input of some program.
    feeds: bool,
    readings: &'a Readings<'a>,
}

/// Where a text is run.
#[derive(Clone, Copy)]
struct Context {
    shell: Shell,
    depth: usize,
    /// Whether the text may be no command line at all: then only a found denial counts.
    may_be_prose: bool,
}

impl Context {
    fn inner(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    /// A result, in which prose has no faults.
    fn judge<T: Default>(self, result: Result<T, Fault>) -> Result<T, Fault> {
        if self.may_be_prose {
            return Ok(result.unwrap_or_default());
        }
        result
    }
}

/// What surrounds a command that is looked at.
struct Inside {
    context: Context,
    /// The placeholders that `xargs`, `find` and similar programs replace.
    placeholders: Vec<String>,
    /// Whether it only looks programs up, as `command -v` does.
    looks: bool,
}

type Found = Result<Option<(String, usize)>, Fault>;

impl Seeker<'_> {
    fn text(&mut self, text: &str, context: Context) -> Found {
        if context.depth > MAX_DEPTH {
            if context.may_be_prose {
                // Prose has no faults, but is not nested so deeply.
                self.readings.steps.spend(usize::MAX);
            }
            return Fault::refuse("", "too many command lines within command lines");
        }
        let reading = self.readings.read(text, context.shell, false);
        for step in &reading.as_ref().as_ref().map_err(Fault::clone)?.steps {
            let found = match step {
                Step::Command(simple) => self.simple(simple, context)?,
                Step::Redirect(redirect) => self.file(&redirect.target),
                Step::Loop(name) => {
                    context.judge(evaluators::sets(name, None))?;
                    None
                }
                _ => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Texts that may be command lines or anything else.
    fn prose(&mut self, texts: impl IntoIterator<Item = String>, context: Context) -> Found {
        let context = Context {
            may_be_prose: true,
            ..context.inner()
        };
        for text in texts {
            if !self.readings.steps.spend(TEXT_COST) {
                return Err(Fault::too_much());
            }
            // As in `LESSOPEN='|rm %s'`.
            let text = text.trim_start_matches(['|', '!', ' ']);
            if let Ok(Some(found)) = self.text(text, context) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A denied program that is named as a file, to be copied or linked to another name.
    fn file(&self, word: &Word) -> Option<(String, usize)> {
        let raw = word.text().unwrap_or(&word.raw);
        let all = alternatives(&raw.replace(['"', '\''], "")).unwrap_or_default();
        all.into_iter().find_map(|text| {
            let value = text.rsplit('=').next().unwrap_or(&text);
            let path = Path::new(value.strip_prefix("file://").unwrap_or(value));
            let name = path.file_name()?.to_str()?;
            let directory = path.parent()?.file_name()?.to_str()?;
            let is_program = path.is_absolute() && matches!(directory, "bin" | "sbin" | "X11");
            let names = [path.to_str()?, name].into_iter().filter(|_| is_program);
            let mut words = names.map(Word::literal);
            let rule = |word| (self.denies)(&word::canonical(&[], std::iter::once(&word)));
            let rule = words.find_map(rule)?;
            Some((value.to_owned(), rule))
        })
    }

    fn simple(&mut self, simple: &Simple, context: Context) -> Found {
        for one in &simple.assignments {
            let value = one.text.as_deref().and_then(|text| text.split_once('='));
            context.judge(evaluators::sets(&one.name, value.map(|(_, value)| value)))?;
            // Without a command it reaches no program.
            let value = maybe::value(one.text.as_deref(), &one.raw);
            let value = value.filter(|_| !simple.words.is_empty());
            if let Some(found) = self.prose(value, context)? {
                return Ok(Some(found));
            }
        }
        if let Some(part) = place::unknown_program(&simple.words) {
            context.judge::<()>(Fault::refuse(&part, "the program must be plain text"))?;
        }
        let inside = Inside {
            context,
            placeholders: place::placeholders(&simple.words),
            looks: only_looks(&simple.words),
        };
        let places = Places::of(&simple.words);
        for (at, word) in simple.words.iter().enumerate() {
            let mut found = None;
            if at > 0 && !inside.looks && !simple.words[0].fits(|program| ONLY_LOOK.has(program)) {
                found = self.file(word);
            }
            if found.is_none() && at > 0 && places.is_read(at) {
                found = self.prose(maybe::texts(word), context)?;
            }
            if found.is_none() && places.begins(at) {
                found = context.judge(self.begun(simple, at, &inside))?;
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The command that begins at one of the words.
    fn begun(&mut self, simple: &Simple, at: usize, inside: &Inside) -> Found {
        let words = &simple.words[at..];
        let word = &words[0];
        let Some(program) = word.text() else {
            if at == 0 {
                return Fault::refuse(&word.raw, "the program must be plain text");
            }
            return Ok(None);
        };
        // Any word may begin the command that runs, so the work is quadratic in their number.
        if at > 0 && inside.context.may_be_prose {
            if !self.readings.steps.spend(words.len()) {
                return Err(Fault::too_much());
            }
        } else if at > 0 && simple.words.len() > MAX_WORDS {
            return Fault::refuse(program, "it runs too long a command");
        }
        let base = base(program);
        let looks = at > 0 && inside.looks;
        // A rule for a subcommand means it behind other options, too.
        let mut begins = vec![1];
        if base == "git" {
            begins.extend(programs::git_verbs(&words[1..]).map(|at| at + 1));
        }
        for name in [program, base].into_iter().filter(|_| !looks) {
            for begin in &begins {
                let renamed = Word::literal(name);
                let command = std::iter::once(&renamed).chain(&words[*begin..]);
                if let Some(rule) = (self.denies)(&word::canonical(&[], command)) {
                    return Ok(Some((simple.shown(), rule)));
                }
            }
        }
        if is_loader(base) {
            return Fault::refuse(base, "it runs a program by a way of its own");
        }
        if simple.words[..at]
            .iter()
            .all(|word| stays_in_shell(word) || word.begins_option())
        {
            let zsh = inside.context.shell.language == Language::BashOrZsh;
            evaluators::check(program, &words[1..], zsh)?;
        }
        if !looks && let Some(found) = self.arguments(base, &words[1..], inside)? {
            return Ok(Some(found));
        }
        if self.feeds && !looks && runs_input(base, &words[1..]) {
            return Fault::refuse(base, UNKNOWN_TEXT);
        }
        Ok(None)
    }

    /// Checks arguments that may be command lines themselves.
    fn arguments(&mut self, program: &str, arguments: &[Word], inside: &Inside) -> Found {
        let context = inside.context.inner();
        if program == "eval" {
            return match word::texts(arguments) {
                Some(texts) => self.text(&texts.join(" "), context),
                None => Fault::refuse("eval", UNKNOWN_TEXT),
            };
        }
        if runners::wrapper(program).is_some() {
            let mut names = arguments
                .iter()
                .filter_map(|word| word.prefix().split_once('='));
            if let Some((name, _)) = names.find(|(name, _)| evaluators::runs(name)) {
                return Fault::refuse(name, "a shell evaluates this variable");
            }
        }
        if let Some(word) = runners::new_name(program, arguments) {
            let name = word.text().filter(|name| !name.starts_with('-'));
            let name = name.filter(|name| !SHELLS.has(base(name)));
            let name =
                name.ok_or_else(|| Fault::new(program, "it gives a program another name"))?;
            let renamed = Word::literal(base(name));
            let command = std::iter::once(&renamed).chain(arguments);
            if let Some(rule) = (self.denies)(&word::canonical(&[], command)) {
                return Ok(Some((name.to_owned(), rule)));
            }
        }
        if program == "env" {
            return match env::split(arguments)? {
                // The options of `env` count too.
                Some(text) => self.text(&format!("env {text}"), context),
                None => Ok(None),
            };
        }
        if exports(program) {
            let values = arguments
                .iter()
                .filter_map(|word| maybe::value(word.text(), &word.raw));
            return self.prose(values, inside.context);
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
                if let Some(found) = self.text(text, context)? {
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
            Rendered::Text(text) if !filled_in(text) => {
                let context = inside.context.inner();
                self.text(text, Context { shell, ..context })
            }
            Rendered::File(_) => Ok(None),
            // As in `bash "$SKILL_DIR/scripts/x.sh"`.
            _ if arguments.first().is_some_and(is_unknown_file) => Ok(None),
            // It reads standard input, which is checked elsewhere, or `xargs` appends words.
            _ if arguments.is_empty() && inside.placeholders.is_empty() => Ok(None),
            _ => Fault::refuse(program, UNKNOWN_TEXT),
        }
    }
}

fn is_unknown_file(word: &Word) -> bool {
    word.text().is_none() && evaluators::is_file(word)
}

/// Whether what follows this word is run by the same shell.
fn stays_in_shell(word: &Word) -> bool {
    word.is_any(&[
        "command",
        "builtin",
        "time",
        "!",
        "noglob",
        "nocorrect",
        "-",
    ])
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
