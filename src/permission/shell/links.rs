//! Which names a command gives to links. What such a name leads to is not known to the rest of the
//! command line.

use super::operands::is_option;
use super::programs::Program;
use super::word::Word;
use crate::permission::protected::ANYTHING;

/// The names that a command may give to links: those of all its operands, because the last may be a
/// directory; anything if it is not known.
pub fn links_made(words: &[Word]) -> Vec<String> {
    let links = |word: &Word| match Program::named(word.text().unwrap_or_default()) {
        Program::Links => true,
        Program::Copies { links, .. } => {
            !links.is_empty() && words.iter().any(|word| is_option(word, links))
        }
        _ => false,
    };
    let Some(at) = words.iter().position(links) else {
        return Vec::new();
    };
    let operands = words[at + 1..].iter();
    let operands: Vec<&Word> = operands.filter(|word| !word.begins_option()).collect();
    // In another directory than `.`, the link is below a name that counts anyway.
    let in_directory = words.iter().any(|word| is_option(word, "t"));
    let is_below = !in_directory
        && operands
            .last()
            .is_some_and(|word| last_name(word).is_some());
    let anything = (!is_below).then(|| ANYTHING.to_string());
    let names = operands.iter().filter_map(|word| match word.text() {
        Some(_) => last_name(word).map(str::to_owned),
        None => anything.clone(),
    });
    names.collect()
}

/// The last name of a path that is known, if it has one.
fn last_name(word: &Word) -> Option<&str> {
    let name = word.text()?.trim_end_matches('/').rsplit('/').next()?;
    (!matches!(name, "" | "." | "..")).then_some(name)
}
