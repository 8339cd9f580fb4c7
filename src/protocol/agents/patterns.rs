//! Words of a command that name a skill's files only when the command runs: by a pattern, a variable or
//! a substitution. Each skill that such a word can mean counts as read.

use std::path::{Component, Path, PathBuf};

use crate::sys::{EntryKind, files};

/// How deep below a directory of skills one is looked for.
const DEPTH: usize = 3;
/// Directories that are looked at.
const MANY: usize = 2000;

/// A name in the path that a word stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Name<'a> {
    /// This name.
    Is(&'a str),
    /// A name of this pattern, with `*` and `?`; what stands in `[…]` is any character.
    Like(&'a str),
    /// Any number of names.
    Any,
}

/// The skills below these roots whose `SKILL.md` or scripts a word may mean, when it is used in `dir`.
/// None for a word of known text, and for one that says nothing, as `$x` or `*` do.
pub fn skills_like(roots: &[PathBuf], dir: &Path, word: &str) -> Vec<PathBuf> {
    let written: Vec<Name> = names(Path::new(word)).collect();
    let says = |name: &Name| matches!(name, Name::Is(_));
    if written.iter().all(says) || !written.iter().any(says) {
        return Vec::new();
    }
    // A value at the beginning may be absolute.
    let is_whole = word.starts_with('/') || written.first() == Some(&Name::Any);
    let begin = names(dir).filter(|_| !is_whole);
    let wanted: Vec<Name> = begin.chain(written).collect();
    let mut found = Vec::new();
    let mut left = MANY;
    for root in roots {
        below(root, DEPTH, &mut left, &mut |skill| {
            let path: Vec<&str> = skill.iter().filter_map(|name| name.to_str()).collect();
            if may_mean(&wanted, &path[1..]) {
                found.push(skill.to_owned());
            }
        });
    }
    found
}

/// Whether a pattern of one name may match `name`.
pub fn may_be_named(pattern: &str, name: &str) -> bool {
    Name::of(pattern).may_be(name)
}

/// The names of a path as they are written, those before a `..` left out.
fn names(path: &Path) -> impl Iterator<Item = Name<'_>> {
    let mut all = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => all.push(Name::of(name.to_str().unwrap_or("*"))),
            Component::ParentDir => drop(all.pop()),
            _ => {}
        }
    }
    all.into_iter()
}

impl<'a> Name<'a> {
    fn of(text: &'a str) -> Self {
        if text.contains(['$', '`', '{', '}', '~', '\\']) {
            Self::Any
        } else if text.contains(['*', '?', '[']) {
            Self::Like(text)
        } else {
            Self::Is(text)
        }
    }

    fn may_be(&self, name: &str) -> bool {
        match self {
            Self::Is(text) => *text == name,
            Self::Like(pattern) => {
                let is_hidden = name.starts_with('.') && !pattern.starts_with('.');
                !is_hidden && is_like(pattern.as_bytes(), name.as_bytes())
            }
            Self::Any => true,
        }
    }
}

/// Whether a name may match a pattern; linear in each, for a name is short.
fn is_like(pattern: &[u8], name: &[u8]) -> bool {
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let (is_star, length) = match pattern[at] {
            b'*' => (true, 1),
            b'[' => {
                let end = pattern[at..].iter().position(|byte| *byte == b']');
                (false, end.map_or(1, |end| end + 1))
            }
            _ => (false, 1),
        };
        let is_one = |byte: u8| length > 1 || [b'?', b'[', byte].contains(&pattern[at]);
        let mut next = vec![false; name.len() + 1];
        for from in 0..=name.len() {
            if !reached[from] {
                continue;
            }
            if is_star {
                next[from..].fill(true);
            } else if name.get(from).is_some_and(|byte| is_one(*byte)) {
                next[from + 1] = true;
            }
        }
        (reached, at) = (next, at + length);
    }
    reached[name.len()]
}

/// Whether a word may mean the directory of a skill, its `SKILL.md`, or something in `scripts`.
fn may_mean(wanted: &[Name], skill: &[&str]) -> bool {
    match (wanted, skill) {
        ([], rest) => rest.is_empty(),
        ([Name::Any, behind @ ..], _) => {
            let mut ways = 0..=skill.len();
            behind.is_empty() || ways.any(|taken| may_mean(behind, &skill[taken..]))
        }
        ([name, behind @ ..], []) => {
            name.may_be("scripts") || name.may_be("SKILL.md") && behind.is_empty()
        }
        ([name, behind @ ..], [first, rest @ ..]) => name.may_be(first) && may_mean(behind, rest),
    }
}

/// Hands each directory with a `SKILL.md` to `each`; links are followed, as agents do.
fn below(dir: &Path, depth: usize, left: &mut usize, each: &mut dyn FnMut(&Path)) {
    let entries = files::entries(dir).unwrap_or_default().into_iter();
    for (name, kind) in entries {
        if *left == 0 || !matches!(kind, EntryKind::Dir | EntryKind::Link) {
            continue;
        }
        *left -= 1;
        let path = dir.join(name.as_os_str());
        if path.join("SKILL.md").exists() {
            each(&path);
        } else if depth > 1 && kind == EntryKind::Dir {
            below(&path, depth - 1, left, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_the_skills_that_it_can_match() {
        let may = |word: &str| {
            let wanted: Vec<Name> = names(Path::new(word)).collect();
            may_mean(&wanted, &["p", ".agents", "skills", "pdf"])
        };
        for word in [
            "/p/.agents/skills/*/SKILL.md",
            "/p/.agents/*/pdf/SKILL.md",
            "/p/.agents/skills/p?f/SKILL.md",
            "/p/.agents/skills/[p]df/SKILL.m*",
            "/p/.a*/skills/pdf/scripts/x.sh",
            "/p/.agents/skills/$x/SKILL.md",
            "/p/.agents/{skills/pdf,x}/SKILL.md",
            "$x/SKILL.md",
            "/p/.agents/skills/*",
            "/p/*/../.agents/skills/*/SKILL.md",
        ] {
            assert!(may(word), "{word}");
        }
        for word in [
            "/p/*/skills/*/SKILL.md",
            "/p/.agents/skills/*.md",
            "/p/.agents/skills/c*/SKILL.md",
            "/p/.agents/skills/*/references/x.md",
            "$x/README.md",
        ] {
            assert!(!may(word), "{word}");
        }
    }
}
