//! What the branches and tags of a repository point to, from one `git ls-remote`. All that is
//! fetched later is fetched by a commit found here, so what was listed is what is installed.

use crate::marketplace::fetch::{FailureKind, FetchFailure, Git, NAME};
use crate::marketplace::reference::{CommitId, Pin, Reachability, RefName, Revision, SubPath};
use crate::sys::text::{did_you_mean, listed};

/// The refs of one repository.
#[derive(Debug, Clone, Default)]
pub struct Refs {
    head: Option<CommitId>,
    named: Vec<Ref>,
}

/// A branch or a tag.
#[derive(Debug, Clone)]
struct Ref {
    pin: Pin,
    commit: CommitId,
    /// The id of an annotated tag itself.
    tag: Option<CommitId>,
}

/// A resolved state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedRef {
    /// The commit.
    pub commit: CommitId,
    /// What was requested; `None` for the default branch.
    pub pin: Option<Pin>,
    /// The id of an annotated tag itself.
    pub tag: Option<CommitId>,
    /// The path that followed the ref, if any.
    pub path: Option<SubPath>,
}

impl Refs {
    /// Asks a repository for its refs, in the form that [`Refs::parse`] reads.
    pub fn list(git: Git, settings: &[String]) -> Result<String, FetchFailure> {
        let args = [
            "ls-remote",
            "--quiet",
            NAME,
            "HEAD",
            "refs/heads/*",
            "refs/tags/*",
        ];
        git.with(settings).text(&args)
    }

    /// Parses lines of `<commit> TAB <ref>`. An annotated tag has a second line, `<ref>^{}`, with
    /// the commit to which it points.
    pub fn parse(output: &str) -> Self {
        let mut refs = Self::default();
        for (id, name) in output.lines().filter_map(|line| line.split_once('\t')) {
            let Some(id) = CommitId::parse(id) else {
                continue;
            };
            if name == "HEAD" {
                refs.head = Some(id);
            } else if let Some(tag) = name.strip_suffix("^{}") {
                let is_its = |last: &&mut Ref| Pin::parse(tag).as_ref() == Some(&last.pin);
                if let Some(last) = refs.named.last_mut().filter(is_its) {
                    last.tag = Some(std::mem::replace(&mut last.commit, id));
                }
            } else if let Some(pin) = Pin::parse(name) {
                let (commit, tag) = (id, None);
                refs.named.push(Ref { pin, commit, tag });
            }
        }
        refs
    }

    /// The commit that `at` means. In `REF/PATH`, the longest prefix that is a ref counts.
    pub fn resolve(&self, at: &Revision) -> Result<ResolvedRef, FetchFailure> {
        match at {
            Revision::Default => {
                let (class, text) = match self.named[..] {
                    [] => (FailureKind::NoRepository, "the repository is empty"),
                    _ => (
                        FailureKind::NoSuchRef,
                        "the repository has no commit on a default branch",
                    ),
                };
                let commit = self.head.clone();
                let commit = commit.ok_or_else(|| FetchFailure::new(class, text))?;
                let (pin, tag, path) = (None, None, None);
                Ok(ResolvedRef {
                    commit,
                    pin,
                    tag,
                    path,
                })
            }
            Revision::Pin(pin) => self
                .found(pin)
                .ok_or_else(|| self.no_such(&pin.to_string())),
            Revision::RefName(rev) => {
                let found = self.named(rev.as_str())?;
                found.ok_or_else(|| self.no_such(rev.as_str()))
            }
            Revision::RefAndPath(place) => {
                let place = place.as_str();
                let ends = place.rmatch_indices('/').map(|(at, _)| at);
                for end in [place.len()].into_iter().chain(ends) {
                    if let Some(resolved) = self.named(&place[..end])? {
                        let path = SubPath::parse(&place[end..]).ok();
                        return Ok(ResolvedRef { path, ..resolved });
                    }
                }
                Err(self.no_such(place))
            }
        }
    }

    /// The tags, each with its commit, in the repository's order.
    pub fn tags(&self) -> impl Iterator<Item = (&str, &CommitId)> {
        self.named.iter().filter_map(|one| match &one.pin {
            Pin::Tag(name) => Some((name.as_str(), &one.commit)),
            _ => None,
        })
    }

    /// Whether a branch or a tag has this name.
    pub fn has(&self, name: &str) -> bool {
        self.named.iter().any(|one| one.pin.short() == Some(name))
    }

    /// The branch or tag that points directly to this commit.
    pub fn tip(&self, commit: &CommitId) -> Option<Reachability> {
        if self.head.as_ref() == Some(commit) {
            return Some(Reachability::Branch("HEAD".to_owned()));
        }
        let tip = self.named.iter().find(|one| one.commit == *commit)?;
        Some(Reachability::from_pin(&tip.pin))
    }

    fn found(&self, pin: &Pin) -> Option<ResolvedRef> {
        let known = self.named.iter().find(|known| known.pin == *pin);
        let commit = match pin {
            Pin::Commit(id) => id,
            _ => &known?.commit,
        };
        Some(ResolvedRef {
            commit: commit.clone(),
            pin: Some(pin.clone()),
            tag: known.and_then(|known| known.tag.clone()),
            path: None,
        })
    }

    /// Resolves a full name, a commit id or a short name. It never guesses: a short name that is
    /// both a branch and a tag is an error.
    fn named(&self, written: &str) -> Result<Option<ResolvedRef>, FetchFailure> {
        if let Some(found) = Pin::parse(written).and_then(|pin| self.found(&pin)) {
            return Ok(Some(found));
        }
        let Ok(rev) = RefName::parse(written) else {
            return Ok(None);
        };
        let pins = [Pin::Branch(rev.clone()), Pin::Tag(rev)];
        match pins.each_ref().map(|pin| self.found(pin)) {
            [Some(_), Some(_)] => {
                let [branch, tag] = pins;
                let text = format!(
                    "`{written}` is a branch and a tag; `#{branch}` and `#{tag}` mean one of them"
                );
                Err(FetchFailure::new(FailureKind::Ambiguous, text))
            }
            [branch, tag] => Ok(branch.or(tag)),
        }
    }

    fn no_such(&self, rev: &str) -> FetchFailure {
        let names = self.named.iter().filter_map(|one| one.pin.short());
        let names: Vec<&str> = names.collect();
        let written = rev.trim_start_matches("refs/");
        let written = written
            .trim_start_matches("heads/")
            .trim_start_matches("tags/");
        let failure = |text: String| FetchFailure::new(FailureKind::NoSuchRef, text);
        let text = format!("no branch or tag is called `{rev}`");
        match did_you_mean(written, names.iter().copied()) {
            Some(hint) => failure(text).hint(hint),
            None => failure(format!("{text}; there are {}", listed(&names, 3))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "9999999999999999999999999999999999999999";

    fn refs() -> Refs {
        let id = |digit: char| digit.to_string().repeat(40);
        let lines = [
            ('a', "HEAD"),
            ('a', "refs/heads/main"),
            ('b', "refs/heads/feature"),
            ('c', "refs/heads/feature/x"),
            ('1', "refs/heads/both"),
            ('2', &format!("refs/heads/{HEX}")),
            ('d', "refs/tags/v1"),
            ('e', "refs/tags/v1^{}"),
            ('f', "refs/tags/both"),
            ('3', "refs/pull/1/head"),
        ];
        let lines = lines.map(|(digit, name)| format!("{}\t{name}\n", id(digit)));
        Refs::parse(&lines.concat())
    }

    fn at(text: &str) -> Revision {
        Revision::parse(Some(text)).unwrap()
    }

    fn found(at: &Revision) -> (char, String, Option<String>) {
        let resolved = refs().resolve(at).unwrap();
        let path = resolved.path.map(|path| path.as_str().to_owned());
        let pin = resolved.pin.map(|pin| pin.to_string());
        let first = resolved.commit.as_str().chars().next().unwrap();
        (first, pin.unwrap_or_default(), path)
    }

    #[test]
    fn each_name_is_found_under_its_full_one() {
        for (written, commit, pin) in [
            ("v1", 'e', "refs/tags/v1"),
            ("main", 'a', "refs/heads/main"),
            ("feature/x", 'c', "refs/heads/feature/x"),
            ("refs/heads/both", '1', "refs/heads/both"),
            ("refs/tags/both", 'f', "refs/tags/both"),
            // It never means the branch of that name.
            (HEX, '9', HEX),
        ] {
            let expected = (commit, pin.to_owned(), None);
            assert_eq!(found(&at(written)), expected, "{written}");
        }
        assert_eq!(found(&Revision::Default), ('a', String::new(), None));
        for (written, class) in [
            ("nope", FailureKind::NoSuchRef),
            ("refs/heads/v1", FailureKind::NoSuchRef),
            ("refs/tags/main", FailureKind::NoSuchRef),
            ("refs/pull/1/head", FailureKind::NoSuchRef),
            ("both", FailureKind::Ambiguous),
        ] {
            let failure = refs().resolve(&at(written)).unwrap_err();
            assert_eq!(failure.class, class, "{written}");
        }
    }

    #[test]
    fn of_a_ref_and_a_path_in_one_the_longest_ref_wins() {
        let place = |text: &str| Revision::RefAndPath(SubPath::parse(text).unwrap());
        let hex = format!("{HEX}/s");
        for (written, commit, pin, path) in [
            (
                "feature/x/skills/s",
                'c',
                "refs/heads/feature/x",
                Some("skills/s"),
            ),
            ("feature/y", 'b', "refs/heads/feature", Some("y")),
            ("v1", 'e', "refs/tags/v1", None),
            ("refs/tags/both/s", 'f', "refs/tags/both", Some("s")),
            (&hex, '9', HEX, Some("s")),
        ] {
            let expected = (commit, pin.to_owned(), path.map(str::to_owned));
            assert_eq!(found(&place(written)), expected, "{written}");
        }
        for (written, class) in [
            ("nope/x", FailureKind::NoSuchRef),
            ("both/s", FailureKind::Ambiguous),
        ] {
            let failure = refs().resolve(&place(written)).unwrap_err();
            assert_eq!(failure.class, class, "{written}");
        }
    }

    #[test]
    fn a_tip_is_known_without_asking_further() {
        let id = |digit: &str| CommitId::parse(&digit.repeat(40)).unwrap();
        for (digit, reach) in [
            ("a", Some(Reachability::Branch("HEAD".to_owned()))),
            ("b", Some(Reachability::Branch("feature".to_owned()))),
            ("e", Some(Reachability::Tag("v1".to_owned()))),
            ("3", None),
            ("9", None),
        ] {
            assert_eq!(refs().tip(&id(digit)), reach, "{digit}");
        }
    }
}
