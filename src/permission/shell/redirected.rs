//! What a command touches besides running programs, whatever the rules: the files its redirections
//! name, and operands in protected places.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::Fault;
use super::check::{Rules, check};
use super::directories::WorkingDirectories;
use super::held::Held;
use super::operand::{Known, texts};
use super::programs::base;
use super::reach::{Guard, Reach};
use super::read::Reading;
use super::step::{Redirect, Simple};
use super::word::Word;
use crate::permission::command::Canonical;
use crate::permission::evidence::{CitedRule, Grant};
use crate::sys::name_list::Names;

/// The limit of directories that a command line names where the directory is not known.
const MAX_ENTERED: usize = 32;
/// How the names begin of the variables by which the host calls us.
const OURS: [&str; 2] = ["CHIBI_HOOK", "CHIBI_TOOL_"];

/// Programs that give variables to others.
const EXPORTS: Names = Names::new("env export declare typeset local readonly");

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
    let recorder = Recorder {
        seen: RefCell::default(),
        guard,
        home: home.and_then(Path::to_str),
        held: Held::default(),
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
    held: Held,
    /// Directories that the command line names to enter them.
    entered: RefCell<Vec<PathBuf>>,
}

impl Recorder<'_> {
    /// Passes on what words may lead to in these directories.
    fn reaching(&self, directories: &WorkingDirectories, check: impl FnOnce(&Reach)) {
        let absolute = |here: &Path| self.guard.begin.join(here).to_string_lossy().into_owned();
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
            guard: self.guard,
            directories,
            entered: &entered,
            known: Known {
                assigned: &|name| self.held.values(name, known),
                ..known
            },
        });
    }
}

impl Rules for Recorder<'_> {
    fn looks_through(&self) -> bool {
        true
    }

    fn unfollowed(&self, fault: &Fault) {
        let protected = &mut self.seen.borrow_mut().protected;
        protected.get_or_insert_with(|| fault.clone());
    }

    /// Learns the values and directories that a text names, before it is gone through: the parts of
    /// a loop may run in any order.
    fn text(&self, reading: &Reading) {
        self.held.add(reading);
        let nowhere = WorkingDirectories::default();
        for simple in reading.commands().filter(|simple| simple.may_move()) {
            let mut last = self.guard.begin.to_owned();
            let assigned: Vec<Word> = simple.assigned().collect();
            let words = simple.words.iter().skip(1);
            for word in assigned.iter().chain(words) {
                self.reaching(&nowhere, |reach| {
                    let mut entered = self.entered.borrow_mut();
                    for text in texts(word, reach.known).unwrap_or_default() {
                        last.push(&text);
                        let before = entered.last().map(|before| before.join(&text));
                        let all = [last.clone(), self.guard.begin.join(&text)];
                        entered.extend(all.into_iter().chain(before));
                    }
                    entered.dedup();
                    entered.truncate(MAX_ENTERED);
                });
            }
        }
    }

    fn command(&self, command: &Simple, directories: &WorkingDirectories) {
        self.reaching(directories, |reach| {
            let mut seen = self.seen.borrow_mut();
            if seen.ours.is_none() {
                seen.ours = sets_ours(command).or_else(|| reach.runs_ours(&command.words));
            }
            if seen.protected.is_none() {
                let values = command.assigned().filter(|_| !command.words.is_empty());
                let checked = reach.values(&values.collect::<Vec<_>>());
                seen.protected = checked.and_then(|()| reach.check(&command.words)).err();
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
    let is_setting = |word: &&Word| word.fits(|text| EXPORTS.has(base(text)));
    let words = command.words.iter().skip_while(|word| !is_setting(word));
    let words = words.map(Word::prefix);
    let assigned = command.assignments.iter().map(|one| one.raw.as_str());
    assigned.chain(words).find(sets).map(str::to_owned)
}
