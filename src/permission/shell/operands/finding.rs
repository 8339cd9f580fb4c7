//! What `find` deletes, and what the commands change that it runs.

use super::{Checked, Program, Reach, Relation, is_option};
use crate::permission::protected::ANYTHING;
use crate::permission::shell::directories::WorkingDirectories;
use crate::permission::shell::word::{Arity, Word};
use crate::permission::shell::wrappers::{self, Inner};
use crate::permission::shell::{PLACEHOLDER, find};

impl Reach<'_> {
    /// `find`: what it deletes, and what the commands do that it runs.
    pub(super) fn find(&self, arguments: &[Word]) -> Checked {
        let is_global = |word: &&Word| word.is_any(&["-H", "-L", "-P"]);
        let begins = |word: &Word| word.prefix().starts_with(['-', '(', '!']);
        let globals = arguments.iter().take_while(is_global).count();
        let behind = &arguments[globals..];
        let (paths, tests) =
            behind.split_at(behind.iter().position(begins).unwrap_or(behind.len()));
        let mut removes = tests.iter().any(|word| word.is_any(&["-delete"]));
        let mut writes = removes;
        let found = self.below(arguments, paths);
        for at in (0..tests.len()).filter(|at| tests[*at].is_any(&find::RUNS)) {
            let command = &tests[at + 1..];
            let end = command.iter().position(|word| word.is_any(&[";", "+"]));
            let mut words = command[..end.unwrap_or(command.len())].to_vec();
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
            if tests[at].is_any(&["-execdir", "-okdir"]) {
                // It runs in each directory in which something is found.
                let mut anywhere = WorkingDirectories::default();
                anywhere.lose();
                self.moved(&anywhere).check(&words)?;
            }
        }
        writes |= tests.iter().any(|word| word.prefix().starts_with("-f"));
        match (removes, writes) {
            (true, _) if paths.is_empty() => self.changed(&Word::literal("."), true),
            (true, _) => paths.iter().try_for_each(|word| self.changed(word, true)),
            (false, true) => self.others(arguments),
            (false, false) => Ok(()),
        }
    }

    /// What `find` finds below these paths, themselves included, if no protected place is near.
    fn below(&self, arguments: &[Word], paths: &[Word]) -> Option<Vec<String>> {
        let is_apart = |word: &Word| {
            word.fits(|path| !path.is_empty() && self.relation(path) == Relation::Apart)
        };
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
