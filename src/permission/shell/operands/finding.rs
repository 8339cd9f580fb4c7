//! What `find` deletes, and what the commands change that it runs.

use super::{COPY, Checked, Program, Reach, is_option};
use crate::permission::protected::ANYTHING;
use crate::permission::shell::directories::WorkingDirectories;
use crate::permission::shell::word::{Arity, Word};
use crate::permission::shell::wrappers::{self, Inner};
use crate::permission::shell::{PLACEHOLDER, find};

impl Reach<'_> {
    /// `find`: what it deletes, and what the commands do that it runs.
    pub(super) fn find(&self, arguments: &[Word]) -> Checked {
        let (paths, may_delete) = self.searched(arguments);
        let paths = paths.as_slice();
        let mut removes = arguments.iter().any(|word| word.is_any(&["-delete"]));
        let mut writes = removes;
        let found = self.below(arguments, paths);
        for at in (0..arguments.len()).filter(|at| arguments[*at].is_any(&find::RUNS)) {
            let mut words = find::command_from(&arguments[at + 1..]).to_vec();
            match &found {
                Some(found) => {
                    let put_in = words.iter().flat_map(|word| found_in(word, found));
                    words = put_in.collect();
                }
                None => wrappers::make_unknown(&mut words, "{}"),
            }
            let changes = |words: &[Word]| match Program::named(words[0].text().unwrap_or_default())
            {
                // An unknown word may be the option.
                Program::Sed => words.iter().any(|word| {
                    let may_be = word.text().is_none() && word.prefix().is_empty();
                    is_option(word, "i") || may_be && !word.raw.contains(PLACEHOLDER)
                }),
                program => program.changes(),
            };
            removes |= self.commands_in(&words).any(changes)
                || matches!(wrappers::unwrap(&words), Some(Inner::Command(inner)) if changes(&inner));
            writes = true;
            self.check(&words)?;
            if arguments[at].is_any(&["-execdir", "-okdir"]) {
                // It runs in each directory in which something is found.
                let mut anywhere = WorkingDirectories::default();
                anywhere.lose();
                self.moved(&anywhere).check(&words)?;
            }
        }
        writes |= arguments.iter().any(|word| word.prefix().starts_with("-f"));
        if may_delete {
            let here = Word::literal(".");
            let begins_here = arguments.first().is_some_and(Word::begins_option);
            for word in paths.iter().chain(begins_here.then_some(&here)) {
                self.each_path_or_part(word, |path| self.is_near_place(path))?;
            }
        }
        match (removes, writes) {
            (true, _) => {
                // If each may be an option, the search begins here.
                let here = Word::literal(".");
                let begins_here = paths.iter().all(|word| self.may_become_option(word));
                let mut all = paths.iter().chain(begins_here.then_some(&here));
                all.try_for_each(|word| self.changed(word, true))
            }
            (false, true) => self.others(arguments),
            (false, false) => Ok(()),
        }
    }

    /// The words that are neither options nor their values nor words of a command, and whether one
    /// behind the first may be `-delete`.
    fn searched(&self, arguments: &[Word]) -> (Vec<Word>, bool) {
        let (mut paths, mut may_delete, mut at) = (Vec::new(), false, 0);
        self.guard.context.steps.spend(COPY * arguments.len());
        while let Some(word) = arguments.get(at) {
            at += 1;
            let behind = &arguments[at..];
            match word.text() {
                Some(text) if find::RUNS.contains(&text) => {
                    at += find::command_from(behind).len();
                }
                Some("-f") => {}
                Some("-files0-from") => paths.push(Word::unknown()),
                Some(text) if find::takes_value(text) => {
                    may_delete |= behind.first().is_some_and(|value| !value.is_one_word());
                    at += 1;
                }
                Some(text) if text.starts_with(['-', '(', ')', '!', ',', ';', '+']) => {}
                _ => {
                    may_delete |= at > 1 && self.may_be_option(word);
                    paths.push(word.clone());
                }
            }
        }
        (paths, may_delete)
    }

    /// What `find` finds below these paths, themselves included, if no protected place is near.
    fn below(&self, arguments: &[Word], paths: &[Word]) -> Option<Vec<String>> {
        let is_apart =
            |word: &Word| word.fits(|path| !path.is_empty() && !self.is_near_place(path));
        let follows = |word: &Word| word.is_any(&["-H", "-L", "-follow"]);
        let follows = arguments.iter().any(follows);
        let apart = !follows && !paths.is_empty() && paths.iter().all(is_apart);
        let found = |path: &Word| [path.raw.clone(), format!("{}/{ANYTHING}", path.raw)];
        apart.then(|| paths.iter().flat_map(found).collect())
    }
}

/// A word with each of these in the place of `{}`.
fn found_in(word: &Word, found: &[String]) -> Vec<Word> {
    if !word.raw.contains("{}") {
        return vec![word.clone()];
    }
    // How far up this leads depends on how deep a file was found.
    if word.raw.contains("..") {
        let mut words = vec![word.clone()];
        wrappers::make_unknown(&mut words, "{}");
        return words;
    }
    let put_in = |path: &String| Word::written(&word.raw.replace("{}", path), Arity::One);
    found.iter().map(put_in).collect()
}
