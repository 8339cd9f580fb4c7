//! What braces and brackets make of a word.

use crate::permission::protected::{ANY, ONE, UNKNOWN};

/// The limit of alternatives of a word.
const MAX_ALTERNATIVES: usize = 1024;
/// The limit of characters that are read for them.
const MAX_WORK: usize = 1 << 18;
/// What a longer range of numbers stands for is not told: no place is a number.
const MAX_RANGE: u32 = 64;

/// The words that a word's braces make of it; `None` if there are too many.
pub fn alternatives(raw: &str) -> Option<Vec<String>> {
    if !raw.contains('{') {
        return Some(vec![raw.to_owned()]);
    }
    let mut alternatives = vec![raw.to_owned()];
    let (mut done, mut work) = (Vec::new(), 0);
    while let Some(raw) = alternatives.pop() {
        work += raw.len();
        match braces(&raw) {
            Some(more) => alternatives.extend(more),
            None => done.push(raw),
        }
        if alternatives.len() + done.len() > MAX_ALTERNATIVES || work > MAX_WORK {
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
                let whole = |part: &str| format!("{before}{part}{after}");
                if commas.is_empty() {
                    if let Some(range) = range(&raw[from + 1..at]) {
                        return Some(range.iter().map(|part| whole(part)).collect());
                    }
                    continue;
                }
                let begins = std::iter::once(from).chain(commas.iter().copied());
                let ends = commas.iter().copied().chain([at]);
                let parts = begins.zip(ends).map(|(begin, end)| &raw[begin + 1..end]);
                return Some(parts.map(whole).collect());
            }
            _ => {}
        }
    }
    None
}

/// What `a..e` and `01..10` in braces stand for; `None` if it is no range.
fn range(inside: &str) -> Option<Vec<String>> {
    let (first, rest) = inside.split_once("..")?;
    let last = rest.split_once("..").map_or(rest, |(last, _)| last);
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars
            .next()
            .filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
    };
    let (first_number, last_number) = (first.parse::<i64>().ok(), last.parse::<i64>().ok());
    let all = if let (Some(first), Some(last)) = (letter(first), letter(last)) {
        let range = first.min(last)..=first.max(last);
        range.map(|c| c.to_string()).collect::<Vec<_>>()
    } else {
        let (first_number, last_number) = (first_number?, last_number?);
        if first_number.abs_diff(last_number) > u64::from(MAX_RANGE) {
            return Some(vec![UNKNOWN.to_string()]);
        }
        let width = if first.starts_with('0') || last.starts_with('0') {
            first.len().max(last.len())
        } else {
            0
        };
        let range = first_number.min(last_number)..=first_number.max(last_number);
        range.map(|n| format!("{n:0width$}")).collect()
    };
    Some(all)
}

/// What stands behind a bracket of a glob, whose inside this begins with; `None` if it is none: it
/// ends within the name.
pub fn bracket(inside: &str) -> Option<&str> {
    let mut chars = inside.char_indices().peekable();
    let mut is_first = true;
    while let Some((at, c)) = chars.next() {
        match c {
            '/' => return None,
            '!' | '^' if is_first && at == 0 => continue,
            ']' if !is_first => return Some(&inside[at + 1..]),
            '\\' => drop(chars.next()),
            // What is quoted closes nothing.
            '\'' | '"' => drop(chars.find(|(_, next)| *next == c)),
            '[' if matches!(chars.peek(), Some((_, ':' | '.' | '='))) => {
                let sign = inside[at + 1..].chars().next()?;
                let rest = &inside[at + 2..];
                let end = rest.find(&format!("{sign}]"))?;
                let behind = at + 2 + end + 2;
                while chars.next_if(|(at, _)| *at < behind).is_some() {}
            }
            _ => {}
        }
        is_first = false;
    }
    None
}

/// A word of a value as the shell expands it outside quotes.
pub fn globs(word: &str) -> String {
    if !word.contains(['*', '?', '[']) {
        return word.to_owned();
    }
    let (mut text, mut rest) = (String::new(), word);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match (c, bracket(rest).filter(|_| c == '[')) {
            ('*', _) => text.push(ANY),
            ('?', _) => text.push(ONE),
            ('[', Some(behind)) => {
                text.push(ONE);
                rest = behind;
            }
            (c, _) => text.push(c),
        }
    }
    text
}
