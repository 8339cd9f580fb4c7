//! `env -S`, which splits a text and runs it.

use crate::permission::shell::Fault;
use crate::permission::shell::runners::UNKNOWN_TEXT;
use crate::permission::shell::word::Word;

/// The text that `env -S` splits.
///
/// # Errors
/// If it is unknown, or `env` would read it differently from a shell.
pub fn split(arguments: &[Word]) -> Result<Option<String>, Fault> {
    let splits = |word: &Word| {
        let option = word.prefix().strip_prefix('-')?;
        match option.strip_prefix('-') {
            Some(long) if long.starts_with('s') => {
                Some(long.split_once('=').map_or("", |(_, text)| text).len())
            }
            Some(_) => None,
            None => option.split_once('S').map(|(_, text)| text.len()),
        }
    };
    // Options end at a word that cannot be the value of the option before it.
    let ends = |pair: &[Word]| !pair.iter().any(Word::begins_option) && !pair[1].raw.contains('=');
    let options = match arguments.first() {
        Some(first) if !first.begins_option() && !first.raw.contains('=') => 0,
        _ => arguments
            .windows(2)
            .position(ends)
            .map_or(arguments.len(), |at| at + 1),
    };
    let found = arguments[..options]
        .iter()
        .enumerate()
        .find_map(|(at, word)| Some((at, splits(word)?)));
    let Some((at, length)) = found else {
        return Ok(None);
    };
    let word = if length == 0 { at + 1 } else { at };
    let text = arguments.get(word).and_then(Word::text);
    let text = text.filter(|text| !text.contains(['\\', '$']));
    let text = text.ok_or_else(|| Fault::new("env -S", UNKNOWN_TEXT))?;
    Ok(Some(match length {
        0 => text.to_owned(),
        length => text[text.len() - length..].to_owned(),
    }))
}
