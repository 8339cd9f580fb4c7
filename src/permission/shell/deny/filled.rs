//! Placeholders of `xargs`, `find` and similar programs: a text that contains one is unknown.

use super::program::base;
use crate::permission::shell::word::Word;

/// The placeholders that a command replaces before it runs.
pub fn placeholders(words: &[Word]) -> Vec<String> {
    let texts: Vec<&str> = words
        .iter()
        .map(|word| word.text().unwrap_or_default())
        .collect();
    let fills = |text: &&str| ["xargs", "find", "parallel", "fd"].contains(&base(text));
    let Some(at) = texts.iter().position(fills) else {
        return Vec::new();
    };
    let mut names = vec!["{}".to_owned()];
    for (at, text) in texts.iter().enumerate().skip(at) {
        let joined = ["-I", "-J", "-i", "--replace="]
            .iter()
            .find_map(|option| text.strip_prefix(option));
        match joined {
            Some("") => names.extend(texts.get(at + 1).map(|name| (*name).to_owned())),
            Some(name) => names.push(name.to_owned()),
            None => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}
