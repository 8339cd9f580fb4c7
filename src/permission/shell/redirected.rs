//! What a command touches besides running programs, whatever the rules: the files its redirections
//! name, and operands in protected places.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use super::Fault;
use super::check::{Rules, check};
use super::directories::WorkingDirectories;
use super::operand::{Known, Operand, operands};
use super::reach::{Guard, Reach};
use super::read::Reading;
use super::runners::{self, base};
use super::step::Step;
use super::word::{Arity, Piece, Word};
use super::wrappers::{self, Inner};
use crate::permission::command::Canonical;
use crate::permission::evidence::{CitedRule, Grant};

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
    let ours = names_host_call(command).then(|| "CHIBI_HOOK".to_owned());
    let seen = RefCell::new(Touched {
        ours,
        ..Touched::default()
    });
    let texts = RefCell::default();
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
            held: OnceCell::new(),
        };
        check(&text, &recorder, guard.readings);
        next = texts.borrow_mut().pop();
    }
    seen.into_inner()
}

/// Whether a command names a variable with which the host calls our executable: with it, any program
/// whose name is not known (`find -exec {}`) could be ours, and end what restricts.
fn names_host_call(command: &str) -> bool {
    let unquoted = command.replace(['"', '\'', '\\', '\n'], "");
    ["CHIBI_HOOK", "CHIBI_TOOL_"]
        .iter()
        .any(|name| unquoted.contains(name))
}

/// The values of a command's variables that have a single source.
struct Held {
    /// Every assignment, and every mention of a name that could bind it.
    set: BTreeMap<String, Vec<String>>,
    reading: Rc<Result<Reading, Fault>>,
}

impl Held {
    fn read(command: &str, guard: Guard) -> Self {
        let mut set: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let reading = guard
            .readings
            .read(command, guard.context.places.shell, true);
        // A command that cannot be read is refused, or its variables are never used.
        for step in reading.iter().flat_map(|reading| &reading.steps) {
            let Step::Command(simple) = step else {
                continue;
            };
            let assigned = simple.assignments.iter().map(|one| one.raw.as_str());
            let mentioned = simple.words.iter().map(|word| word.raw.as_str());
            for text in assigned.chain(mentioned) {
                let (name, value) = text.split_once('=').unwrap_or((text, ""));
                let name = name.trim_end_matches('+').to_owned();
                set.entry(name).or_default().push(value.to_owned());
            }
        }
        Self { set, reading }
    }

    /// The values that a command gives a variable, by assignments and loops, as far as they are
    /// known.
    fn assigned(&self, name: &str, known: Known) -> Vec<String> {
        let values = self.set.get(name).into_iter().flatten();
        let looped = self.loops_over(name).flatten().map(|word| &word.raw);
        let read = |raw: &String| {
            let is_plain = !raw.contains(['$', '`', '\\', '*', '?', '[', '{', '~']);
            let piece = if is_plain {
                Piece::Text(raw.replace(['"', '\''], ""))
            } else {
                Piece::Value(Arity::Any)
            };
            let (raw, pieces) = (raw.clone(), vec![piece]);
            operands(&Word { raw, pieces }, known)
        };
        let paths = values.chain(looped).flat_map(read);
        let known = paths.filter_map(|operand| match operand {
            Operand::Path(path) => Some(path),
            _ => None,
        });
        known.collect()
    }

    /// The words that each loop over this variable iterates over.
    fn loops_over(&self, name: &str) -> impl Iterator<Item = &Vec<Word>> {
        let loops = self.reading.iter().flat_map(|reading| &reading.loops);
        let over = loops.filter(move |(variable, _)| variable == name);
        over.map(|(_, words)| words)
    }

    /// Whether a variable holds only what `mktemp` created.
    fn is_temporary(&self, name: &str) -> bool {
        let [value] = self.set.get(name).map_or(&[][..], Vec::as_slice) else {
            return false;
        };
        let inside = value.trim_matches('"').strip_prefix("$(mktemp");
        let inside = inside.and_then(|inside| inside.strip_suffix(')'));
        self.loops_over(name).next().is_none()
            && inside.is_some_and(|inside| {
                (inside.is_empty() || inside.starts_with(' '))
                    && !inside.contains(['$', '`', '(', ')', ';', '&', '|', '<', '>', '\n'])
            })
    }

    /// The paths that a loop variable takes; `None` if one of them is unknown.
    fn values(&self, name: &str, known: Known) -> Option<Vec<String>> {
        if self.set.contains_key(name) {
            return None;
        }
        let words = self.loops_over(name).flatten();
        let paths = words
            .flat_map(|word| operands(word, known))
            .map(|operand| match operand {
                Operand::Path(path) => Some(path),
                _ => None,
            });
        let values: Vec<String> = paths.collect::<Option<_>>()?;
        (!values.is_empty()).then_some(values)
    }
}

/// Whether every mention of a variable reads its value.
fn only_uses(command: &str, name: &str) -> bool {
    let mut mentions = command.match_indices(name).map(|(at, _)| &command[..at]);
    mentions.all(|before| before.ends_with('$') || before.ends_with("${"))
}

struct Recorder<'a> {
    command: &'a str,
    seen: &'a RefCell<Touched>,
    /// Texts still to be read, and the directory in which each begins.
    texts: &'a RefCell<Vec<(String, PathBuf)>>,
    guard: Guard<'a>,
    /// Whether this text is run in another directory than the command.
    is_moved: bool,
    held: OnceCell<Held>,
}

impl Recorder<'_> {
    /// Lazy, because most commands name no relevant variable and reading again takes time.
    fn held(&self) -> &Held {
        self.held
            .get_or_init(|| Held::read(self.command, self.guard))
    }

    /// Keeps texts that a shell among the words would run and that are not followed.
    fn keep_texts(&self, words: &[Word], reach: &Reach) {
        let shell = |word: &Word| word.fits(|text| runners::runs_text(text) || base(text) == "env");
        let followed = matches!(wrappers::unwrap(words), Some(Inner::Text(_)));
        if followed || !words.iter().any(shell) {
            return;
        }
        let mut begins = reach.directories_named(words);
        begins.extend(
            reach
                .paths("")
                .unwrap_or_else(|| vec![self.guard.begin.to_owned()]),
        );
        for word in words {
            // What is not known of a text stays in it as it is written.
            let text = word.text().unwrap_or_else(|| word.raw.trim_matches('"'));
            for text in runners::texts(text) {
                if text.contains(|c: char| c.is_whitespace() || "<>;|&$`{".contains(c)) {
                    let all = begins.iter().map(|begin| (text.to_owned(), begin.clone()));
                    self.texts.borrow_mut().extend(all);
                }
            }
        }
    }
}

impl Rules for Recorder<'_> {
    fn command(&self, words: &[Word], directories: &WorkingDirectories) {
        let places = self.guard.context.places;
        let home = places.home.as_deref().and_then(|home| home.to_str());
        let absolute = |here: String| self.guard.begin.join(here).to_string_lossy().into_owned();
        let current: Vec<String> = directories.resolve("").map(absolute).collect();
        let outside = Known {
            home: home.filter(|_| only_uses(self.command, "HOME")),
            current: &current,
            is_temporary: &|name| self.held().is_temporary(name),
            values: &|_| None,
            assigned: &|_| Vec::new(),
        };
        let reach = Reach {
            guard: self.guard,
            directories,
            known: Known {
                values: &|name| self.held().values(name, outside),
                assigned: &|name| self.held().assigned(name, outside),
                ..outside
            },
        };
        let mut seen = self.seen.borrow_mut();
        if seen.ours.is_none() {
            seen.ours = reach.runs_ours(words).map(|word| word.raw.clone());
        }
        if seen.protected.is_none() {
            seen.protected = reach.check(words).err();
        }
        drop(seen);
        self.keep_texts(words, &reach);
    }

    fn grants(&self, _: &Canonical, _: &[&str], _: bool) -> Option<CitedRule> {
        None
    }

    fn file(&self, path: &str, writes: bool) -> Result<Grant, String> {
        let path = if self.is_moved {
            self.guard.begin.join(path).to_string_lossy().into_owned()
        } else {
            path.to_owned()
        };
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
