//! What stands in a word behind the parts that are not known.

use std::collections::BTreeSet;

use super::braces::{MAX_ALTERNATIVES, alternatives};
use super::{End, Known, Reader};
use crate::permission::protected::ANYTHING;
use crate::permission::shell::word::Word;

/// What stands behind each part of a word whose value is not known, up to the next such part, which
/// counts as anything within one name; `None` if it may be too much.
pub fn behind_unknown(word: &Word, known: Known) -> Option<Vec<String>> {
    if let Some(found) = word.behind_values() {
        return Some(found);
    }
    let nothing = Known {
        mktemp: false,
        is_temporary: &|_| false,
        values: &|_| None,
        assigned: &|_| Vec::new(),
        ..known
    };
    let mut found = Vec::new();
    for raw in alternatives(&word.raw)? {
        found.extend(Reader::new(&raw, nothing).behind()?);
    }
    Some(found)
}

impl<'a> Reader<'a> {
    /// The texts behind each unknown part; `None` if it may end in too many places.
    fn behind(mut self) -> Option<Vec<String>> {
        let (mut found, mut known) = (Vec::new(), BTreeSet::new());
        let end = self.tilde().and_then(|()| self.steps());
        let mut begins = self.ends(&end);
        let mut branches = begins.len();
        while let Some((rest, quoted)) = begins.pop() {
            if !known.insert((rest.len(), quoted)) {
                continue;
            }
            let mut reader = Reader {
                quoted,
                ..Reader::new(rest, self.known)
            };
            let mut end = reader.steps();
            let goes_on = end.is_err().then_some(ANYTHING);
            let whole = |text: &String| text.chars().chain(goes_on).collect::<String>();
            found.extend(reader.texts.iter().map(whole));
            let ends = reader.ends(&end);
            // The same with what stands behind further variables.
            if found.len() <= MAX_ALTERNATIVES && end.is_err() && reader.opened.is_none() {
                while end.is_err() && reader.opened.is_none() {
                    reader.push(ANYTHING.encode_utf8(&mut [0; 4]));
                    end = reader.steps();
                }
                found.extend(reader.texts.iter().map(whole));
            }
            branches += ends.len().saturating_sub(1);
            if branches > MAX_ALTERNATIVES {
                return None;
            }
            begins.extend(ends);
        }
        Some(found)
    }

    /// What may follow the unknown part at which reading ended. Where a substitution ends is not
    /// looked for: each place that may be its end counts.
    fn ends(&self, end: &Result<(), End>) -> Vec<(&'a str, bool)> {
        match (end, self.opened) {
            (Ok(()), _) => Vec::new(),
            (Err(_), None) => vec![(self.rest, self.quoted)],
            (Err(_), Some(closes)) => {
                let ends = self.rest.match_indices(closes);
                let ends = ends.take(MAX_ALTERNATIVES + 1);
                ends.map(|(at, _)| (&self.rest[at + 1..], self.quoted))
                    .collect()
            }
        }
    }
}
