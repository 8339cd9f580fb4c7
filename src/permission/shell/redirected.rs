//! What a command touches besides running programs, whatever the rules: the files its redirections
//! name, and operands in protected places.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};

use super::check::{Rules, check};
use super::constants::Text;
use super::deny::placeholders;
use super::directories::WorkingDirectories;
use super::held::Held;
use super::links::links_made;
use super::name_list::Names;
use super::operand::{Known, globs};
use super::programs::runs_words_from;
use super::reach::{GitNames, Guard, Reach};
use super::runners::{self, base};
use super::step::{Redirect, Simple, Step};
use super::word::{Arity, Word};
use super::wrappers::{self, Inner};
use super::{Fault, PLACEHOLDER};
use crate::permission::command::Canonical;
use crate::permission::evidence::{CitedRule, Grant};
use crate::permission::protected::{ANY, ANYTHING, WHY_PROTECTED};

/// Programs that set variables to their operands, or run others with them.
const KEEPS: Names = Names::new(
    "read set printf print export declare typeset local readonly integer let getopts mapfile \
     readarray env xargs find fd fdfind pushd",
);
/// Programs that print none of their operands, without options.
const SILENT: Names = Names::new("cat cp cd test [");
/// How many letters may stand before a path in one word.
const MAX_LETTERS: usize = 256;
const MAY_BE_OPERAND: &str = "an operand that is not known may be this protected place";

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
    let is_named = |name: &&&str| unquoted.contains(**name);
    let ours = ["CHIBI_HOOK", "CHIBI_TOOL_"].iter().find(is_named);
    let ours = ours.map(|name| (*name).to_owned());
    let seen = RefCell::new(Touched {
        ours,
        ..Touched::default()
    });
    let texts = RefCell::default();
    let home = guard.context.places.home.as_deref();
    let home = home.and_then(Path::to_str);
    let text = Text::new(command);
    let (held, links, met_unknown) = (OnceCell::new(), OnceCell::new(), Cell::default());
    let git = GitNames::in_text(&text);
    let mktemp = text.bindings("TMPDIR") == 0;
    let mut next = Some((command.to_owned(), guard.begin.to_owned()));
    while let Some((text, begin)) = next.filter(|_| !guard.context.steps.are_spent()) {
        let recorder = Recorder {
            command,
            seen: &seen,
            texts: &texts,
            guard: Guard {
                begin: &begin,
                ..guard
            },
            is_moved: begin != guard.begin,
            home,
            held: &held,
            links: &links,
            git,
            mktemp,
            met_unknown: &met_unknown,
        };
        check(&text, &recorder, guard.readings);
        recorder.check_names();
        next = texts.borrow_mut().pop();
    }
    seen.into_inner()
}

/// Whether a command neither sets variables to its operands nor runs them, and prints none where the
/// command line uses what is printed.
fn hands_on_nothing(words: &[Word], output_is_used: bool) -> bool {
    let name = words.first().and_then(Word::text).map(base);
    let is_silent = |name| SILENT.has(name) && !words.iter().any(Word::begins_option);
    name.is_some_and(|name| {
        let keeps = KEEPS.has(name) || runners::runs_text(name) || runs_words_from(words).is_some();
        is_silent(name) || !keeps && !output_is_used
    })
}

struct Recorder<'a> {
    command: &'a str,
    seen: &'a RefCell<Touched>,
    /// Texts still to be read, and the directory in which each begins.
    texts: &'a RefCell<Vec<(String, PathBuf)>>,
    guard: Guard<'a>,
    /// Whether this text is run in another directory than the command.
    is_moved: bool,
    /// What `~` and `$HOME` mean, unless the command sets it.
    home: Option<&'a str>,
    held: &'a OnceCell<Held>,
    links: &'a OnceCell<Vec<String>>,
    git: GitNames,
    /// Whether `mktemp` works where it always does.
    mktemp: bool,
    met_unknown: &'a Cell<bool>,
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
        let absolute = |here: String| self.guard.begin.join(here).to_string_lossy().into_owned();
        let mut current: Vec<String> = directories.resolve("").map(absolute).collect();
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
            guard: self.guard,
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
            git: self.git,
            met_unknown: self.met_unknown,
        });
    }

    /// The names of links that the command line makes; anything if one is not known.
    fn links(&self) -> &[String] {
        let read = || {
            let Guard {
                context, readings, ..
            } = self.guard;
            let reading = readings.read(self.command, context.places.shell, true);
            let steps = reading.iter().flat_map(|reading| &reading.steps);
            let commands = steps.filter_map(|step| match step {
                Step::Command(simple) => Some(simple.words.as_slice()),
                _ => None,
            });
            commands.flat_map(links_made).collect()
        };
        let may_link = ["ln", "link", "cp"]
            .iter()
            .any(|name| self.command.contains(name));
        self.links
            .get_or_init(|| if may_link { read() } else { Vec::new() })
    }

    /// Lazy, because most commands name no relevant variable and reading again takes time.
    fn held(&self) -> &Held {
        self.held
            .get_or_init(|| Held::read(self.command, self.guard))
    }

    /// Refuses a protected place that the command names while an operand is not known at all: it may
    /// be what `read`, `printf -v` or a substitution makes of that name.
    fn check_names(&self) {
        let Guard {
            context, readings, ..
        } = self.guard;
        let mut seen = self.seen.borrow_mut();
        let affordable = || context.steps.spend(1 + self.command.len());
        if !self.met_unknown.get() || seen.protected.is_some() || !affordable() {
            return;
        }
        let is_end = |c: char| c.is_whitespace() || "\"'`;|&<>(){}$=,:".contains(c);
        let is_named = |path: &&str| {
            let mut names = path.split('/');
            let is_glob = path.contains(['/', '*', '?']);
            names.any(|name| {
                let glob = if is_glob {
                    globs(name)
                } else {
                    name.to_owned()
                };
                context.protection.has_part(&glob)
            })
        };
        let named = |text: &'_ str| -> Vec<String> {
            let paths = text.split(is_end).filter(is_named);
            paths.map(str::to_owned).collect()
        };
        // What other programs are given, they do not hand on.
        let reading = readings.read(self.command, context.places.shell, true);
        let mut kept: Vec<String> = Vec::new();
        let steps_of = || reading.iter().flat_map(|reading| &reading.steps);
        let cuts = self.command.contains("${");
        let is_file = |step: &Step| matches!(step, Step::Redirect(redirect) if redirect.writes);
        let writes = steps_of().any(is_file);
        for step in steps_of() {
            if let Step::Command(Simple { words, around, .. }) = step
                && hands_on_nothing(words, writes || around.is_captured)
            {
                let plain = words.iter().filter(|word| !word.raw.contains(['$', '`']));
                kept.extend(plain.flat_map(|word| named(&word.raw)));
            }
        }
        self.reaching(&WorkingDirectories::default(), &[], |reach| {
            let nothing = ['/', '.', ANY, ANYTHING];
            // It may be part of a path below the project or the home directory, and stand behind
            // the letter of an option: `-o.claude/x`.
            let leads_in = |path: &str| {
                let path = globs(path.trim_end_matches('/'));
                // `${x%…}` may leave only its directory.
                let above = path
                    .rsplit_once('/')
                    .filter(|_| cuts)
                    .map(|(above, _)| above);
                let bases = [Some(path.as_str()), above].into_iter().flatten();
                let bases = bases.filter(|base| !base.trim_matches(nothing).is_empty());
                let below = bases.map(|base| format!("{base}/{ANYTHING}"));
                let ends = (0..path.len().min(MAX_LETTERS)).filter_map(|at| path.get(at..));
                let mut all = below.chain(ends.map(str::to_owned));
                all.any(|end| {
                    !context.steps.spend(4 + end.len() / 8)
                        || reach.is_foreign(&end)
                        || reach.is_foreign(&format!("~/{end}"))
                })
            };
            let is_found = |path: &String| {
                let at = kept.iter().position(|one| one == path);
                at.map(|at| kept.swap_remove(at)).is_none()
                    && (!context.steps.spend(1 + kept.len()) || leads_in(path))
            };
            let found = named(self.command).into_iter().find(is_found);
            seen.protected = found.map(|name| Fault::new(&name, MAY_BE_OPERAND));
        });
    }

    /// Keeps texts that a shell among the words would run and that are not followed.
    fn keep_texts(&self, words: &[Word], reach: &Reach) {
        let shell = |word: &Word| word.fits(|text| runners::runs_text(text) || base(text) == "env");
        if matches!(wrappers::unwrap(words), Some(Inner::Text(_))) {
            return;
        }
        let steps = self.guard.context.steps;
        steps.spend(runners::LOOK_UP * words.len());
        let any = words.iter().any(shell);
        // Other programs may run those of several words where a program may stand.
        let from = if any { Some(0) } else { runs_words_from(words) };
        let words_read = &words[from.unwrap_or(words.len()).min(words.len())..];
        let has_blank = |word: &&Word| any || word.raw.contains(char::is_whitespace);
        let mut words_read = words_read.iter().filter(has_blank).peekable();
        if words_read.peek().is_none() {
            return;
        }
        let mut begins = reach.directories_named(words);
        begins.extend(
            reach
                .paths("")
                .unwrap_or_else(|| vec![self.guard.begin.to_owned()]),
        );
        let placeholders = placeholders(words);
        for word in words_read {
            // What is not known of a text stays in it as it is written.
            let text = word.text().unwrap_or_else(|| word.raw.trim_matches('"'));
            let mut text = text.to_owned();
            for name in &placeholders {
                text = text.replace(name, PLACEHOLDER);
            }
            for text in runners::texts(&text) {
                if text.contains(|c: char| c.is_whitespace() || "<>;|&$`{".contains(c)) {
                    let affordable = |_: &&PathBuf| steps.spend(1 + text.len() / 16);
                    let all = begins.iter().take_while(affordable);
                    let all = all.map(|begin| (text.to_owned(), begin.clone()));
                    self.texts.borrow_mut().extend(all);
                }
            }
        }
    }
}

impl Rules for Recorder<'_> {
    fn command(&self, command: &Simple, directories: &WorkingDirectories) {
        self.reaching(directories, &command.around.looped, |reach| {
            let mut seen = self.seen.borrow_mut();
            if seen.ours.is_none() {
                seen.ours = reach.runs_ours(&command.words);
            }
            if seen.protected.is_none() {
                // A program may write the file that a variable names.
                let values = command
                    .assignments
                    .iter()
                    .filter(|_| !command.words.is_empty());
                let values = values
                    .filter_map(|one| Some(Word::written(one.raw.split_once('=')?.1, Arity::Any)));
                let assigned = reach.others(&values.collect::<Vec<_>>());
                let checked = assigned.and_then(|()| reach.check(&command.words));
                let checked = checked.and_then(|()| reach.entered(command));
                seen.protected = checked.err();
            }
            drop(seen);
            self.keep_texts(&command.words, reach);
        });
    }

    fn redirect(&self, redirect: &Redirect, directories: &WorkingDirectories) {
        let is_plain = redirect.target.text().is_some();
        if redirect.writes && !is_plain && self.seen.borrow().protected.is_none() {
            self.reaching(directories, &[], |reach| {
                self.seen.borrow_mut().protected = reach.written(&redirect.target).err();
            });
        }
    }

    fn grants(&self, _: &Canonical, _: &[&str], _: bool) -> Option<CitedRule> {
        None
    }

    fn file(&self, path: &str, writes: bool) -> Result<Grant, String> {
        self.reaching(&WorkingDirectories::default(), &[], |reach| {
            let whole = self.guard.begin.join(path);
            let mut seen = self.seen.borrow_mut();
            if reach.leads_through_link(&whole) {
                seen.unclear.push((path.to_owned(), writes));
                if writes && reach.is_foreign(path) {
                    seen.protected
                        .get_or_insert(Fault::new(path, WHY_PROTECTED));
                }
            } else if self.is_moved {
                let whole = whole.to_string_lossy().into_owned();
                seen.files.push((whole, writes));
            } else {
                seen.files.push((path.to_owned(), writes));
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
