//! Checks signatures of many skills at once: each program is asked once for all of them where it can
//! be, and each commit is verified once.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::error::{Error, Result};
use crate::marketplace::fetch::Tool;
use crate::marketplace::install::{CopyPlan, Piece};
use crate::marketplace::lock::Files;
use crate::marketplace::signature::commit::{self, KeyFiles};
use crate::marketplace::signature::detached;
use crate::marketplace::signature::evidence::{Evidence, GitEvidence, GitKind};
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::objects::{Objects, hashed, restore, tree_of};
use crate::marketplace::signature::programs::{Programs, SIGNED};
use crate::signing::Signature;

/// A skill whose signature is checked.
#[derive(Debug)]
pub struct Subject<'s> {
    /// The name that its author gives it.
    pub name: &'s str,
    /// Its directory.
    pub dir: &'s Path,
    /// The digests of the files in it.
    pub files: &'s Files,
    /// What is to prove the signature; `None` if there is none.
    pub evidence: Option<Evidence>,
    /// The tag that it is pinned to, by the name it has in the repository.
    pub tag: Option<String>,
    /// Why no signature can cover its files, if so.
    pub unfit: Option<String>,
}

/// Checks signatures in one scratch directory.
#[derive(Debug, Clone, Copy)]
pub struct Checker<'c>(Programs<'c>);

/// What git says of all subjects with a commit, before any key is looked at.
struct Found<'s> {
    objects: Objects<'s>,
    /// Why the files of a subject are not those of its commit, by its index.
    differs: HashMap<usize, String>,
}

impl<'c> Checker<'c> {
    /// Programs work in the scratch directory of `tool`.
    pub fn new(tool: Tool<'c>) -> Self {
        Self(Programs(tool))
    }

    /// The signature of each subject in the light of each set of keys: for each set, one result per
    /// subject.
    ///
    /// # Errors
    /// When a program is missing or does not answer, or the disk is full.
    pub fn check(&self, subjects: &[Subject], keys: &[&Keys]) -> Result<Vec<Vec<Signature>>> {
        let mut results = vec![vec![Signature::Unsigned; subjects.len()]; keys.len()];
        let repo = self.0.0.scratch.path_of(&SIGNED);
        let git = |subject: &Subject| match &subject.evidence {
            Some(Evidence::Git(evidence)) => Some(evidence.commit.len()),
            _ => None,
        };
        let formats: HashSet<usize> = subjects.iter().filter_map(git).collect();
        for length in formats {
            let these = subjects
                .iter()
                .enumerate()
                .filter(|(_, one)| git(one) == Some(length));
            let these: Vec<(usize, &Subject)> = these.collect();
            self.init(&repo, length)?;
            let found = self.found(&repo, &these)?;
            for (at, keys) in keys.iter().enumerate() {
                let files = KeyFiles::write(&self.0, keys)?;
                let mut known = HashMap::new();
                for (index, subject) in &these {
                    let Some(Evidence::Git(evidence)) = &subject.evidence else {
                        continue;
                    };
                    let called = subject.tag.as_deref();
                    let key = (&evidence.commit, &evidence.tag, called);
                    let of_commit = if let Some(known) = known.get(&key) {
                        Signature::clone(known)
                    } else {
                        let of = &found.objects;
                        let new = commit::check(&self.0, &repo, &files, evidence, of, called)?;
                        known.insert(key, new.clone());
                        new
                    };
                    results[at][*index] = match (of_commit, found.differs.get(index)) {
                        (Signature::Good(_), Some(why)) => Signature::Bad { why: why.clone() },
                        (signature, _) => signature,
                    };
                }
            }
        }
        for (at, keys) in keys.iter().enumerate() {
            let mut files = None;
            for (index, subject) in subjects.iter().enumerate() {
                if let Some(Evidence::Manifest(evidence)) = &subject.evidence {
                    let files = match &mut files {
                        Some(files) => files,
                        none => none.insert(KeyFiles::write(&self.0, keys)?),
                    };
                    let of = (subject.name, subject.files);
                    results[at][index] = detached::check(&self.0, files, evidence, of)?;
                }
            }
        }
        for (index, subject) in subjects.iter().enumerate() {
            if let (Some(why), Some(_)) = (&subject.unfit, &subject.evidence) {
                for of_keys in &mut results {
                    of_keys[index] = Signature::Bad { why: why.clone() };
                }
            }
        }
        Ok(results)
    }

    fn init(&self, repo: &Path, id_length: usize) -> Result<()> {
        let scratch = self.0.0.scratch;
        let removed = scratch.remove_ours(&SIGNED);
        removed.map_err(|error| scratch.error("remove", &SIGNED, &error))?;
        let format = if id_length == 64 { "sha256" } else { "sha1" };
        let mut command = self.0.git(repo)?;
        command.args(["init", "--quiet", "--bare", "--template="]);
        command.arg(format!("--object-format={format}"));
        let ran = self.0.run(command, "")?;
        if !ran.status.success() {
            let text = format!(
                "git cannot make a directory to check in: {}",
                ran.errors.trim()
            );
            return Err(Error::new(text).hint("try again"));
        }
        Ok(())
    }

    /// Restores the objects of all subjects, and compares the files of each with those of its
    /// commit.
    fn found<'s>(&self, repo: &Path, subjects: &[(usize, &'s Subject<'s>)]) -> Result<Found<'s>> {
        let evidence = subjects
            .iter()
            .filter_map(|(_, subject)| match &subject.evidence {
                Some(Evidence::Git(evidence)) => Some(evidence),
                _ => None,
            });
        let mut seen = HashSet::new();
        let objects = evidence.flat_map(|evidence| &evidence.objects);
        let objects = restore(&self.0, repo, objects.filter(|object| seen.insert(*object)))?;
        let mut paths = String::new();
        for (_, subject) in subjects {
            for path in subject.files.paths() {
                let _ = writeln!(paths, "{}", subject.dir.join(path).display());
            }
        }
        let mut ids = hashed(&self.0, repo, GitKind::Blob, &paths)?.into_iter();
        let mut differs = HashMap::new();
        for (index, subject) in subjects {
            let blobs: HashMap<&str, String> = subject.files.paths().zip(&mut ids).collect();
            if let Some(Evidence::Git(evidence)) = &subject.evidence
                && let Some(why) = difference(evidence, &objects, subject.files, &blobs)
            {
                differs.insert(*index, why);
            }
        }
        Ok(Found { objects, differs })
    }
}

/// How the files that are there differ from those that an install of the commit makes; `None` if they
/// do not.
fn difference(
    evidence: &GitEvidence,
    objects: &Objects,
    present: &Files,
    blobs: &HashMap<&str, String>,
) -> Option<String> {
    let tree = match tree_of(objects, &evidence.commit) {
        Ok(tree) => tree,
        Err(error) => return Some(error.to_string()),
    };
    let plan = match CopyPlan::new(&tree, &evidence.path, &[]) {
        Ok(plan) => plan,
        Err(error) => return Some(error.to_string()),
    };
    let signed: HashMap<&str, &Piece> = plan
        .pieces()
        .iter()
        .map(|piece| (piece.to.as_str(), piece))
        .collect();
    for path in present.paths() {
        let is_executable = present
            .get(path)
            .is_some_and(|digest| digest.ends_with("+x"));
        let is_same = signed.get(path).is_some_and(|piece| {
            blobs.get(path) == Some(&piece.from.id) && piece.executable == is_executable
        });
        if !is_same {
            return Some(format!(
                "`{}` is not in the signed commit",
                path.escape_debug()
            ));
        }
    }
    // Of a skill at the root, skills in it are not a part.
    let is_of_another = |path: &str| {
        let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
        evidence.path.is_empty()
            && above.any(|dir| {
                tree.below(dir)
                    .any(|(file, _)| file.eq_ignore_ascii_case("SKILL.md"))
            })
    };
    let mut missing = plan
        .pieces()
        .iter()
        .filter(|piece| present.get(&piece.to).is_none());
    let missing = missing.find(|piece| !is_of_another(&piece.to))?;
    Some(format!(
        "`{}` of the signed commit is missing",
        missing.to.escape_debug()
    ))
}
