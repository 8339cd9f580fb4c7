//! What a command's variables hold, as far as the command shows it: the values of loops, of
//! assignments, and of `mktemp`. Does not know what they are used for.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Fault;
use super::constants::Text;
use super::operand::{Known, operands};
use super::reach::Guard;
use super::read::Reading;
use super::runners;
use super::special::is_special;
use super::word::{Arity, Word};

/// The limit of names that are searched for.
const MAX_NAMES: usize = 64;

/// The values of a command's variables that have a single source.
pub struct Held {
    command: String,
    /// Every assignment, and every mention of a name that could bind it.
    set: BTreeMap<String, BTreeSet<String>>,
    reading: Rc<Result<Reading, Fault>>,
    /// The words of commands that run texts, in which a variable may be another one.
    given_on: Vec<String>,
    /// How often names were found to be bound, because each search reads the whole command.
    bindings: RefCell<BTreeMap<String, usize>>,
}

impl Held {
    /// Reads the command.
    pub fn read(command: &str, guard: Guard) -> Self {
        let mut set: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let reading = guard
            .readings
            .read(command, guard.context.places.shell, true);
        let mut given_on = Vec::new();
        // A command that cannot be read is refused, or its variables are never used.
        for simple in reading.iter().flat_map(Reading::commands) {
            let assigned = simple.assignments.iter().map(|one| one.raw.as_str());
            let mentioned = simple.words.iter().map(|word| word.raw.as_str());
            for text in assigned.chain(mentioned) {
                let (name, value) = text.split_once('=').unwrap_or((text, ""));
                let name = name.trim_end_matches('+').to_owned();
                set.entry(name).or_default().insert(value.to_owned());
            }
            // What `trap` runs, this shell runs.
            let is_shell =
                |word: &Word| word.fits(|text| runners::runs_text(text) && text != "trap");
            if simple.words.iter().any(is_shell) {
                given_on.extend(simple.words.iter().map(|word| word.raw.clone()));
            }
        }
        Self {
            command: command.to_owned(),
            set,
            reading,
            given_on,
            bindings: RefCell::default(),
        }
    }

    /// Whether nothing but so many assignments or loops that are read here binds a variable, also not
    /// the shell itself.
    fn is_held(&self, name: &str, times: usize) -> bool {
        !is_special(name) && self.is_bound(name, times)
    }

    /// Whether nothing in the command but so many assignments or loops that are read here binds a
    /// variable.
    pub fn is_bound(&self, name: &str, times: usize) -> bool {
        self.is_mentioned(name, times)
            && !self.given_on.iter().any(|word| word.contains(name))
            && self.bindings("IFS") == Some(0)
    }

    /// Whether a name that the environment holds, and each shell passes on, is bound by nothing.
    pub fn is_inherited(&self, name: &str) -> bool {
        self.is_mentioned(name, 0)
    }

    /// Whether a name is mentioned so many times beside its uses, and nothing binds names unseen.
    fn is_mentioned(&self, name: &str, times: usize) -> bool {
        let is_read = |reading: &Reading| !reading.binds_unseen;
        self.reading.as_ref().as_ref().is_ok_and(is_read) && self.bindings(name) == Some(times)
    }

    fn bindings(&self, name: &str) -> Option<usize> {
        let known = self.bindings.borrow().get(name).copied();
        known.or_else(|| {
            let affordable = self.bindings.borrow().len() < MAX_NAMES;
            let count = affordable.then(|| Text::new(&self.command).bindings(name))?;
            self.bindings.borrow_mut().insert(name.to_owned(), count);
            Some(count)
        })
    }

    /// The values that a command gives a variable, by assignments and loops, as far as they are
    /// known.
    pub fn assigned(&self, name: &str, known: Known) -> Vec<String> {
        let values = self.set.get(name).into_iter().flatten();
        let looped = self.loops_over(name).flatten().map(|word| &word.raw);
        let paths = values
            .chain(looped)
            .flat_map(|raw| operands(&Word::written(raw, Arity::Any), known));
        paths
            .filter_map(|operand| operand.path().map(str::to_owned))
            .collect()
    }

    /// The words that each loop over this variable iterates over.
    fn loops_over(&self, name: &str) -> impl Iterator<Item = &Vec<Word>> {
        let loops = self.reading.iter().flat_map(|reading| &reading.loops);
        let over = loops.filter(move |(variable, _)| variable == name);
        over.map(|(_, words)| words)
    }

    /// Whether a variable holds only what `mktemp` created.
    pub fn is_temporary(&self, name: &str) -> bool {
        let mut values = self.set.get(name).into_iter().flatten();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let inside = value.trim_matches('"').strip_prefix("$(mktemp");
        let inside = inside.and_then(|inside| inside.strip_suffix(')'));
        self.loops_over(name).next().is_none()
            && self.is_held(name, 1)
            && inside.is_some_and(|inside| {
                (inside.is_empty() || inside.starts_with(' '))
                    && !inside.contains(['$', '`', '(', ')', ';', '&', '|', '<', '>', '\n'])
            })
    }

    /// The paths that a loop variable takes; `None` if one of them is unknown.
    pub fn values(&self, name: &str, known: Known) -> Option<Vec<String>> {
        let loops = self.loops_over(name).count();
        if loops == 0 || !self.is_held(name, loops) {
            return None;
        }
        let words = self.loops_over(name).flatten();
        let values = words.flat_map(|word| operands(word, known));
        let paths = values.map(|operand| operand.path().map(str::to_owned));
        let values: Vec<String> = paths.collect::<Option<_>>()?;
        (!values.is_empty()).then_some(values)
    }
}
