//! The values that a command line gives its variables, by assignments and loops, as far as it shows
//! them. Does not know what they are used for.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::operand::{Known, texts};
use super::read::Reading;
use super::word::{Arity, Word};

/// The values of a command line's variables.
#[derive(Default)]
pub struct Held {
    /// The words that give each variable a value.
    set: RefCell<BTreeMap<String, Vec<Word>>>,
    /// What they are; nothing while that is being found out.
    known: RefCell<BTreeMap<String, Vec<String>>>,
}

impl Held {
    /// Adds what a command line gives its variables.
    pub fn add(&self, reading: &Reading) {
        let mut set = self.set.borrow_mut();
        let mut add = |name: &str, value: Word| {
            let values = set.entry(name.to_owned()).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        };
        for simple in reading.commands() {
            let assigned = simple.assignments.iter().map(|one| one.raw.as_str());
            // As of `export`.
            let written = |word: &Word| word.text().unwrap_or(&word.raw).to_owned();
            let mentioned: Vec<String> = simple.words.iter().skip(1).map(written).collect();
            let mentioned = mentioned.iter().map(String::as_str);
            for text in assigned.chain(mentioned) {
                if let Some((name, value)) = text.split_once('=') {
                    let name = name.trim_end_matches('+');
                    add(name, Word::written(value, Arity::Any));
                }
            }
        }
        for (name, words) in &reading.loops {
            for word in words {
                add(name, word.clone());
            }
        }
        self.known.borrow_mut().clear();
    }

    /// The values of a variable that are known.
    pub fn values(&self, name: &str, known: Known) -> Vec<String> {
        let set = self.set.borrow();
        let Some(words) = set.get(name) else {
            return Vec::new();
        };
        if let Some(values) = self.known.borrow().get(name) {
            return values.clone();
        }
        self.known.borrow_mut().insert(name.to_owned(), Vec::new());
        let known = Known {
            assigned: &|name| self.values(name, known),
            ..known
        };
        let values = words.iter().filter_map(|word| texts(word, known)).flatten();
        let values: Vec<String> = values.collect();
        let mut all = self.known.borrow_mut();
        all.insert(name.to_owned(), values.clone());
        values
    }
}
