//! What braces make of a word.

use crate::permission::protected::ANYTHING;

/// The limit of alternatives of a word.
pub const MAX_ALTERNATIVES: usize = 64;

/// The words that a word's braces make of it; `None` if there are too many.
pub fn alternatives(raw: &str) -> Option<Vec<String>> {
    let mut alternatives = vec![raw.to_owned()];
    let mut done = Vec::new();
    while let Some(raw) = alternatives.pop() {
        match braces(&raw) {
            Some(more) => alternatives.extend(more),
            None => done.push(raw),
        }
        if alternatives.len() + done.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

/// The alternatives of an expandable brace, starting with an innermost one.
fn braces(raw: &str) -> Option<Vec<String>> {
    let mut quote = None;
    let mut chars = raw.char_indices();
    // The start of each open brace, and its commas.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut is_dollar = false;
    while let Some((at, c)) = chars.next() {
        let behind_dollar = std::mem::replace(&mut is_dollar, c == '$');
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (quote, '\\') if quote != Some('\'') => drop(chars.next()),
            (None, '\'' | '"') => quote = Some(c),
            // `${x}` is not a brace expansion.
            (None, '{') if behind_dollar => drop(chars.find(|(_, c)| *c == '}')),
            (None, '{') => open.push((at, Vec::new())),
            (None, ',') => open
                .last_mut()
                .into_iter()
                .for_each(|(_, commas)| commas.push(at)),
            (None, '}') => {
                let Some((from, commas)) = open.pop() else {
                    continue;
                };
                let (before, after) = (&raw[..from], &raw[at + 1..]);
                if commas.is_empty() && raw[from..at].contains("..") {
                    return Some(vec![format!("{before}{ANYTHING}{after}")]);
                }
                if !commas.is_empty() {
                    let begins = std::iter::once(from).chain(commas.iter().copied());
                    let ends = commas.iter().copied().chain([at]);
                    let part = |(begin, end): (usize, usize)| &raw[begin + 1..end];
                    let parts = begins.zip(ends).map(part);
                    return Some(parts.map(|part| format!("{before}{part}{after}")).collect());
                }
            }
            _ => {}
        }
    }
    None
}
