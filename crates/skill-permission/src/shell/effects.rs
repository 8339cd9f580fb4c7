//! What a command touches besides running programs, whatever the rules: the files its redirections
//! name, and operands in protected places.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Rejection;
use super::check::{CommandRules, check};
use super::directories::WorkingDirectories;
use super::operand_paths::{LONGEST, OperandCheck};
use super::parse::{ParseCache, ParsedLine};
use super::programs::{CHANGES_DIRECTORY, EXPORTS, OperandUse, Wraps, by_name, by_path};
use super::protected_operands::{directory_option, has_directory_option};
use super::step::{Redirection, SimpleCommand};
use super::word::{Word, WordCount};
use super::word_expansion::{KnownValues, MAX_WORK, expansions};
use crate::command_pattern::CanonicalCommand;
use crate::evidence::{CitedRule, Grant};
use crate::path_context::PathContext;

/// The limit of directories that a command line names where the directory is not known.
const MAX_ENTERED: usize = 32;
/// The limit of values of a variable.
const MAX_VALUES: usize = 1024;
/// How the names begin of the variables by which the host calls us.
const HOST_CALL_VARIABLES: [&str; 2] = ["CHIBI_HOOK", "CHIBI_TOOL_"];

/// What a command touches.
#[derive(Debug, Default)]
pub struct Effects {
    /// Each redirection target, and whether it is written.
    pub files: Vec<(String, bool)>,
    /// Parts that lead to unknown files, and whether these are written.
    pub unclear: Vec<(String, bool)>,
    /// The first operand that would change a protected place.
    pub protected: Option<Rejection>,
    /// The first command that runs our own executable.
    pub ours: Option<String>,
}

/// Finds everything that a command touches, run in `start` by skills with their `own` directories.
pub fn effects(
    command: &str,
    context: PathContext,
    start: &Path,
    own: &[&Path],
    cache: &ParseCache,
) -> Effects {
    let recorder = EffectRecorder {
        effects: RefCell::default(),
        context,
        start,
        own,
        values: RefCell::default(),
        entered: RefCell::default(),
    };
    check(command, &recorder, cache);
    recorder.effects.into_inner()
}

struct EffectRecorder<'a> {
    effects: RefCell<Effects>,
    context: PathContext<'a>,
    start: &'a Path,
    own: &'a [&'a Path],
    /// The values that the command line gives its variables, as far as it shows them.
    values: RefCell<BTreeMap<String, Vec<String>>>,
    /// Directories that the command line names to enter them.
    entered: RefCell<Vec<PathBuf>>,
}

impl EffectRecorder<'_> {
    /// What words may refer to in these directories.
    fn known<'s>(&'s self, directories: &'s WorkingDirectories) -> KnownValues<'s> {
        KnownValues {
            home: self.context.places.home.as_deref().and_then(Path::to_str),
            start: self.start,
            directories,
            entered: &self.entered,
            assigned: &self.values,
        }
    }

    /// What operands may lead to in these directories.
    fn operands<'s>(&'s self, directories: &'s WorkingDirectories) -> OperandCheck<'s> {
        OperandCheck {
            context: self.context,
            own: self.own,
            directories,
            known: self.known(directories),
        }
    }

    /// Adds what a word may become to the values of a variable.
    fn record_value(&self, name: &str, word: &Word) {
        if self.context.steps.are_spent() {
            return;
        }
        let found = expansions(word, self.known(&WorkingDirectories::default()));
        let mut values = self.values.borrow_mut();
        let known = values.entry(name.to_owned()).or_default();
        // Too many cost as much as the most.
        let each = |value: &String| 32 + value.len() / 2 + known.len() / 4;
        let steps = found
            .as_ref()
            .map_or(MAX_WORK / 8, |all| all.iter().map(each).sum());
        if self.context.steps.spend(steps) {
            for value in found.into_iter().flatten() {
                if value.len() <= LONGEST && known.len() < MAX_VALUES && !known.contains(&value) {
                    known.push(value);
                }
            }
        }
    }
}

impl CommandRules for EffectRecorder<'_> {
    fn follows_all_wrappers(&self) -> bool {
        true
    }

    fn on_unfollowed(&self, why: &str) {
        let protected = &mut self.effects.borrow_mut().protected;
        protected.get_or_insert_with(|| Rejection::new("", why));
    }

    /// Learns the values and directories that a text names, before it is gone through: the parts of
    /// a loop may run in any order.
    fn on_command_line(&self, reading: &ParsedLine) {
        for simple in reading.commands() {
            // As of `export`.
            let words = simple.words.iter().skip(1);
            let written = words.map(|word| word.text().unwrap_or(&word.raw));
            let assigned = simple.assignments.iter().map(|one| one.raw.as_str());
            for text in assigned.chain(written) {
                if let Some((name, value)) = text.split_once('=') {
                    self.record_value(name, &Word::from_source(value, WordCount::Any));
                }
            }
        }
        for (name, words) in &reading.loops {
            for word in words {
                self.record_value(name, word);
            }
        }
        let here = WorkingDirectories::default();
        let entering = |word: &Word| word.fits(|text| by_name(text).has(CHANGES_DIRECTORY));
        let moves = |simple: &SimpleCommand| {
            let name = simple.words.first().and_then(Word::text);
            let wraps = |name| matches!(by_path(name).wraps, Wraps::Command { .. });
            name.is_some_and(wraps) && has_directory_option(&simple.words)
        };
        for simple in reading.commands() {
            if simple.words.iter().any(entering) || moves(simple) {
                let words = simple.words.iter().skip(1);
                let named = words.filter_map(|word| expansions(word, self.known(&here)));
                let to = |text: String| match directory_option(&text) {
                    Some("") | None => self.start.join(text),
                    Some(value) => self.start.join(value),
                };
                let found: Vec<PathBuf> = named.flatten().map(to).collect();
                let mut entered = self.entered.borrow_mut();
                entered.extend(found);
                entered.truncate(MAX_ENTERED);
            }
        }
    }

    fn on_command(&self, command: &SimpleCommand, directories: &WorkingDirectories) {
        let name = command.words.first().and_then(Word::text);
        let only_reads = name.is_some_and(|name| by_name(name).operand_use == OperandUse::Reads);
        if only_reads && command.assignments.is_empty() {
            return;
        }
        let operands = self.operands(directories);
        let mut effects = self.effects.borrow_mut();
        if effects.ours.is_none() {
            effects.ours = sets_host_variable(command)
                .or_else(|| operands.our_executable_in(&command.words, 0));
        }
        if effects.protected.is_none() {
            let assigned = command.assignments.iter();
            let assigned = assigned.filter(|_| !command.words.is_empty());
            let values = assigned.filter_map(|one| one.raw.split_once('='));
            let values = values.map(|(_, value)| Word::from_source(value, WordCount::Any));
            let checked = operands.check_values(&values.collect::<Vec<_>>());
            let checked = checked.and_then(|()| operands.check_command(&command.words, 0));
            effects.protected = checked.err();
        }
    }

    fn on_redirection(&self, redirect: &Redirection, directories: &WorkingDirectories) {
        if redirect.writes && self.effects.borrow().protected.is_none() {
            let checked = self.operands(directories).check_written(&redirect.target);
            self.effects.borrow_mut().protected = checked.err();
        }
    }

    fn granting_rule(&self, _: &CanonicalCommand, _: &[&str], _: bool) -> Option<CitedRule> {
        None
    }

    fn grant_file(&self, path: &str, writes: bool) -> Result<Grant, String> {
        self.effects
            .borrow_mut()
            .files
            .push((path.to_owned(), writes));
        Ok(Grant::NeedsNoRule("it is recorded"))
    }

    fn is_inside(&self, _: &str) -> bool {
        true
    }

    fn is_root(&self, _: &str) -> bool {
        true
    }

    fn pipe_filters(&self) -> bool {
        true
    }

    fn on_unclear_file(&self, part: &str, writes: bool) {
        let mut effects = self.effects.borrow_mut();
        effects.unclear.push((part.to_owned(), writes));
    }
}

/// The variable that a command sets by which the host calls us, if any: a program whose name is not
/// known (`find -exec {}`) could be ours, and end what restricts.
fn sets_host_variable(command: &SimpleCommand) -> Option<String> {
    let sets = |text: &&str| {
        HOST_CALL_VARIABLES
            .iter()
            .any(|name| text.starts_with(name))
    };
    let is_setting = |word: &&Word| word.fits(|text| by_path(text).has(EXPORTS));
    let words = command.words.iter().skip_while(|word| !is_setting(word));
    let words = words.map(Word::prefix);
    let assigned = command.assignments.iter().map(|one| one.raw.as_str());
    assigned.chain(words).find(sets).map(str::to_owned)
}
