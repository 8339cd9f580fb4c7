//! Checks every step of a command line against the rules: commands, redirections, and where they
//! lead after a directory change.

use super::directories::WorkingDirectories;
use super::neutral_commands::{self, CommandClass};
use super::options::ReadKind;
use super::parse::{ParseCache, ParsedLine};
use super::programs::{
    CHANGES_DIRECTORY, NeutralForm, OperandUse, PREFIX, Program, SETS_OPTIONS, SHELL_ONLY, Wraps,
    by_name, by_path, text_may_move,
};
use super::protected_operands::has_directory_option;
use super::reading_programs::{self, Depth, FileRead, file_read};
use super::step::{Assignment, BlockKind, LineStep, Redirection, SimpleCommand, StdinSource};
use super::variables::{self, Variables};
use super::word::{self, Piece, Word, WordCount, is_digits};
use super::wrappers::{self, WrappedCommand};
use super::{Rejection, find};
use crate::command_pattern::CanonicalCommand;
use crate::evidence::{CitedRule, Grant, Part};
use crate::vocabulary::{Language, Shell};

/// What the shell module asks of the rules.
pub trait CommandRules {
    /// The rule that grants a command and itself contains each word of `spelled`. Outside `home`, a
    /// rule with a relative path names another file and grants nothing.
    fn granting_rule(
        &self,
        command: &CanonicalCommand,
        spelled: &[&str],
        home: bool,
    ) -> Option<CitedRule>;
    /// The rule that permits writing or reading a file, or why none does.
    ///
    /// # Errors
    /// The reason, for a person.
    fn grant_file(&self, path: &str, writes: bool) -> Result<Grant, String>;
    /// Whether the shell's own programs are the host's tools for reading.
    fn reads_by_shell(&self) -> bool {
        false
    }
    /// The rule that permits a program of the shell to show what is at `place`, a path and how far
    /// it leads from there, or its input; or why none does.
    ///
    /// # Errors
    /// The reason, for a person.
    fn grant_read(&self, _what: ReadKind, _place: Option<(&str, &Depth)>) -> Result<Grant, String> {
        Err(String::new())
    }
    /// Whether a command may work in this directory: it lies inside the project or the skill.
    fn is_inside(&self, directory: &str) -> bool;
    /// Whether this is the project root or the skill's own directory.
    fn is_root(&self, directory: &str) -> bool;
    /// Whether `git rev-parse --show-toplevel` certainly prints the shell's initial directory.
    fn is_toplevel(&self) -> bool {
        false
    }
    /// Whether filters at the end of a pipe need no rule.
    fn pipe_filters(&self) -> bool;
    /// Whether commands and texts are followed as the table of programs says, whatever is granted.
    fn follows_all_wrappers(&self) -> bool {
        false
    }
    /// Receives why a command or a text within a command is not followed.
    fn on_unfollowed(&self, _why: &str) {}
    /// Receives each command line that a shell would run.
    fn on_command_line(&self, _reading: &ParsedLine) {}
    /// Receives each command and the directories it may run in.
    fn on_command(&self, _command: &SimpleCommand, _directories: &WorkingDirectories) {}
    /// Receives each redirection and the directories in which its file may be.
    fn on_redirection(&self, _redirect: &Redirection, _directories: &WorkingDirectories) {}
    /// Receives a part whose redirections lead to unknown files.
    fn on_unclear_file(&self, _part: &str, _writes: bool) {}
}

/// What grants a command, or why nothing does.
type Granted = Result<Grant, String>;

const STEERS: &str = "this variable may change what programs do";

/// The limit of settings before one command.
const MAX_SETTINGS: usize = 16;

/// The limit of nested wrappers around one command.
const MAX_WRAPPERS: usize = 8;

/// The limit of nested texts: `bash -c "bash -c …"`.
const MAX_TEXTS: usize = 8;

/// Checks a command line; it may run if every part of it is granted.
pub fn check(command: &str, rules: &dyn CommandRules, cache: &ParseCache) -> Vec<Part> {
    let mut checker = Checker {
        rules,
        cache,
        shell: cache.places.shell,
        directories: WorkingDirectories::default(),
        parts: Vec::new(),
        texts: 0,
        exports_all: false,
    };
    if checker.shell.persists {
        // A previous command may have changed the directory.
        checker.directories.forget();
    } else if cache.places.starts_elsewhere {
        checker.directories = WorkingDirectories::at(cache.places.working_dir.clone());
    }
    checker.check_text(command, false);
    checker.parts
}

struct Checker<'a> {
    rules: &'a dyn CommandRules,
    cache: &'a ParseCache<'a>,
    /// The shell that reads the current text.
    shell: Shell,
    directories: WorkingDirectories,
    parts: Vec<Part>,
    /// The number of texts around the current one.
    texts: usize,
    /// Whether the shell may export variables that are set (`set -a`).
    exports_all: bool,
}

/// A command with its wrappers removed so far.
struct UnwrappedCommand<'a> {
    words: &'a [Word],
    /// Assignments that a rule must spell out.
    assignments: &'a [String],
    simple: &'a SimpleCommand,
    in_loop: bool,
    programs_only: bool,
    /// The number of wrappers around it.
    depth: usize,
}

impl Checker<'_> {
    fn check_text(&mut self, text: &str, in_loop: bool) {
        // A nested text may run in another shell, so it starts without constants.
        let with_variables = self.texts == 0 && !self.shell.persists;
        let reading = self.cache.parse(text, self.shell, with_variables);
        let steps = match &*reading {
            Ok(reading) => {
                self.rules.on_command_line(reading);
                &reading.steps
            }
            Err(rejection) => return self.record_rejection(rejection, text),
        };
        self.exports_all |= steps.iter().any(may_export_all);
        for step in steps {
            match step {
                LineStep::Command(simple) => self.check_command(simple, in_loop),
                LineStep::Redirect(redirect) => self.check_redirection(redirect),
                LineStep::Loop(name) => {
                    if !self.variables().may_have_any_value(name) {
                        let part = format!("for {name}");
                        let rejection = Rejection::new(&part, STEERS);
                        self.record_rejection(&rejection, text);
                    }
                }
                LineStep::Join => self.directories.join(),
                LineStep::Enter { kind, moves } => self.directories.enter_block(*kind, *moves),
                LineStep::Leave => self.directories.leave_block(),
            }
        }
    }

    fn record_rejection(&mut self, rejection: &Rejection, whole: &str) {
        self.report_unread_redirections(whole);
        let outcome = Err(rejection.why.clone());
        let part = Part::new("syntax", rejection.part_or(whole), outcome);
        self.parts.push(part);
    }

    fn check_command(&mut self, simple: &SimpleCommand, in_loop: bool) {
        let parts = self.parts.len();
        self.rules.on_command(simple, &self.directories);
        let outcome = self.grant_simple(simple, in_loop);
        // Callers that ask only about files go on.
        if outcome.is_err() && self.parts.len() == parts && simple.may_change_directory() {
            self.directories.forget();
        }
        let kind = match outcome {
            Ok(_) => "command",
            Err(_) => "subcommand",
        };
        self.parts.push(Part::new(kind, &simple.source(), outcome));
    }

    /// Reports redirections that an unread text may contain.
    fn report_unread_redirections(&self, text: &str) {
        if text.contains('>') {
            self.rules.on_unclear_file(text, true);
        }
        if text.replace("<<", "").contains('<') {
            self.rules.on_unclear_file(text, false);
        }
    }

    /// What is known about variables, as far as nothing exports them implicitly.
    fn variables(&self) -> Variables<'_> {
        let variables = self.cache.variables;
        let stays = !self.exports_all && !self.shell.persists;
        Variables {
            inherited: variables.inherited.filter(|_| stays),
            zsh: self.shell.language == Language::BashOrZsh,
            ..variables
        }
    }

    fn grant_simple(&mut self, simple: &SimpleCommand, in_loop: bool) -> Granted {
        let Some(program) = simple.words.first() else {
            let steers = |one: &&Assignment| {
                let reaches_programs = variables::may_be_exported(&one.name) && !one.is_safe;
                reaches_programs || !self.variables().may_be_set(&one.name)
            };
            return match simple.assignments.iter().find(steers) {
                Some(_) => Err(STEERS.into()),
                None => Ok(Grant::NeedsNoRule("an assignment")),
            };
        };
        let program = program_name(program)?;
        let mut assignments = Vec::new();
        for one in &simple.assignments {
            // `IFS=…` before `read` ends with it, as in `while IFS= read -r line`.
            let ends = one.name == "IFS" && program == "read";
            let harmless = variables::may_be_exported(&one.name) && one.is_safe;
            if !ends && !harmless {
                assignments.push(one.text.clone().ok_or(STEERS)?);
            }
        }
        self.grant(&UnwrappedCommand {
            words: &simple.words,
            assignments: &assignments,
            simple,
            in_loop: simple.in_loop || in_loop,
            programs_only: false,
            depth: 0,
        })
    }

    /// Changes the directory from every possible current one; the cost covers all of them.
    fn change_directory(&mut self, directory: &str, simple: &SimpleCommand) -> bool {
        let ParseCache { steps, places, .. } = self.cache;
        let cdpath = places.cdpath || simple.assigns("CDPATH");
        steps.spend(self.directories.length())
            && self
                .directories
                .enter(directory, |to| self.rules.is_inside(to), cdpath)
    }

    fn grant(&mut self, call: &UnwrappedCommand) -> Granted {
        let Some((program, arguments)) = call.words.split_first() else {
            return Err("there is no command".into());
        };
        let name = program_name(program)?;
        if self.rules.follows_all_wrappers() {
            let mut outcome = None;
            let program = by_path(name);
            for inner in wrappers::inner_commands(program, arguments) {
                outcome = Some(match inner {
                    WrappedCommand::Command(words) => {
                        let begin = wrappers::inner_command_start(program, arguments).unwrap_or(0);
                        let elsewhere = has_directory_option(&arguments[..begin]);
                        let programs_only = call.programs_only || runs_programs(program);
                        self.grant_wrapped(&words, call, programs_only, elsewhere)
                    }
                    WrappedCommand::Text { text, .. } => {
                        self.grant_text(program.wraps, &text, call)
                    }
                });
            }
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
        let home = self
            .directories
            .are_roots(|directory| self.rules.is_root(directory));
        let is_relative = name.contains('/') && !name.starts_with('/');
        if is_relative && !home {
            return Err("in another directory it is another program".into());
        }
        let program = by_name(name);
        let builtin = neutral_commands::classify(program.neutral, arguments, self.variables())?;
        let actions = match by_path(name).operand_use {
            OperandUse::Find => find::actions(arguments, &call.simple.untouched)?,
            _ => find::Actions::default(),
        };
        let command = word::canonical(call.assignments, call.words);
        if let Some(by) = self.rules.granting_rule(&command, &actions.spelled, home) {
            for action in &actions.commands {
                self.grant_wrapped(&action.words, call, true, action.in_file_directory)?;
            }
            self.follow_granted_cd(program, builtin, call)?;
            return Ok(Grant::Rule(by));
        }
        if !call.assignments.is_empty() {
            if !are_settings(program, call.assignments) {
                return Err(STEERS.into());
            }
            // No entry spells the settings; it is what it is without them.
            return self.grant(&UnwrappedCommand {
                assignments: &[],
                ..*call
            });
        }
        match builtin {
            CommandClass::Neutral if !call.programs_only || !program.has(SHELL_ONLY) => {
                return Ok(Grant::NeedsNoRule("it needs no grant"));
            }
            CommandClass::ChangeDirectory(directory) if !call.programs_only => {
                let stays = !call.in_loop && self.change_directory(&directory, call.simple);
                return if stays {
                    Ok(Grant::NeedsNoRule("it stays in the project"))
                } else {
                    Err("it leaves the project".into())
                };
            }
            _ if program.neutral == NeutralForm::Cd && self.stays_at_toplevel(call) => {
                return Ok(Grant::NeedsNoRule("it stays in the project"));
            }
            _ => {}
        }
        if call.depth == 0 && self.is_free_filter(call) {
            return Ok(Grant::NeedsNoRule("it only filters a pipe"));
        }
        if let Some(read) = self.grant_reading_program(call) {
            return read;
        }
        if let Some((directory, words)) = wrappers::split_git_directory(call.words) {
            return self.grant_in(directory, &words, call);
        }
        let is_builtin = call.programs_only && program.has(SHELL_ONLY);
        match wrappers::grantable_inner(call.words).filter(|_| !is_builtin) {
            Some(WrappedCommand::Command(words)) => {
                let programs_only = call.programs_only || runs_programs(program);
                self.grant_wrapped(&words, call, programs_only, false)
            }
            Some(WrappedCommand::Text { text, .. }) => self.grant_text(program.wraps, &text, call),
            _ => Err("no entry grants it".into()),
        }
    }

    /// A command that runs in another directory of the project or the skill.
    fn grant_in(&mut self, to: &str, words: &[Word], call: &UnwrappedCommand) -> Granted {
        let here = self.directories.clone();
        let stays = self.change_directory(to, call.simple);
        let outcome = stays.then(|| self.grant_wrapped(words, call, call.programs_only, false));
        self.directories = here;
        outcome.unwrap_or_else(|| Err("it leaves the project".into()))
    }

    /// Follows a granted change of directory, if possible.
    fn follow_granted_cd(
        &mut self,
        program: &Program,
        builtin: CommandClass,
        call: &UnwrappedCommand,
    ) -> Result<(), String> {
        let follows = !call.in_loop && !call.programs_only;
        match builtin {
            _ if !program.has(CHANGES_DIRECTORY) => {}
            CommandClass::ChangeDirectory(to)
                if follows && self.change_directory(&to, call.simple) => {}
            _ if call.in_loop && self.directories.are_known() => {
                return Err("it changes the directory again and again".into());
            }
            _ => self.directories.forget(),
        }
        Ok(())
    }

    /// A command within `call`; `elsewhere`: it runs in a directory that is not known.
    fn grant_wrapped(
        &mut self,
        words: &[Word],
        call: &UnwrappedCommand,
        programs_only: bool,
        elsewhere: bool,
    ) -> Granted {
        if call.depth == MAX_WRAPPERS {
            return Err(self.too_deep("too many wrappers around a command"));
        }
        let here = elsewhere.then(|| self.directories.clone());
        if elsewhere {
            self.directories.forget();
        }
        let outcome = self.grant(&UnwrappedCommand {
            words,
            programs_only,
            depth: call.depth + 1,
            ..*call
        });
        if let Some(here) = here {
            self.directories = here;
        }
        outcome
    }

    fn too_deep(&self, why: &str) -> String {
        self.rules.on_unfollowed(why);
        why.to_owned()
    }

    /// Whether this is `cd "$(git rev-parse --show-toplevel)"` as the first command in a shell that
    /// is already there (docs/spec/restriction.md#the-top-of-the-working-tree). If git finds no
    /// repository, the shell stays too.
    fn stays_at_toplevel(&self, call: &UnwrappedCommand) -> bool {
        const COMMAND: &str = "git rev-parse --show-toplevel";
        let is_first = matches!(self.parts.as_slice(), [only] if only.text == COMMAND);
        is_first
            && self.texts == 0
            && call.depth == 0
            && !call.in_loop
            && matches!(call.words, [_, word] if word.raw == format!("\"$({COMMAND})\""))
            && self.rules.is_toplevel()
    }

    /// Checks a command line that something runs, in this shell or in its own.
    fn grant_text(&mut self, runs: Wraps, text: &str, call: &UnwrappedCommand) -> Granted {
        if self.texts == MAX_TEXTS {
            return Err(self.too_deep("too many command lines within command lines"));
        }
        self.texts += 1;
        let here = runs == Wraps::Eval;
        let shell = self.shell;
        if !here {
            self.shell = Shell::default();
        }
        let (kind, moves) = if here {
            (BlockKind::Branches, text_may_move(text))
        } else {
            (BlockKind::Subshell, true)
        };
        self.directories.enter_block(kind, moves);
        let before = self.parts.len();
        self.check_text(text, here && call.in_loop);
        self.texts -= 1;
        self.directories.leave_block();
        self.shell = shell;
        let mut within = self.parts[before..].iter();
        if within.any(|part| part.outcome.is_err()) {
            return Err("a command in it is not granted".into());
        }
        Ok(Grant::NeedsNoRule("each command in it is granted"))
    }

    /// What the rules say about a command that shows files; `None` if it runs another program.
    fn grant_reading_program(&self, call: &UnwrappedCommand) -> Option<Granted> {
        if !self.rules.reads_by_shell() {
            return None;
        }
        let simple = call.simple;
        let has_input = match simple.input {
            StdinSource::Outer => simple.stage > 0,
            StdinSource::Text => true,
            // Of an input that is a device, `rg` takes no notice, and searches the directory.
            StdinSource::File => !call.words.first()?.fits(|name| name.ends_with("rg")),
            StdinSource::Unknown => false,
        };
        let read = file_read(call.words, has_input)?;
        Some(match read {
            _ if !simple.assignments.is_empty() => Err("no variable may be set for it".to_owned()),
            Ok(reading) => self.grant_operands(&reading),
            Err(why) => Err(why),
        })
    }

    fn grant_operands(&self, reading: &FileRead) -> Granted {
        // The kind of entry comes first: a file that none covers is another mistake.
        let mut granted = self.rules.grant_read(reading.reads, None).map_err(|why| {
            let program = reading.program;
            format!("{why} `{program}`")
        })?;
        for operand in &reading.operands {
            let path = &operand.path;
            let paths: Vec<String> = if path.starts_with(['/', '~']) {
                vec![path.clone()]
            } else {
                self.directories.resolve(path).collect()
            };
            if paths.is_empty() {
                return Err("the directory that it is in is not known".to_owned());
            }
            for path in paths {
                let place = Some((path.as_str(), &operand.depth));
                granted = self.rules.grant_read(reading.reads, place)?;
            }
        }
        Ok(granted)
    }

    fn check_redirection(&mut self, redirect: &Redirection) {
        self.rules.on_redirection(redirect, &self.directories);
        let outcome = self.grant_redirection(redirect);
        if outcome.is_err() {
            self.rules
                .on_unclear_file(&redirect.target.raw, redirect.writes);
        }
        let part = Part::new("redirection", &redirect.target.raw, outcome);
        self.parts.push(part);
    }

    fn grant_redirection(&self, redirect: &Redirection) -> Granted {
        let path = match redirect.target.pieces.as_slice() {
            [Piece::Text(text)] if text.starts_with('~') => format!("./{text}"),
            [Piece::Text(text)] => text.clone(),
            [Piece::Tilde, Piece::Text(text)] if text.starts_with('/') => format!("~{text}"),
            // `<(…)`: the command in it has been checked already.
            [Piece::Expansion(WordCount::One)] if redirect.target.raw.starts_with(['<', '>']) => {
                return Ok(Grant::NeedsNoRule("it is a pipe"));
            }
            _ => return Err("the file must be plain text".to_owned()),
        };
        let descriptor = path.strip_prefix("/dev/fd/").is_some_and(is_digits);
        if descriptor || ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&path.as_str()) {
            return Ok(Grant::NeedsNoRule("it is not a file"));
        }
        if path.starts_with("/dev/tcp") || path.starts_with("/dev/udp") {
            return Err("it is a network connection".to_owned());
        }
        if path.starts_with(['/', '~']) {
            return self.rules.grant_file(&path, redirect.writes);
        }
        let mut granted = Err("the directory that it is in is not known".to_owned());
        for path in self.directories.resolve(&path) {
            granted = Ok(self.rules.grant_file(&path, redirect.writes)?);
        }
        granted
    }

    fn is_free_filter(&self, call: &UnwrappedCommand) -> bool {
        let simple = call.simple;
        let is_cat = matches!(call.words, [cat] if cat.text() == Some("cat"));
        let echoes = simple.input == StdinSource::Text && is_cat;
        echoes
            || self.rules.pipe_filters()
                && simple.stage > 0
                && simple.input < StdinSource::File
                && reading_programs::is_filter(call.words)
    }
}

/// Whether what a program runs is looked for as a program: only `command` runs builtins.
fn runs_programs(program: &Program) -> bool {
    program.neutral != NeutralForm::CommandV
}

/// Whether assignments before a program are only settings.
fn are_settings(program: &Program, assignments: &[String]) -> bool {
    !program.has(SHELL_ONLY)
        && assignments.len() <= MAX_SETTINGS
        && assignments.iter().all(|text| variables::is_setting(text))
}

/// The text of a word in a program's place.
fn program_name(program: &Word) -> Result<&str, &'static str> {
    let name = program.text().filter(|name| !name.is_empty());
    name.ok_or("the program must be plain text")
}

/// Whether a command may make the shell export everything set from then on (`set -a`), or may do so
/// invisibly.
fn may_export_all(step: &LineStep) -> bool {
    let LineStep::Command(simple) = step else {
        return false;
    };
    let Some((first, others)) = simple.words.split_first() else {
        return false;
    };
    let changes = |word: &Word| word.fits(|text| by_name(text).has(SETS_OPTIONS));
    let runs_one = first.fits(|text| by_name(text).has(PREFIX)) && others.iter().any(changes);
    let is_set = first.fits(|text| by_name(text).neutral == NeutralForm::Set);
    let strict = is_set && neutral_commands::only_sets_strictness(others);
    (changes(first) || runs_one) && !strict
}
