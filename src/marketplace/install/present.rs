//! Signatures of skills that are there, whoever put them there: what is to prove one, and whether it
//! does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::Result;
use crate::marketplace::Market;
use crate::marketplace::lock::{Digest, Files, LockEntry};
use crate::marketplace::signature::{
    Checked, Evidence, EvidenceId, ManifestEvidence, Subject, has, kept,
};
use crate::skill::Skill;

/// A skill that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// Its directory.
    pub dir: PathBuf,
    /// Its source, as the lockfile has it; `None` if it has none.
    pub source: Option<String>,
    /// The address that git uses for that, if it is another.
    pub address: Option<String>,
    /// Its directory in that; empty for the root.
    pub path: String,
    /// The tag that it is pinned to, by the name it has in the repository.
    pub tag: Option<String>,
    /// What is to prove its signature, as the lockfile names it.
    pub proof: Option<EvidenceId>,
}

impl Present {
    /// The skill in `dir`, of which a lockfile says this.
    pub fn new(dir: &Path, said: Option<&LockEntry>) -> Self {
        Self {
            dir: dir.to_owned(),
            source: said.map(|said| said.source.clone()),
            address: said.and_then(|said| said.address.clone()),
            path: said.map_or_else(String::new, |said| said.path.to_string()),
            tag: said.and_then(LockEntry::tag),
            proof: said.and_then(|said| said.evidence.clone()),
        }
    }
}

impl Market<'_> {
    /// Whether there is something that is to prove the signature of a skill: what its lockfile names,
    /// else a signed manifest in its directory.
    ///
    /// # Errors
    /// When a manifest cannot be read.
    pub fn has_evidence(&self, skill: &Present) -> Result<bool> {
        match &skill.proof {
            Some(id) => Ok(has(self.plugin_dir, id)),
            None => Ok(ManifestEvidence::inside(&skill.dir)?.is_some()),
        }
    }

    /// Checks the signatures of skills that are there, from what is kept on this machine.
    ///
    /// # Errors
    /// When a program that checks is missing or does not answer, or a manifest cannot be read.
    pub fn check_present(&self, skills: &[Present]) -> Result<Vec<Checked>> {
        let read = skills.iter().map(|skill| {
            let mut plain = 0;
            let digest = Digest::read_each(&skill.dir, |_, _| plain += 1);
            let unfit = match &digest {
                Ok(digest) => uncovered(&digest.files, plain),
                Err(error) => Some(error.to_string()),
            };
            let name = Skill::load(&skill.dir).map(|skill| skill.authors_name());
            let files = digest.unwrap_or_default().files;
            (files, unfit, name.unwrap_or_default())
        });
        let read: Vec<_> = read.collect();
        let mut known: HashMap<&EvidenceId, Option<Rc<Evidence>>> = HashMap::new();
        let mut subjects = Vec::new();
        for (skill, (files, unfit, name)) in skills.iter().zip(&read) {
            let evidence = match &skill.proof {
                Some(id) => {
                    let kept = || kept(self.plugin_dir, id).map(Rc::new);
                    known.entry(id).or_insert_with(kept).clone()
                }
                None => ManifestEvidence::inside(&skill.dir)?
                    .map(Evidence::Manifest)
                    .map(Rc::new),
            };
            let subject = Subject {
                name,
                dir: &skill.dir,
                files,
                path: &skill.path,
                evidence,
                tag: skill.tag.clone(),
                unfit: unfit.clone(),
            };
            subjects.push((subject, skill.source.as_deref(), skill.address.as_deref()));
        }
        if subjects.is_empty() {
            return Ok(Vec::new());
        }
        let staging = self.home_staging()?;
        self.signing.check(&self.checker(&staging), subjects)
    }

    /// Checks the signatures of installed skills again.
    ///
    /// # Errors
    /// As [`Market::check_present`].
    pub fn signatures(&self, entries: &[&LockEntry]) -> Result<Vec<Checked>> {
        let present = entries
            .iter()
            .map(|entry| Present::new(&self.dir(&entry.name), Some(entry)));
        self.check_present(&present.collect::<Vec<_>>())
    }
}

/// Why no signature covers these files, of which `plain` are no links; `None` if one may. What a link
/// leads to is not signed, and of two names that are shown alike only one is.
fn uncovered(files: &Files, plain: usize) -> Option<String> {
    let odd = files
        .paths()
        .find(|path| path.contains(char::REPLACEMENT_CHARACTER));
    match odd {
        Some(path) => Some(format!("the name `{}` is not UTF-8", path.escape_debug())),
        None if files.paths().len() != plain => {
            Some("it has a link, and what that leads to is not signed".to_owned())
        }
        None => None,
    }
}
