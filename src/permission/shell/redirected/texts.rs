//! Texts in the words of a command that may be command lines themselves.

use std::path::PathBuf;

use super::Recorder;
use crate::permission::shell::PLACEHOLDER;
use crate::permission::shell::deny::{exports, placeholders};
use crate::permission::shell::programs::runs_words_from;
use crate::permission::shell::reach::Reach;
use crate::permission::shell::runners::{self, base};
use crate::permission::shell::step::Simple;
use crate::permission::shell::word::{Arity, Word};
use crate::permission::shell::wrappers::{self, Inner};

impl Recorder<'_> {
    /// Keeps texts that a shell among the words would run and that are not followed.
    pub(super) fn keep_texts(&self, command: &Simple, reach: &Reach) {
        let words = command.words.as_slice();
        let shell = |word: &Word| word.fits(|text| runners::runs_text(text) || base(text) == "env");
        if matches!(wrappers::unwrap(words), Some(Inner::Text(_))) {
            return;
        }
        let steps = self.guard.context.steps;
        steps.spend(runners::LOOK_UP * words.len());
        let any = words.iter().any(shell);
        // Other programs may run those of several words where a program may stand.
        let exports = words.first().is_some_and(|word| word.fits(exports));
        let from = if any || exports {
            Some(0)
        } else {
            runs_words_from(words)
        };
        let from = from.unwrap_or(words.len()).min(words.len());
        // A program may run what a variable holds, as `git` does with `GIT_EDITOR`.
        let assigned = command.assignments.iter().filter(|_| !words.is_empty());
        let assigned = assigned.map(|one| Word::written(&one.raw, Arity::Any));
        let words_read = words[..from].iter().enumerate();
        let words_read = words_read.filter(|(at, _)| runners::is_text_of_git(words, *at));
        let words_read = words_read.map(|(_, word)| word).chain(&words[from..]);
        let has_blank = |word: &Word| any || word.raw.contains(char::is_whitespace);
        let words_read = words_read.cloned().chain(assigned).filter(has_blank);
        let words_read: Vec<Word> = words_read.collect();
        if words_read.is_empty() {
            return;
        }
        let begins = reach.directories_of(words);
        let placeholders = placeholders(words);
        for word in &words_read {
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
