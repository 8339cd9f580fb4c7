//! Checks signatures of many skills at once: each program is asked once for all of them where it can
//! be, and each commit is verified once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use crate::error::Result;
use crate::marketplace::fetch::{Failure, Tool};
use crate::marketplace::install::{CopyPlan, Piece};
use crate::marketplace::lock::Files;
use crate::marketplace::signature::commit;
use crate::marketplace::signature::detached;
use crate::marketplace::signature::evidence::{Evidence, GitEvidence, GitKind};
use crate::marketplace::signature::key_files::KeyFiles;
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::objects::{Committed, Objects, hashed, identified, tree_of};
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
    /// Its directory in the repository, if it is from one; empty for the root.
    pub path: &'s str,
    /// What is to prove the signature; `None` if there is none.
    pub evidence: Option<Rc<Evidence>>,
    /// The tag that it is pinned to, by the name it has in the repository.
    pub tag: Option<String>,
    /// Why no signature can cover its files, if so.
    pub unfit: Option<String>,
}

impl Subject<'_> {
    /// The same with other evidence.
    #[must_use]
    pub fn with(&self, evidence: Evidence) -> Self {
        Self {
            evidence: Some(Rc::new(evidence)),
            tag: None,
            unfit: self.unfit.clone(),
            ..*self
        }
    }
}

/// Checks signatures in one scratch directory.
#[derive(Debug, Clone, Copy)]
pub struct Checker<'c>(Programs<'c>);

/// What git says of all subjects with a commit, before any key is looked at.
#[derive(Default)]
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
    /// When a program does not answer, or the disk is full.
    pub fn check(&self, subjects: &[Subject], keys: &[&Keys]) -> Result<Vec<Vec<Signature>>> {
        let mut results = vec![vec![Signature::Unsigned; subjects.len()]; keys.len()];
        if subjects.iter().all(|subject| subject.evidence.is_none()) {
            return Ok(results);
        }
        let found = self.found(subjects)?;
        for (keys, results) in keys.iter().zip(&mut results) {
            let files = KeyFiles::write(&self.0, keys)?;
            let mut known = HashMap::new();
            for ((index, subject), result) in subjects.iter().enumerate().zip(results) {
                *result = match subject.evidence.as_deref() {
                    None => continue,
                    Some(Evidence::Manifest(evidence)) => {
                        let of = (subject.name, subject.files);
                        detached::check(&self.0, &files, evidence, of)?
                    }
                    Some(Evidence::Git(evidence)) => {
                        let called = subject.tag.as_deref();
                        let key = (&evidence.commit, &evidence.tag, called);
                        let of_commit = if let Some(known) = known.get(&key) {
                            Signature::clone(known)
                        } else {
                            let of = &found.objects;
                            let new = commit::check(&self.0, &files, evidence, of, called)?;
                            known.insert(key, new.clone());
                            new
                        };
                        match (of_commit, found.differs.get(&index)) {
                            (Signature::Good(_), Some(why)) => Signature::Bad { why: why.clone() },
                            (signature, _) => signature,
                        }
                    }
                };
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

    /// What git says of all subjects with a commit: the ids of their objects and files.
    fn found<'s>(&self, subjects: &'s [Subject<'s>]) -> Result<Found<'s>> {
        let mut found = Found::default();
        let repo = self.0.0.scratch.path_of(&SIGNED);
        let evidence = |subject: &'s Subject| match subject.evidence.as_deref() {
            Some(Evidence::Git(evidence)) => Some(evidence),
            _ => None,
        };
        let lengths: HashSet<bool> = subjects
            .iter()
            .filter_map(|subject| Some(has_long_ids(evidence(subject)?)))
            .collect();
        for is_long in lengths {
            let these = subjects.iter().enumerate().filter_map(|(at, subject)| {
                let of = evidence(subject).filter(|of| has_long_ids(of) == is_long)?;
                Some((at, subject, of))
            });
            let these: Vec<_> = these.collect();
            self.init(&repo, is_long)?;
            let mut seen = HashSet::new();
            let objects = these.iter().flat_map(|(.., of)| &of.objects);
            let objects = objects.filter(|object| seen.insert(*object));
            let objects = identified(&self.0, &repo, objects)?;
            self.compare(&repo, &these, &objects, &mut found.differs)?;
            found.objects.extend(objects);
        }
        Ok(found)
    }

    /// Compares the files of each subject with those of its commit.
    fn compare<'s>(
        &self,
        repo: &Path,
        subjects: &[(usize, &'s Subject<'s>, &'s GitEvidence)],
        objects: &Objects,
        differs: &mut HashMap<usize, String>,
    ) -> Result<()> {
        let mut commits: HashMap<&str, Result<Committed, String>> = HashMap::new();
        let mut planned = Vec::new();
        let mut paths = String::new();
        for (index, subject, of) in subjects {
            let committed = commits
                .entry(&of.commit)
                .or_insert_with(|| tree_of(objects, &of.commit).map_err(|error| error.to_string()));
            let plan = match committed {
                Ok(committed) => difference(committed, subject),
                Err(why) => Err(why.clone()),
            };
            match plan {
                Err(why) => drop(differs.insert(*index, why)),
                Ok(wanted) => {
                    for path in wanted.keys() {
                        let _ = writeln!(paths, "{}", subject.dir.join(path).display());
                    }
                    planned.push((*index, wanted));
                }
            }
        }
        let mut ids = hashed(&self.0, repo, GitKind::Blob, &paths)?.into_iter();
        for (index, wanted) in planned {
            for (path, signed) in wanted {
                if ids.next() != Some(signed) {
                    differs.insert(index, not_signed(&path));
                }
            }
        }
        Ok(())
    }

    fn init(&self, repo: &Path, has_long_ids: bool) -> Result<()> {
        let scratch = self.0.0.scratch;
        let removed = scratch.remove_ours(&SIGNED);
        removed.map_err(|error| scratch.error("remove", &SIGNED, &error))?;
        let format = if has_long_ids { "sha256" } else { "sha1" };
        let mut command = self.0.git(repo)?;
        command.args(["init", "--quiet", "--bare", "--template="]);
        command.arg(format!("--object-format={format}"));
        let ran = self.0.run(command, "")?;
        if !ran.status.success() {
            let failure = Failure::from_stderr(&ran.errors);
            return Err(failure
                .context("git cannot make a directory to check in")
                .into());
        }
        Ok(())
    }
}

fn has_long_ids(evidence: &GitEvidence) -> bool {
    evidence.commit.len() == 64
}

fn not_signed(path: &str) -> String {
    format!("`{}` is not in the signed commit", path.escape_debug())
}

/// The files that are there, each with the id that it has in the commit, if they are those that an
/// install of the commit makes; else how they differ.
fn difference(
    committed: &Committed,
    subject: &Subject,
) -> Result<BTreeMap<String, String>, String> {
    let (tree, path) = (&committed.tree, subject.path);
    let plan = CopyPlan::new(tree, path, &[]).map_err(|error| error.to_string())?;
    // Of a skill at the root, skills in it are not a part.
    let is_of_another = |file: &str| {
        let mut above = file.match_indices('/').map(|(end, _)| &file[..end]);
        path.is_empty()
            && above.any(|dir| {
                let mut inside = tree.below(dir);
                inside.any(|(file, _)| file.eq_ignore_ascii_case("SKILL.md"))
            })
    };
    let unknown = committed.unknown_of(plan.passed().chain([path]));
    if let Some(dir) = unknown.into_iter().find(|dir| !is_of_another(dir)) {
        return Err(format!(
            "`{}` of the signed commit is not in what was kept of it",
            dir.escape_debug()
        ));
    }
    let pieces = plan.pieces().iter();
    let signed: HashMap<&str, &Piece> = pieces.map(|piece| (piece.to.as_str(), piece)).collect();
    let present = subject.files;
    let mut wanted = BTreeMap::new();
    for file in present.paths() {
        let digest = present.get(file).unwrap_or_default();
        let piece = signed
            .get(file)
            .filter(|piece| piece.executable == digest.ends_with("+x"));
        // A link could lead to other files at any later time.
        let is_file = subject
            .dir
            .join(file)
            .symlink_metadata()
            .is_ok_and(|found| found.is_file());
        let Some(piece) = piece.filter(|_| is_file) else {
            return Err(not_signed(file));
        };
        if subject.dir.join(file).to_string_lossy().contains('\n') {
            let text = format!("`{}` has a line break in its path", file.escape_debug());
            return Err(format!("{text}, so that it cannot be checked"));
        }
        wanted.insert(file.to_owned(), piece.from.id.clone());
    }
    let mut missing = plan.pieces().iter().map(|piece| piece.to.as_str());
    let is_missing = |file: &&str| present.get(file).is_none() && !is_of_another(file);
    match missing.find(is_missing) {
        Some(file) => Err(format!(
            "`{}` of the signed commit is missing",
            file.escape_debug()
        )),
        None => Ok(wanted),
    }
}
