//! What `find` deletes, and what the commands change that it runs.

use super::{Checked, Named, Program, Reach, is_option};
use crate::permission::shell::find;
use crate::permission::shell::word::Word;

impl Reach<'_> {
    /// `find`: what it deletes, and what the commands do that it runs.
    pub(super) fn find(&self, words: &[Word], named: &[Named]) -> Checked {
        let mut removes = named.iter().any(|named| named.text == "-delete");
        let mut writes = named.iter().any(|named| named.text.starts_with("-f"));
        for mut inner in find::commands(words) {
            self.check(&inner)?;
            // What is run at last decides, as in `-exec sudo rm`.
            while let Some(from) = runs_from(&inner) {
                inner.drain(..=from);
            }
            let all = self.named(&inner)?;
            for named in all.iter().take_while(|named| named.at == 0) {
                match Program::named(&named.text) {
                    Program::Reads => {}
                    Program::Sed => removes |= all.iter().any(|named| is_option(named, "i")),
                    program => {
                        removes |= program.changes();
                        writes = true;
                    }
                }
            }
        }
        if removes {
            let paths = searched(named);
            let here = Word::literal(".");
            let here = self.named(std::slice::from_ref(&here))?;
            let begins_here = paths.is_empty();
            let mut all = paths.into_iter().chain(here.iter().filter(|_| begins_here));
            return all.try_for_each(|named| self.changed(named));
        }
        if writes { self.others(named) } else { Ok(()) }
    }
}

/// The place where the command begins that a program runs, behind its own.
fn runs_from(words: &[Word]) -> Option<usize> {
    let (program, arguments) = words.split_first()?;
    Program::named(program.text()?).runs_from(arguments)
}

/// What is neither an option nor its value nor a word of a command.
fn searched<'n, 'w>(named: &'n [Named<'w>]) -> Vec<&'n Named<'w>> {
    let (mut paths, mut at) = (Vec::new(), 0);
    while let Some(one) = named.get(at) {
        at += 1;
        let text = one.text.as_str();
        if find::RUNS.contains(&text) {
            let ends = |named: &Named| matches!(named.text.as_str(), ";" | "+");
            let end = named[at..].iter().position(ends);
            at += end.unwrap_or(named.len() - at);
        } else if text != "-f" && find::takes_value(text) {
            at += 1;
        } else if !text.starts_with(['-', '(', ')', '!', ',', ';', '+']) {
            paths.push(one);
        }
    }
    paths
}
