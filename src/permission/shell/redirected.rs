//! What a command touches besides running programs, whatever the rules: the files its redirections
//! name, and operands in protected places.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Rejection;
use super::check::{Rules, check};
use super::directories::WorkingDirectories;
use super::operand::{Known, MAX_WORK, texts};
use super::operands::{directory, runs_elsewhere};
use super::programs::{CHANGES_DIRECTORY, EXPORTS, OperandUse, Runs, by_base_name, by_exact_name};
use super::reach::{Guard, LONGEST, Reach};
use super::read::Reading;
use super::step::{Redirect, Simple};
use super::word::{Arity, Word};
use crate::permission::command::Canonical;
use crate::permission::evidence::{CitedRule, Grant};

/// The limit of directories that a command line names where the directory is not known.
const MAX_ENTERED: usize = 32;
/// The limit of values of a variable.
const MAX_VALUES: usize = 1024;
/// How the names begin of the variables by which the host calls us.
const OURS: [&str; 2] = ["CHIBI_HOOK", "CHIBI_TOOL_"];

/// What a command touches.
#[derive(Debug, Default)]
pub struct Touched {
    /// Each redirection target, and whether it is written.
    pub files: Vec<(String, bool)>,
    /// Parts that lead to unknown files, and whether these are written.
    pub unclear: Vec<(String, bool)>,
    /// The first operand that would change a protected place.
    pub protected: Option<Rejection>,
    /// The first command that runs our own executable.
    pub ours: Option<String>,
}

/// Finds everything that a command touches.
pub fn touched(command: &str, guard: Guard) -> Touched {
    let home = guard.context.places.home.as_deref();
    let recorder = Recorder {
        seen: RefCell::default(),
        guard,
        home: home.and_then(Path::to_str),
        values: RefCell::default(),
        entered: RefCell::default(),
    };
    check(command, &recorder, guard.readings);
    recorder.seen.into_inner()
}

struct Recorder<'a> {
    seen: RefCell<Touched>,
    guard: Guard<'a>,
    /// What `~` and `$HOME` mean.
    home: Option<&'a str>,
    /// The values that the command line gives its variables, as far as it shows them.
    values: RefCell<BTreeMap<String, Vec<String>>>,
    /// Directories that the command line names to enter them.
    entered: RefCell<Vec<PathBuf>>,
}

impl Recorder<'_> {
    /// Passes on what words may lead to in these directories.
    fn reaching(&self, directories: &WorkingDirectories, check: impl FnOnce(&Reach)) {
        let entered = self.entered.borrow();
        let current = || {
            let known = directories.resolve("").map(PathBuf::from);
            let begin = (!directories.are_known()).then(PathBuf::new);
            let all = known.chain(begin).chain(entered.iter().cloned());
            let absolute =
                |here: PathBuf| self.guard.begin.join(here).to_string_lossy().into_owned();
            all.map(absolute).collect()
        };
        check(&Reach {
            guard: self.guard,
            directories,
            entered: &entered,
            known: Known {
                home: self.home,
                current: &current,
                assigned: &|name| self.values.borrow().get(name).cloned().unwrap_or_default(),
            },
        });
    }

    /// Adds what a word may become to the values of a variable.
    fn learn(&self, name: &str, word: &Word) {
        if self.guard.context.steps.are_spent() {
            return;
        }
        let mut found = None;
        let here = WorkingDirectories::default();
        self.reaching(&here, |reach| found = texts(word, reach.known));
        let mut values = self.values.borrow_mut();
        let known = values.entry(name.to_owned()).or_default();
        // Too many cost as much as the most.
        let each = |value: &String| 32 + value.len() / 2 + known.len() / 4;
        let steps = found
            .as_ref()
            .map_or(MAX_WORK / 8, |all| all.iter().map(each).sum());
        if self.guard.context.steps.spend(steps) {
            for value in found.into_iter().flatten() {
                if value.len() <= LONGEST && known.len() < MAX_VALUES && !known.contains(&value) {
                    known.push(value);
                }
            }
        }
    }
}

impl Rules for Recorder<'_> {
    fn looks_through(&self) -> bool {
        true
    }

    fn unfollowed(&self, rejection: &Rejection) {
        let protected = &mut self.seen.borrow_mut().protected;
        protected.get_or_insert_with(|| rejection.clone());
    }

    /// Learns the values and directories that a text names, before it is gone through: the parts of
    /// a loop may run in any order.
    fn text(&self, reading: &Reading) {
        for simple in reading.commands() {
            // As of `export`.
            let words = simple.words.iter().skip(1);
            let written = words.map(|word| word.text().unwrap_or(&word.raw));
            let assigned = simple.assignments.iter().map(|one| one.raw.as_str());
            for text in assigned.chain(written) {
                if let Some((name, value)) = text.split_once('=') {
                    self.learn(name, &Word::written(value, Arity::Any));
                }
            }
        }
        for (name, words) in &reading.loops {
            for word in words {
                self.learn(name, word);
            }
        }
        let here = WorkingDirectories::default();
        let entering = |word: &Word| word.fits(|text| by_exact_name(text).has(CHANGES_DIRECTORY));
        let moves = |simple: &Simple| {
            let name = simple.words.first().and_then(Word::text);
            let wraps = |name| matches!(by_base_name(name).runs, Runs::Command { .. });
            name.is_some_and(wraps) && runs_elsewhere(&simple.words)
        };
        for simple in reading.commands() {
            if simple.words.iter().any(entering) || moves(simple) {
                let mut all = Vec::new();
                self.reaching(&here, |reach| {
                    let words = simple.words.iter().skip(1);
                    all.extend(words.filter_map(|word| texts(word, reach.known)).flatten());
                });
                let mut entered = self.entered.borrow_mut();
                let base = self.guard.begin;
                let to = |text: &String| match directory(text) {
                    Some("") | None => base.join(text),
                    Some(value) => base.join(value),
                };
                entered.extend(all.iter().map(to));
                entered.truncate(MAX_ENTERED);
            }
        }
    }

    fn command(&self, command: &Simple, directories: &WorkingDirectories) {
        let name = command.words.first().and_then(Word::text);
        let only_reads =
            name.is_some_and(|name| by_exact_name(name).operand_use == OperandUse::Reads);
        if only_reads && command.assignments.is_empty() {
            return;
        }
        self.reaching(directories, |reach| {
            let mut seen = self.seen.borrow_mut();
            if seen.ours.is_none() {
                seen.ours = sets_ours(command).or_else(|| reach.runs_ours(&command.words, 0));
            }
            if seen.protected.is_none() {
                let values = command.assigned().filter(|_| !command.words.is_empty());
                let checked = reach.values(&values.collect::<Vec<_>>());
                let checked = checked.and_then(|()| reach.check(&command.words, 0));
                seen.protected = checked.err();
            }
        });
    }

    fn redirect(&self, redirect: &Redirect, directories: &WorkingDirectories) {
        if redirect.writes && self.seen.borrow().protected.is_none() {
            self.reaching(directories, |reach| {
                self.seen.borrow_mut().protected = reach.written(&redirect.target).err();
            });
        }
    }

    fn grants(&self, _: &Canonical, _: &[&str], _: bool) -> Option<CitedRule> {
        None
    }

    fn file(&self, path: &str, writes: bool) -> Result<Grant, String> {
        self.seen.borrow_mut().files.push((path.to_owned(), writes));
        Ok(Grant::NeedsNoRule("it is recorded"))
    }

    fn is_home_ground(&self, _: &str) -> bool {
        true
    }

    fn is_home(&self, _: &str) -> bool {
        true
    }

    fn pipe_filters(&self) -> bool {
        true
    }

    fn unclear(&self, part: &str, writes: bool) {
        let mut seen = self.seen.borrow_mut();
        seen.unclear.push((part.to_owned(), writes));
    }
}

/// The variable that a command sets by which the host calls us, if any: a program whose name is not
/// known (`find -exec {}`) could be ours, and end what restricts.
fn sets_ours(command: &Simple) -> Option<String> {
    let sets = |text: &&str| OURS.iter().any(|name| text.starts_with(name));
    let is_setting = |word: &&Word| word.fits(|text| by_base_name(text).has(EXPORTS));
    let words = command.words.iter().skip_while(|word| !is_setting(word));
    let words = words.map(Word::prefix);
    let assigned = command.assignments.iter().map(|one| one.raw.as_str());
    assigned.chain(words).find(sets).map(str::to_owned)
}
