//! Parses unified diffs as models write them: in a code fence, with wrong line numbers or none,
//! with or without `a/`. Changed lines are taken literally; only meaningless lines are skipped. Finds
//! where the hunks belong in a file, and applies them: if a hunk's lines are not in exactly one place,
//! nothing is applied. Pure.

use std::collections::HashSet;
use std::path::Path;

use similar::ChangeTag;

use crate::error::{Error, Result};
use crate::skill::{SkillPath, unified_diff};
use crate::sys::text::quoted;

/// The changes to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The file.
    pub path: SkillPath,
    hunks: Vec<Hunk>,
}

/// One change with its context lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Hunk {
    /// The number of its first line, from 1, as its header states it.
    start: Option<usize>,
    /// Without their line ends.
    lines: Vec<(ChangeTag, String)>,
    /// Whether its last line is the last of a file without a final line end.
    ends_bare: bool,
    /// The number of empty lines at its end. They may not belong to it.
    blank: usize,
}

/// Lines between files that announce changes that no proposal may make.
const REFUSED: [(&str, &str); 11] = [
    ("rename from ", "it renames a file"),
    ("rename to ", "it renames a file"),
    ("copy from ", "it copies a file"),
    ("copy to ", "it copies a file"),
    ("similarity index ", "it renames or copies a file"),
    ("old mode ", "it changes a file's mode"),
    ("new mode ", "it changes a file's mode"),
    ("new file mode ", "it creates a new file"),
    ("deleted file mode ", "it removes a file"),
    ("GIT binary patch", "it changes a binary file"),
    ("Binary files ", "it changes a binary file"),
];

const NOWHERE: &str = "/dev/null";

/// Parses a diff against the skill in `dir`: its changes, file by file.
///
/// # Errors
/// When it is not a unified diff, names a file that no skill can have, or does more than change
/// the text of files.
pub fn parse_diff(text: &str, dir: &Path) -> Result<Vec<FilePatch>> {
    if text.contains('\0') {
        return Err(refused("it has a NUL character, so it is binary"));
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut files: Vec<FilePatch> = Vec::new();
    // The file whose hunks are being read.
    let mut open: Option<usize> = None;
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        at += 1;
        if let Some((_, what)) = REFUSED.iter().find(|(start, _)| line.starts_with(start)) {
            return Err(refused(what));
        }
        let in_hunk = open.is_some_and(|file| !files[file].hunks.is_empty());
        if let Some((old, new)) = header(&lines[at - 1..], in_hunk) {
            at += 1;
            let path = named(old, new, dir)?;
            let known = files.iter().position(|file| file.path == path);
            open = Some(known.unwrap_or(files.len()));
            if known.is_none() {
                let hunks = Vec::new();
                files.push(FilePatch { path, hunks });
            }
            continue;
        }
        if open.is_none() && line.starts_with("@@") {
            if !files.is_empty() {
                return Err(not_a_diff("a hunk comes before the name of its file"));
            }
            // A diff that names no file means the one that every skill has.
            let (path, hunks) = (SkillPath::parse("SKILL.md", dir)?, Vec::new());
            files.push(FilePatch { path, hunks });
            open = Some(0);
        }
        let Some(file) = open.map(|file| &mut files[file]) else {
            continue;
        };
        let ends = ["```", "diff ", "index ", "Index: ", "===="];
        if ends.iter().any(|end| line.starts_with(end)) {
            open = None;
        } else if line.starts_with("@@") {
            let start = start_of(line);
            file.hunks.push(Hunk {
                start,
                ..Hunk::default()
            });
        } else if !(line.is_empty() && file.hunks.is_empty()) {
            if file.hunks.is_empty() {
                file.hunks.push(Hunk::default());
            }
            let hunk = file.hunks.last_mut();
            if !hunk.is_some_and(|hunk| hunk.push(line)) {
                return Err(not_a_diff(&format!(
                    "its line {at} begins with neither a space nor + nor -"
                )));
            }
        }
    }
    for file in &mut files {
        file.hunks.iter_mut().for_each(Hunk::close);
        let idle = |hunk: &Hunk| hunk.lines.iter().all(|(tag, _)| *tag == ChangeTag::Equal);
        if file.hunks.is_empty() || file.hunks.iter().any(idle) {
            let path = file.path.as_path().display().to_string();
            let shown = path.escape_debug();
            return Err(not_a_diff(&format!("a hunk of `{shown}` changes nothing")));
        }
    }
    if files.is_empty() {
        return Err(not_a_diff("it names no file"));
    }
    Ok(files)
}

impl Hunk {
    /// Adds a line; returns `false` if it does not belong to a hunk.
    fn push(&mut self, line: &str) -> bool {
        self.blank = if line.is_empty() { self.blank + 1 } else { 0 };
        let tag = match line.bytes().next() {
            // Mail programs and models drop the space that marks an empty context line.
            None | Some(b' ') => ChangeTag::Equal,
            Some(b'+') => ChangeTag::Insert,
            Some(b'-') => ChangeTag::Delete,
            Some(b'\\') => {
                let last = self.lines.last();
                self.ends_bare |= last.is_none_or(|(tag, _)| *tag != ChangeTag::Delete);
                return true;
            }
            Some(_) => return false,
        };
        let text = line.get(1..).unwrap_or_default();
        self.lines.push((tag, text.to_owned()));
        true
    }

    fn close(&mut self) {
        self.lines.truncate(self.lines.len() - self.blank);
        self.blank = 0;
    }

    /// The file's lines without those that are only on the other side of the change: those added for
    /// what it was before, those removed for what it is after.
    fn lines_without(&self, other: ChangeTag) -> Vec<&str> {
        let lines = self.lines.iter().filter(|(tag, _)| *tag != other);
        lines.map(|(_, text)| text.as_str()).collect()
    }
}

/// The names in two header lines. Inside a hunk, the same two lines may be a removed and an added
/// line, so there they count only if a hunk follows.
fn header<'l>(lines: &[&'l str], in_hunk: bool) -> Option<(&'l str, &'l str)> {
    let old = lines[0].strip_prefix("--- ")?;
    let new = lines.get(1)?.strip_prefix("+++ ")?;
    let follows = lines.get(2).is_some_and(|line| line.starts_with("@@"));
    (follows || !in_hunk).then_some((old, new))
}

/// The first line number in a hunk's header, such as 3 in `@@ -3,7 +3,8 @@`.
fn start_of(header: &str) -> Option<usize> {
    let old = header.split_whitespace().nth(1)?.strip_prefix('-')?;
    old.split(',').next()?.parse().ok()
}

/// The file that `--- OLD` and `+++ NEW` name, with or without `a/` and `b/`.
/// It must not be created, deleted or renamed, and must belong to the skill.
fn named(old: &str, new: &str, dir: &Path) -> Result<SkillPath> {
    let (old, new) = (written(old)?, written(new)?);
    if old == NOWHERE {
        let shown = quoted(new);
        return Err(refused(&format!("it creates a new file, `{shown}`")));
    }
    if new == NOWHERE {
        return Err(refused(&format!("it removes the file `{}`", quoted(old))));
    }
    let bare = (old.strip_prefix("a/"), new.strip_prefix("b/"));
    let path = match bare {
        (Some(old), Some(new)) if old == new => new,
        _ if old == new => new,
        (Some(bare), _) if bare == new => new,
        (_, Some(bare)) if bare == old => bare,
        _ => {
            let text = format!("it creates `{}` from `{}`", quoted(new), quoted(old));
            return Err(refused(&text));
        }
    };
    let path = SkillPath::parse(path, dir)?;
    let mut parts = path.as_path().components();
    if parts.any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return Err(refused("it changes files in `.git`"));
    }
    Ok(path)
}

/// The name without quotes and without the time that some programs append.
fn written(header: &str) -> Result<&str> {
    let name = header.split('\t').next().unwrap_or_default().trim();
    match name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inside) if inside.contains('\\') => Err(refused(&format!(
            "the name {} is quoted in a way that is not understood",
            quoted(name)
        ))),
        Some(inside) => Ok(inside),
        None => Ok(name),
    }
}

/// The error for a change that no proposal may make.
fn refused(what: &str) -> Error {
    Error::new(format!("the diff cannot be accepted: {what}")).hint(
        "a proposal changes the text of a skill's files; it cannot create, remove or rename files",
    )
}

fn not_a_diff(why: &str) -> Error {
    Error::new(format!("the diff cannot be read: {why}")).hint(
        "write a unified diff: `--- a/SKILL.md`, `+++ b/SKILL.md`, then for each change `@@` and lines \
         that begin with a space, - or +",
    )
}

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

#[cfg(test)]
mod tests;
