//! Checks commands against denials, more strictly than against grants
//! (docs/spec/restriction.md#denials): programs are found by base name, behind every wrapper and
//! assignment, and in texts that run later. A command that cannot be parsed is denied.

use std::path::Path;

use super::Fault;
use super::operand::alternatives;
use super::programs;
use super::readings::Readings;
use super::runners::{self, SHELLS, UNKNOWN_TEXT, base, runs_text};
use super::shells::{self, Rendered};
use super::step::{Simple, Step};
use super::word::{self, Word};
use crate::host::shell::{Language, Shell};
use crate::permission::command::Canonical;
use crate::sys::name_list::Names;
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

/// Why a command line is denied.
pub enum Denial {
    /// `denies` matches this part by the rule of this number.
    Rule(String, usize),
    /// What cannot be read, or what runs a program whose name is not plain text, may be denied.
    Unclear(Fault),
}

impl From<Fault> for Denial {
    fn from(fault: Fault) -> Self {
        Self::Unclear(fault)
    }
}

/// Refuses a command line of which `denies` matches a part: it returns the rule's number.
///
/// # Errors
/// The first such part, or what is not clear.
pub fn undenied(
    command: &str,
    denies: &dyn Fn(&Canonical) -> Option<usize>,
    readings: &Readings,
) -> Result<(), Denial> {
    // `||` does not pipe; every other use of these characters may feed a program.
    let feeds = command.replace("||", "").contains(['|', '<']) || command.contains(">(");
    let context = Context {
        shell: readings.places.shell,
        depth: 0,
        may_be_prose: false,
    };
    let seeker = Seeker {
        denies,
        feeds,
        readings,
    };
    seeker.text(command, context)
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
    fn judge(self, result: Result<(), impl Into<Denial>>) -> Checked {
        match result.map_err(Into::into) {
            Err(Denial::Unclear(_)) if self.may_be_prose => Ok(()),
            result => result,
        }
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

/// Whether no denial covers something.
type Checked = Result<(), Denial>;

impl Seeker<'_> {
    fn text(&self, text: &str, context: Context) -> Checked {
        let too_deep = context.depth > MAX_DEPTH;
        if too_deep && context.may_be_prose {
            // Prose has no faults, but is not nested so deeply.
            self.readings.steps.spend(usize::MAX);
        }
        Fault::refuse_if(too_deep, "", "too many command lines within command lines")?;
        let reading = self.readings.read(text, context.shell, false);
        for step in &reading.as_ref().as_ref().map_err(Fault::clone)?.steps {
            match step {
                Step::Command(simple) => self.simple(simple, context)?,
                Step::Redirect(redirect) => self.file(&redirect.target)?,
                Step::Loop(name) => context.judge(evaluators::sets(name, None))?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Texts that may be command lines or anything else.
    fn prose(&self, texts: impl IntoIterator<Item = String>, context: Context) -> Checked {
        let context = Context {
            may_be_prose: true,
            ..context.inner()
        };
        for text in texts {
            Fault::afford(self.readings.steps, TEXT_COST)?;
            // As in `LESSOPEN='|rm %s'`.
            let text = text.trim_start_matches(['|', '!', ' ']);
            context.judge(self.text(text, context))?;
        }
        Ok(())
    }

    /// A command of a program with these arguments; `part` is shown if it is denied.
    fn command(&self, program: &str, arguments: &[Word], part: impl FnOnce() -> String) -> Checked {
        let program = Word::literal(program);
        let command = std::iter::once(&program).chain(arguments);
        let rule = (self.denies)(&word::canonical(&[], command));
        rule.map_or(Ok(()), |rule| Err(Denial::Rule(part(), rule)))
    }

    /// A denied program that is named as a file, to be copied or linked to another name.
    fn file(&self, word: &Word) -> Checked {
        let raw = word.text().unwrap_or(&word.raw);
        let all = alternatives(&raw.replace(['"', '\''], "")).unwrap_or_default();
        for text in all {
            let value = text.rsplit('=').next().unwrap_or(&text);
            let path = value.strip_prefix("file://").unwrap_or(value);
            let name = |path: &Path| path.file_name()?.to_str().map(str::to_owned);
            let directory = Path::new(path).parent().and_then(name);
            let is_program = path.starts_with('/')
                && matches!(directory.as_deref(), Some("bin" | "sbin" | "X11"));
            if let Some(name) = name(Path::new(path)).filter(|_| is_program) {
                self.command(path, &[], || value.to_owned())?;
                self.command(&name, &[], || value.to_owned())?;
            }
        }
        Ok(())
    }

    fn simple(&self, simple: &Simple, context: Context) -> Checked {
        for one in &simple.assignments {
            let value = one.text.as_deref().and_then(|text| text.split_once('='));
            context.judge(evaluators::sets(&one.name, value.map(|(_, value)| value)))?;
            // Without a command it reaches no program.
            let value = maybe::value(one.text.as_deref(), &one.raw);
            self.prose(value.filter(|_| !simple.words.is_empty()), context)?;
        }
        if let Some(part) = place::unknown_program(&simple.words) {
            context.judge(Fault::refuse(&part, "the program must be plain text"))?;
        }
        let inside = Inside {
            context,
            placeholders: place::placeholders(&simple.words),
            looks: only_looks(&simple.words),
        };
        let places = Places::of(&simple.words);
        for (at, word) in simple.words.iter().enumerate() {
            if at > 0 && !inside.looks && !simple.words[0].fits(|program| ONLY_LOOK.has(program)) {
                self.file(word)?;
            }
            if at > 0 && places.is_read(at) {
                self.prose(maybe::texts(word), context)?;
            }
            if places.begins(at) {
                context.judge(self.begun(simple, at, &inside))?;
            }
        }
        Ok(())
    }

    /// The command that begins at one of the words.
    fn begun(&self, simple: &Simple, at: usize, inside: &Inside) -> Checked {
        let words = &simple.words[at..];
        let word = &words[0];
        let Some(program) = word.text() else {
            Fault::refuse_if(at == 0, &word.raw, "the program must be plain text")?;
            return Ok(());
        };
        // Any word may begin the command that runs, so the work is quadratic in their number.
        if at > 0 && inside.context.may_be_prose {
            Fault::afford(self.readings.steps, words.len())?;
        } else if at > 0 {
            let is_long = simple.words.len() > MAX_WORDS;
            Fault::refuse_if(is_long, program, "it runs too long a command")?;
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
                self.command(name, &words[*begin..], || simple.shown())?;
            }
        }
        if is_loader(base) {
            return Ok(Fault::refuse(
                base,
                "it runs a program by a way of its own",
            )?);
        }
        if simple.words[..at]
            .iter()
            .all(|word| stays_in_shell(word) || word.begins_option())
        {
            let zsh = inside.context.shell.language == Language::BashOrZsh;
            evaluators::check(program, &words[1..], zsh)?;
        }
        if looks {
            return Ok(());
        }
        self.arguments(base, &words[1..], inside)?;
        let runs_unknown = self.feeds && runs_input(base, &words[1..]);
        Ok(Fault::refuse_if(runs_unknown, base, UNKNOWN_TEXT)?)
    }

    /// Checks arguments that may be command lines themselves.
    fn arguments(&self, program: &str, arguments: &[Word], inside: &Inside) -> Checked {
        let context = inside.context.inner();
        let unknown = |part: &str| Fault::new(part, UNKNOWN_TEXT);
        if program == "eval" {
            let texts = word::texts(arguments).ok_or_else(|| unknown("eval"))?;
            return self.text(&texts.join(" "), context);
        }
        if runners::wrapper(program).is_some() {
            let assigned = arguments.iter().map(Word::prefix);
            for (name, _) in assigned.filter_map(|text| text.split_once('=')) {
                let runs = evaluators::runs(name);
                Fault::refuse_if(runs, name, "a shell evaluates this variable")?;
            }
        }
        if let Some(word) = runners::new_name(program, arguments) {
            let is_plain = |name: &&str| !name.starts_with('-') && !SHELLS.has(base(name));
            let renamed = || Fault::new(program, "it gives a program another name");
            let name = word.text().filter(is_plain).ok_or_else(renamed)?;
            self.command(base(name), arguments, || name.to_owned())?;
        }
        if program == "env" {
            // The options of `env` count too.
            let text = env::split(arguments)?.map(|text| format!("env {text}"));
            return text.map_or(Ok(()), |text| self.text(&text, context));
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
            return Ok(());
        }
        let is_filled_in = !inside.placeholders.is_empty() && program != "parallel";
        Fault::refuse_if(is_filled_in, program, UNKNOWN_TEXT)?;
        for word in arguments {
            for text in runners::texts(word.text().ok_or_else(|| unknown(&word.raw))?) {
                Fault::afford(self.readings.steps, TEXT_COST)?;
                self.text(text, context)?;
            }
        }
        Ok(())
    }

    /// A shell with the supported form of `-c`, or with a script.
    fn shell(&self, program: &str, arguments: &[Word], inside: &Inside) -> Checked {
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
            Rendered::File(_) => Ok(()),
            // As in `bash "$SKILL_DIR/scripts/x.sh"`.
            _ if arguments.first().is_some_and(is_unknown_file) => Ok(()),
            // It reads standard input, which is checked elsewhere, or `xargs` appends words.
            _ if arguments.is_empty() && inside.placeholders.is_empty() => Ok(()),
            _ => Ok(Fault::refuse(program, UNKNOWN_TEXT)?),
        }
    }
}

fn is_unknown_file(word: &Word) -> bool {
    word.text().is_none() && evaluators::is_file(word)
}

/// Whether what follows this word is run by the same shell.
fn stays_in_shell(word: &Word) -> bool {
    const THEY_DO: Names = Names::new("command builtin time ! noglob nocorrect -");
    word.fits(|text| THEY_DO.has(text))
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
