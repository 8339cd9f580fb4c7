//! What a command touches besides running programs, whatever the rules: the files its redirections
//! name, and operands in protected places.

mod named;
mod texts;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Fault;
use super::check::{Rules, check};
use super::constants::Text;
use super::deny::makes_assignments;
use super::directories::WorkingDirectories;
use super::git_names::GitNames;
use super::held::Held;
use super::links::links_made;
use super::operand::Known;
use super::reach::{Guard, MOVES_HERE, Passed, Reach};
use super::read::Reading;
use super::step::{Redirect, Simple};
use super::word::Word;
use crate::permission::command::Canonical;
use crate::permission::evidence::{CitedRule, Grant};
use crate::permission::path::normalise;
use crate::permission::protected::WHY_PROTECTED;

/// The limit of texts within texts that are searched for links.
const MAX_DEPTH: usize = 4;
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
    // With the variables by which the host calls our executable, any program whose name is not
    // known (`find -exec {}`) could be ours, and end what restricts.
    let unquoted = command.replace(['"', '\'', '\\', '\n'], "");
    let mut names = ["CHIBI_HOOK", "CHIBI_TOOL_"].into_iter();
    let ours = names
        .find(|name| unquoted.contains(name))
        .map(str::to_owned);
    let home = guard.context.places.home.as_deref();
    let text = Text::new(command);
    // Where it was matters if `..` stands elsewhere than behind `cd`.
    let climbs = command.replace("cd ..", "").contains("..");
    let sets_path = text.bindings("PATH") > 0;
    let mut recorder = Recorder {
        command,
        seen: RefCell::new(Touched {
            ours,
            ..Touched::default()
        }),
        texts: RefCell::new(vec![(command.to_owned(), guard.begin.to_owned())]),
        guard,
        begin: PathBuf::new(),
        home: home.and_then(Path::to_str),
        held: OnceCell::new(),
        links: OnceCell::new(),
        passed: climbs.then(RefCell::default),
        sets_path,
        git: GitNames::in_text(&text),
        mktemp: text.bindings("TMPDIR") == 0 && !sets_path,
        met_unknown: Cell::default(),
    };
    let mut begins = BTreeSet::new();
    while !guard.context.steps.are_spent()
        && let Some((text, begin)) = recorder.texts.get_mut().pop()
    {
        begins.insert(begin.clone());
        recorder.begin = begin;
        check(&text, &recorder, guard.readings);
    }
    for begin in begins {
        recorder.begin = begin;
        recorder.check_names();
    }
    let mut seen = recorder.seen.into_inner();
    // Commands that run at the same time may run in any order.
    let concurrent = command.replace("&&", "").contains('&');
    let passed = recorder.passed.map(RefCell::into_inner);
    if concurrent && passed.is_some_and(|passed| passed.is_moved()) {
        seen.protected.get_or_insert(Fault::new("&", MOVES_HERE));
    }
    seen
}

struct Recorder<'a> {
    command: &'a str,
    seen: RefCell<Touched>,
    /// Texts still to be read, and the directory in which each begins.
    texts: RefCell<Vec<(String, PathBuf)>>,
    guard: Guard<'a>,
    /// Where the text begins that is being read.
    begin: PathBuf,
    /// What `~` and `$HOME` mean, unless the command sets it.
    home: Option<&'a str>,
    held: OnceCell<Held>,
    links: OnceCell<Vec<String>>,
    passed: Option<RefCell<Passed>>,
    sets_path: bool,
    git: GitNames,
    /// Whether `mktemp` works where it always does.
    mktemp: bool,
    met_unknown: Cell<bool>,
}

impl Recorder<'_> {
    /// Passes on what words may lead to in these directories, where the variables of these loops
    /// are set.
    fn reaching(
        &self,
        directories: &WorkingDirectories,
        looped: &[String],
        check: impl FnOnce(&Reach),
    ) {
        let absolute = |here: String| self.begin.join(here).to_string_lossy().into_owned();
        let mut current: Vec<String> = directories.resolve("").map(absolute).collect();
        if let Some(all) = &self.passed {
            let entered = current.iter().map(|path| normalise(Path::new(path)));
            let entered = entered.filter(|path| *path != self.begin);
            all.borrow_mut().entered.extend(entered);
        }
        if self.command.contains("PWD") && !self.held().is_bound("PWD", 0) {
            current.clear();
        }
        let uses_home = self.command.contains('~') || self.command.contains("HOME");
        let is_home = |_: &&str| !uses_home || self.held().is_inherited("HOME");
        let outside = Known {
            home: self.home.filter(is_home),
            current: &current,
            mktemp: self.mktemp,
            is_temporary: &|name| self.mktemp && self.held().is_temporary(name),
            values: &|_| None,
            assigned: &|_| Vec::new(),
        };
        check(&Reach {
            guard: Guard {
                begin: &self.begin,
                ..self.guard
            },
            directories,
            known: Known {
                values: &|name| {
                    let is_set = looped.iter().any(|one| one == name);
                    is_set.then(|| self.held().values(name, outside))?
                },
                assigned: &|name| self.held().assigned(name, outside),
                ..outside
            },
            links: self.links(),
            passed: self.passed.as_ref(),
            sets_path: self.sets_path,
            git: self.git,
            met_unknown: &self.met_unknown,
        });
    }

    /// The names of links that the command line makes; anything if one is not known.
    fn links(&self) -> &[String] {
        self.links.get_or_init(|| {
            let unquoted = self.command.replace(['"', '\'', '\\'], "");
            let may_link = ["ln", "link", "cp"]
                .iter()
                .any(|name| unquoted.contains(name));
            let mut found = Vec::new();
            if may_link {
                self.add_links(self.command, 0, &mut found);
            }
            found
        })
    }

    /// Adds the links that a text makes, and those texts that its words may be.
    fn add_links(&self, text: &str, depth: usize, found: &mut Vec<String>) {
        let Guard {
            context, readings, ..
        } = self.guard;
        let affordable = depth < MAX_DEPTH && context.steps.spend(1 + text.len() / 4);
        let reading = readings.read(text, context.places.shell, true);
        let commands = reading.iter().flat_map(Reading::commands);
        for simple in commands.filter(|_| affordable) {
            found.extend(links_made(&simple.words));
            let texts = simple.words.iter().filter_map(Word::text);
            for text in texts.filter(|text| text.contains(char::is_whitespace)) {
                self.add_links(text, depth + 1, found);
            }
        }
    }

    /// Lazy, because most commands name no relevant variable and reading again takes time.
    fn held(&self) -> &Held {
        self.held
            .get_or_init(|| Held::read(self.command, self.guard))
    }
}

impl Rules for Recorder<'_> {
    fn command(&self, command: &Simple, directories: &WorkingDirectories) {
        self.reaching(directories, &command.looped, |reach| {
            let mut seen = self.seen.borrow_mut();
            if seen.ours.is_none() {
                seen.ours = reach.runs_ours(&command.words);
            }
            if seen.protected.is_none() {
                // A program may write the file that a variable names.
                let values = command.assigned().filter(|_| !command.words.is_empty());
                let assigned = reach.others(&values.collect::<Vec<_>>());
                let checked = assigned.and_then(|()| reach.check(&command.words));
                let checked = checked.and_then(|()| reach.entered(command));
                let checked = checked.and_then(|()| makes_assignments(command));
                seen.protected = checked.err();
            }
            drop(seen);
            if Reach::reads_commands(&command.words) {
                self.met_unknown.set(true);
            }
            self.keep_texts(command, reach);
        });
    }

    fn redirect(&self, redirect: &Redirect, directories: &WorkingDirectories) {
        if redirect.writes && self.seen.borrow().protected.is_none() {
            self.reaching(directories, &[], |reach| {
                // A plain file in a directory that is known is told by its path.
                let is_told = |path: &str| reach.paths(path).is_some();
                if !redirect.target.fits(is_told) {
                    self.seen.borrow_mut().protected = reach.written(&redirect.target).err();
                }
            });
        }
    }

    fn grants(&self, _: &Canonical, _: &[&str], _: bool) -> Option<CitedRule> {
        None
    }

    fn file(&self, path: &str, writes: bool) -> Result<Grant, String> {
        self.reaching(&WorkingDirectories::default(), &[], |reach| {
            let whole = self.begin.join(path);
            let mut seen = self.seen.borrow_mut();
            if reach.leads_through_link(&whole) {
                seen.unclear.push((path.to_owned(), writes));
                if writes && reach.is_foreign(path) {
                    seen.protected
                        .get_or_insert(Fault::new(path, WHY_PROTECTED));
                }
            } else {
                let is_moved = self.begin != self.guard.begin;
                let path = if is_moved { &whole } else { Path::new(path) };
                let path = path.to_string_lossy().into_owned();
                seen.files.push((path, writes));
            }
        });
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
