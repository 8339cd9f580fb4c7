//! What a repository's branches and tags point at: the answer of one `git ls-remote`. Everything
//! that is fetched later is fetched by the commit found here, so what was listed is what lands.

use super::address::{Rev, SubPath};
use super::failure::{Class, Failure};
use super::reference::At;

/// The refs of one repository.
#[derive(Debug, Clone, Default)]
pub struct Refs {
    head: Option<String>,
    /// Short names, branches before tags, each with its commit.
    named: Vec<(String, String)>,
    /// How many of them are branches.
    branches: usize,
}

/// One state of a repository, found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The commit.
    pub commit: String,
    /// The branch, tag or commit that was asked for; none for the default branch.
    pub rev: Option<String>,
    /// The path that followed the ref.
    pub path: Option<SubPath>,
    /// Whether it was asked for by the name of a tag, which is not meant to move.
    pub tag: bool,
}

impl Refs {
    /// The arguments of the `git` call whose output [`Refs::parse`] reads; the URL follows them.
    pub const PATTERNS: [&'static str; 3] = ["HEAD", "refs/heads/*", "refs/tags/*"];

    /// Reads lines of `<commit> TAB <ref>`. An annotated tag has a second line, `<ref>^{}`, with
    /// the commit it stands for.
    pub fn parse(output: &str) -> Self {
        let mut refs = Self::default();
        let (mut heads, mut tags): (Vec<_>, Vec<(String, String)>) = (Vec::new(), Vec::new());
        for (id, name) in output.lines().filter_map(|line| line.split_once('\t')) {
            if !matches!(id.len(), 40 | 64) || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
                continue;
            }
            if name == "HEAD" {
                refs.head = Some(id.to_owned());
            } else if let Some(branch) = name.strip_prefix("refs/heads/") {
                heads.push((branch.to_owned(), id.to_owned()));
            } else if let Some(tag) = name.strip_prefix("refs/tags/") {
                match (tag.strip_suffix("^{}"), tags.last_mut()) {
                    (Some(peeled), Some(last)) if last.0 == peeled => id.clone_into(&mut last.1),
                    _ => tags.push((tag.to_owned(), id.to_owned())),
                }
            }
        }
        refs.branches = heads.len();
        refs.named = heads;
        refs.named.extend(tags);
        refs
    }

    /// The commit that `at` means. A branch wins over a tag of the same name, and of `REF/PATH`
    /// the longest beginning that is a ref is taken.
    pub fn resolve(&self, at: &At) -> Result<Resolved, Failure> {
        match at {
            At::Default => {
                let commit = self.head.clone().ok_or_else(|| {
                    Failure::new(
                        Class::NoSuchRef,
                        "the repository has no commit on a default branch",
                    )
                })?;
                Ok(Resolved {
                    commit,
                    rev: None,
                    path: None,
                    tag: false,
                })
            }
            At::Rev(rev) => self
                .named(rev.as_str())
                .ok_or_else(|| self.no_such(rev.as_str())),
            At::RefAndPath(place) => {
                let place = place.as_str();
                let ends = place.match_indices('/').map(|(at, _)| at);
                let mut ends: Vec<usize> = ends.chain([place.len()]).collect();
                ends.reverse();
                let split = |end: usize| {
                    let resolved = self.named(&place[..end])?;
                    let path = SubPath::parse(&place[end..]).ok();
                    Some(Resolved { path, ..resolved })
                };
                ends.into_iter()
                    .find_map(split)
                    .ok_or_else(|| self.no_such(place))
            }
        }
    }

    /// The tags, each with its commit, as the repository lists them.
    pub fn tags(&self) -> &[(String, String)] {
        &self.named[self.branches..]
    }

    fn named(&self, rev: &str) -> Option<Resolved> {
        let rev = Rev::parse(rev).ok()?;
        let found = self.named.iter().position(|(name, _)| name == rev.as_str());
        let commit = match found {
            Some(at) => self.named[at].1.clone(),
            None if rev.is_commit() => rev.as_str().to_ascii_lowercase(),
            None => return None,
        };
        let rev = Some(rev.as_str().to_owned());
        Some(Resolved {
            commit,
            rev,
            path: None,
            tag: found.is_some_and(|at| at >= self.branches),
        })
    }

    fn no_such(&self, rev: &str) -> Failure {
        let names: Vec<&str> = self
            .named
            .iter()
            .take(8)
            .map(|(name, _)| name.as_str())
            .collect();
        let text = format!(
            "no branch or tag is called `{rev}`; there are {}",
            names.join(", ")
        );
        Failure::new(Class::NoSuchRef, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs() -> Refs {
        let id = |digit: char| digit.to_string().repeat(40);
        let lines = [
            ('a', "HEAD"),
            ('a', "refs/heads/main"),
            ('b', "refs/heads/feature"),
            ('c', "refs/heads/feature/x"),
            ('d', "refs/tags/v1"),
            ('e', "refs/tags/v1^{}"),
            ('f', "refs/tags/main"),
        ];
        let lines = lines.map(|(digit, name)| format!("{}\t{name}\n", id(digit)));
        Refs::parse(&lines.concat())
    }

    fn found(at: &At) -> (char, Option<String>) {
        let resolved = refs().resolve(at).unwrap();
        let path = resolved.path.map(|path| path.as_str().to_owned());
        (resolved.commit.chars().next().unwrap(), path)
    }

    #[test]
    fn branches_tags_and_commits() {
        let rev = |text: &str| At::Rev(Rev::parse(text).unwrap());
        assert_eq!(found(&At::Default), ('a', None));
        assert_eq!(found(&rev("v1")), ('e', None));
        assert_eq!(found(&rev("main")), ('a', None));
        assert_eq!(found(&rev(&"9".repeat(40))), ('9', None));
        assert_eq!(
            refs().resolve(&rev("nope")).unwrap_err().class,
            Class::NoSuchRef
        );
    }

    #[test]
    fn of_a_ref_and_a_path_in_one_the_longest_ref_wins() {
        let place = |text: &str| At::RefAndPath(SubPath::parse(text).unwrap());
        assert_eq!(
            found(&place("feature/x/skills/s")),
            ('c', Some("skills/s".to_owned()))
        );
        assert_eq!(found(&place("feature/y")), ('b', Some("y".to_owned())));
        assert_eq!(found(&place("main")), ('a', None));
        assert_eq!(
            found(&place(&format!("{}/s", "9".repeat(40)))),
            ('9', Some("s".to_owned()))
        );
        assert_eq!(
            refs().resolve(&place("x/y")).unwrap_err().class,
            Class::NoSuchRef
        );
    }
}
