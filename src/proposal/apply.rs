//! Finds where the hunks of a diff belong in a file, and applies them. If a hunk's lines are not in
//! exactly one place, nothing is applied. Pure.

use std::collections::HashSet;

use similar::ChangeTag;

use super::patch::{FilePatch, Hunk};
use crate::error::{Error, Result};
use crate::skill::unified_diff;
use crate::sys::text::quoted;

/// Lines compared to find where a diff applies: a tenth of a second. Without the limit, blank lines
/// in a file of blank lines would take hours.
const PATCH_EFFORT: usize = 10_000_000;

/// A file with a diff applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Its new content.
    pub text: String,
    /// Its changes to the current file, as a diff.
    pub shown: String,
}

impl FilePatch {
    /// Applies the diff to `file`. With `exact` the diff was written against this content, so its
    /// line numbers choose among several matching places.
    ///
    /// # Errors
    /// When a hunk's lines are not in the file, occur more than once, or overlap those of another
    /// hunk.
    pub fn apply(&self, file: &str, exact: bool) -> Result<Applied> {
        let name = self.path.as_path().display().to_string();
        let of_hunk = |number: usize, error: Error| {
            error.context(format!("hunk {number} of `{}`", name.escape_debug()))
        };
        let lines: Vec<&str> = file.split_inclusive('\n').collect();
        let bodies: Vec<&str> = lines.iter().map(|line| body(line)).collect();
        let mut effort = PATCH_EFFORT;
        let mut placed = Vec::new();
        for (number, hunk) in (1..).zip(&self.hunks) {
            let place = locate(hunk, &bodies, exact, &mut effort);
            let place = place.map_err(|error| of_hunk(number, error))?;
            placed.push((place, number, hunk));
        }
        placed.sort_by_key(|(place, ..)| *place);
        let has_returns = lines.first().is_some_and(|line| line.ends_with("\r\n"));
        let ending = if has_returns { "\r\n" } else { "\n" };
        let (mut new, mut next): (Vec<String>, usize) = (Vec::new(), 0);
        for (place, number, hunk) in placed {
            if place < next {
                let error = Error::new("it overlaps another hunk");
                return Err(of_hunk(number, error.hint("make one hunk of both")));
            }
            new.extend(lines[next..place].iter().map(ToString::to_string));
            next = place;
            for (tag, text) in &hunk.lines {
                match tag {
                    ChangeTag::Insert => new.push(format!("{text}{ending}")),
                    ChangeTag::Equal => new.push(lines[next].to_owned()),
                    ChangeTag::Delete => {}
                }
                next += usize::from(*tag != ChangeTag::Insert);
            }
            let ends_bare = hunk.ends_bare && next == lines.len();
            if let Some(last) = new.last_mut().filter(|_| ends_bare) {
                *last = body(last).to_owned();
            }
        }
        new.extend(lines[next..].iter().map(ToString::to_string));
        // The former last line had no line end, but may be followed by lines now.
        let last = new.len().saturating_sub(1);
        for line in new.iter_mut().take(last) {
            if !line.ends_with('\n') {
                line.push_str(ending);
            }
        }
        let text = new.concat();
        let names = (&*format!("a/{name}"), &*format!("b/{name}"));
        let shown = unified_diff(names, file, &text);
        Ok(Applied { text, shown })
    }
}

fn body(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The index of the hunk's first line in the file.
fn locate(hunk: &Hunk, file: &[&str], exact: bool, effort: &mut usize) -> Result<usize> {
    let old = hunk.lines_without(ChangeTag::Insert);
    if old.is_empty() && file.is_empty() {
        return Ok(0);
    }
    if old.is_empty() {
        return Err(
            Error::new("it contains no line of the file, so its place is unknown")
                .hint("include unchanged lines of the file before the change"),
        );
    }
    let places = places(&old, file, effort)?;
    let named = hunk.start.and_then(|start| start.checked_sub(1));
    match (&places[..], named) {
        ([one], _) => Ok(*one),
        ([], _) => Err(absent(hunk, &old, file, effort)),
        (several, Some(named)) if exact && several.contains(&named) => Ok(named),
        (several, _) => {
            let text = format!("its lines occur in the file {} times", several.len());
            Err(Error::new(text).hint("include more lines around the change"))
        }
    }
}

fn absent(hunk: &Hunk, old: &[&str], file: &[&str], effort: &mut usize) -> Error {
    let done = places(&hunk.lines_without(ChangeTag::Delete), file, effort)
        .is_ok_and(|places| places.len() == 1);
    if done {
        return Error::new("it does not apply: the file already has its new lines")
            .hint("read the file again: there may be nothing left to propose");
    }
    let there: HashSet<&str> = file.iter().copied().collect();
    let why = match old.iter().find(|line| !there.contains(*line)) {
        Some(line) => format!("the file has no line `{}`", quoted(line)),
        None => "the file has its lines, but not in a row".to_owned(),
    };
    Error::new(format!("it does not apply: {why}"))
        .hint("read the file again and write the diff against what it says now")
}

fn places(wanted: &[&str], file: &[&str], effort: &mut usize) -> Result<Vec<usize>> {
    if wanted.is_empty() || wanted.len() > file.len() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (at, window) in file.windows(wanted.len()).enumerate() {
        let same = window.iter().zip(wanted).take_while(|(a, b)| a == b);
        let same = same.count();
        *effort = effort.checked_sub(same + 1).ok_or_else(|| {
            Error::new("it takes too many comparisons to find its place")
                .hint("propose fewer hunks at a time, or smaller ones")
        })?;
        if same == wanted.len() {
            found.push(at);
        }
    }
    Ok(found)
}
