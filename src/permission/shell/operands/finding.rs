//! What `find` deletes, and what the commands change that it runs.

use super::{Checked, Named, Program, Reach, is_option};
use crate::permission::shell::find;
use crate::permission::shell::word::Word;
use crate::permission::shell::wrappers;

impl Reach<'_> {
    /// `find`: what it deletes, and what the commands do that it runs.
    pub(super) fn find(&self, words: &[Word], named: &[Named]) -> Checked {
        let mut removes = named.iter().any(|named| named.text == "-delete");
        let mut writes = named.iter().any(|named| named.text.starts_with("-f"));
        for at in (0..words.len()).filter(|at| words[*at].is_any(&find::RUNS)) {
            let mut inner = find::command_from(&words[at + 1..]).to_vec();
            wrappers::make_unknown(&mut inner, "{}");
            self.check(&inner)?;
            let call = self.call(&inner)?;
            for at in call.programs() {
                match Program::named(&call.named[at].text) {
                    Program::Reads => {}
                    Program::Sed => {
                        removes |= call.named.iter().any(|named| is_option(named, "i"));
                    }
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
