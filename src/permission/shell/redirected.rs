//! What a command touches besides running programs, whatever the rules: the files its redirections
//! name, and operands in protected places.

mod texts;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Fault;
use super::check::{Rules, check};
use super::constants::Text;
use super::deny::{exports, makes_assignments};
use super::directories::WorkingDirectories;
use super::held::Held;
use super::operand::{Known, texts};
use super::reach::{Guard, Reach};
use super::runners::base;
use super::step::{Redirect, Simple};
use super::word::Word;
use super::wrappers::{self, Inner};
use crate::permission::command::Canonical;
use crate::permission::evidence::{CitedRule, Grant};

/// The limit of directories that a command line names where the directory is not known.
const MAX_ENTERED: usize = 32;
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
    pub protected: Option<Fault>,
    /// The first command that runs our own executable.
    pub ours: Option<String>,
}

/// Finds everything that a command touches.
pub fn touched(command: &str, guard: Guard) -> Touched {
    let home = guard.context.places.home.as_deref();
    let mut recorder = Recorder {
        seen: RefCell::default(),
        texts: RefCell::new(vec![(command.to_owned(), guard.begin.to_owned())]),
        guard,
        begin: PathBuf::new(),
        home: home.and_then(Path::to_str),
        held: Held::default(),
        entered: RefCell::default(),
        sets_path: Text::new(command).bindings("PATH") > 0,
    };
    let mut read = BTreeSet::new();
    while !guard.context.steps.are_spent()
        && let Some(next) = recorder.texts.get_mut().pop()
    {
        if !read.insert(next.clone()) {
            continue;
        }
        let text = next.0;
        recorder.begin = next.1;
        recorder.learn(&text, true);
        check(&text, &recorder, guard.readings);
    }
    recorder.seen.into_inner()
}

struct Recorder<'a> {
    seen: RefCell<Touched>,
    /// Texts still to be read, and the directory in which each begins.
    texts: RefCell<Vec<(String, PathBuf)>>,
    guard: Guard<'a>,
    /// Where the text begins that is being read.
    begin: PathBuf,
    /// What `~` and `$HOME` mean.
    home: Option<&'a str>,
    held: Held,
    /// Directories that the command line names to enter them.
    entered: RefCell<Vec<PathBuf>>,
    sets_path: bool,
}

impl Recorder<'_> {
    /// Learns the values and directories that a command line names, before it is gone through: the
    /// parts of a loop may run in any order.
    fn learn(&self, text: &str, with_variables: bool) {
        let Guard {
            context, readings, ..
        } = self.guard;
        let reading = readings.read(text, context.places.shell, with_variables);
        let Ok(reading) = &*reading else { return };
        self.held.add(reading);
        let nowhere = WorkingDirectories::default();
        for simple in reading.commands().filter(|simple| simple.may_move()) {
            let mut last = self.begin.clone();
            let assigned: Vec<Word> = simple.assigned().collect();
            let words = simple.words.iter().skip(1);
            for word in assigned.iter().chain(words) {
                self.reaching(&nowhere, |reach| {
                    let mut entered = self.entered.borrow_mut();
                    for text in texts(word, reach.known).unwrap_or_default() {
                        last.push(&text);
                        let before = entered.last().map(|before| before.join(&text));
                        let all = [last.clone(), self.begin.join(&text)];
                        entered.extend(all.into_iter().chain(before));
                    }
                    entered.dedup();
                    entered.truncate(MAX_ENTERED);
                });
            }
        }
    }

    /// Passes on what words may lead to in these directories.
    fn reaching(&self, directories: &WorkingDirectories, check: impl FnOnce(&Reach)) {
        let absolute = |here: &Path| self.begin.join(here).to_string_lossy().into_owned();
        let entered = self.entered.borrow().clone();
        let mut current: Vec<String> = directories
            .resolve("")
            .map(|here| absolute(Path::new(&here)))
            .collect();
        if !directories.are_known() {
            current.push(absolute(Path::new("")));
            current.extend(entered.iter().map(|path| absolute(path)));
        }
        let known = Known {
            home: self.home,
            current: &current,
            assigned: &|_| Vec::new(),
        };
        check(&Reach {
            guard: Guard {
                begin: &self.begin,
                ..self.guard
            },
            directories,
            entered: &entered,
            known: Known {
                assigned: &|name| self.held.values(name, known),
                ..known
            },
            sets_path: self.sets_path,
        });
    }
}

impl Rules for Recorder<'_> {
    fn command(&self, command: &Simple, directories: &WorkingDirectories) {
        if let Some(Inner::Text(text)) = wrappers::unwrap(&command.words) {
            self.learn(&text, false);
        }
        self.reaching(directories, |reach| {
            let mut seen = self.seen.borrow_mut();
            if seen.ours.is_none() {
                seen.ours = sets_ours(command).or_else(|| reach.runs_ours(&command.words));
            }
            if seen.protected.is_none() {
                let values = command.assigned().filter(|_| !command.words.is_empty());
                let checked = reach.values(&values.collect::<Vec<_>>());
                let checked = checked.and_then(|()| reach.check(&command.words));
                let checked = checked.and_then(|()| makes_assignments(command));
                seen.protected = checked.err();
            }
            drop(seen);
            self.keep_texts(command, reach);
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
        let whole = self.begin.join(path);
        let is_moved = self.begin != self.guard.begin;
        let path = if is_moved { &whole } else { Path::new(path) };
        let path = path.to_string_lossy().into_owned();
        self.seen.borrow_mut().files.push((path, writes));
        Ok(Grant::Free("it is recorded"))
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
    let is_setting = |word: &&Word| word.fits(|text| base(text) == "env" || exports(text));
    let words = command.words.iter().skip_while(|word| !is_setting(word));
    let words = words.map(Word::prefix);
    let assigned = command.assignments.iter().map(|one| one.raw.as_str());
    assigned.chain(words).find(sets).map(str::to_owned)
}
