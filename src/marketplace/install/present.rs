//! Signatures of skills that are there, whoever put them there: what is to prove one, and whether it
//! does.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::marketplace::Market;
use crate::marketplace::lock::{Digest, LockEntry};
use crate::marketplace::signature::{Checked, KeySets, ManifestProof, Proof, Subject};
use crate::signing::Signer;
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
    /// Who signed it when it was installed, and the digest of what was signed, as the user's own
    /// lockfile pins it.
    pub pinned: Option<(Signer, String)>,
}

impl Present {
    /// The skill in `dir`, of which a lockfile says this. Of a lockfile that is only a claim, as it
    /// comes with the skills, no signer counts.
    pub fn new(dir: &Path, said: Option<&LockEntry>, is_claimed: bool) -> Self {
        let pinned = said.filter(|_| !is_claimed);
        let pinned = pinned.and_then(|said| Some((said.signer.clone()?, said.sha256.clone())));
        Self {
            dir: dir.to_owned(),
            source: said.map(|said| said.source.clone()),
            address: said.and_then(|said| said.address.clone()),
            pinned,
        }
    }
}

impl Market<'_> {
    /// Whether there may be something that proves the signature of a skill, without reading its files.
    ///
    /// # Errors
    /// When a manifest cannot be read.
    pub fn may_be_signed(&self, skill: &Present) -> Result<bool> {
        Ok(skill.pinned.is_some()
            || self.signing.known().has_installed()
            || ManifestProof::inside(&skill.dir)?.is_some())
    }

    /// Checks the signature of a skill that is there, from what is known on this machine.
    ///
    /// # Errors
    /// When a program that checks does not answer, or a manifest cannot be read.
    pub fn check_present(&self, skill: &Present) -> Result<Checked> {
        let digest = Digest::read(&skill.dir);
        let unfit = match &digest {
            Ok(digest) => uncovered(digest),
            Err(error) => Some(error.to_string()),
        };
        let digest = digest.unwrap_or_default();
        let name = Skill::load(&skill.dir).map(|skill| skill.authors_name());
        let subject = Subject {
            name: &name.unwrap_or_default(),
            files: &digest.files,
            source: skill.source.as_deref(),
            address: skill.address.as_deref(),
            proofs: &self.proofs_of(skill, &digest.sha256, unfit)?,
        };
        let staging = self.home_staging()?;
        self.signing
            .check(&subject, &mut KeySets::new(self.programs(&staging)))
    }

    /// What may prove the signature of a skill with this digest, of which no signature covers the
    /// files if they are `unfit`.
    fn proofs_of(
        &self,
        skill: &Present,
        sha256: &str,
        unfit: Option<String>,
    ) -> Result<Vec<Proof>> {
        let mut proofs = Vec::new();
        match &skill.pinned {
            Some((signer, pinned)) if pinned == sha256 => {
                proofs.push(Proof::Pinned(signer.clone()));
            }
            Some(_) => {
                let why = "its files are not those that were signed when it was installed";
                proofs.push(Proof::Wrong(why.to_owned()));
            }
            None => {
                let installed = self.signing.known().installed(sha256);
                proofs.extend(installed.cloned().map(Proof::Pinned));
            }
        }
        let inside = ManifestProof::inside(&skill.dir)?;
        proofs.extend(inside.map(Proof::Manifest));
        if let Some(why) = unfit.filter(|_| !proofs.is_empty()) {
            return Ok(vec![Proof::Wrong(why)]);
        }
        Ok(proofs)
    }

    /// Checks the signature of an installed skill again.
    ///
    /// # Errors
    /// As [`Market::check_present`].
    pub fn signature(&self, entry: &LockEntry) -> Result<Checked> {
        let dir = self.dir(&entry.name);
        self.check_present(&Present::new(
            &dir,
            Some(entry),
            self.plugin_dir.is_shared(),
        ))
    }
}

/// Why no signature covers these files; `None` if one may. What a link leads to is not signed, and of
/// two names that are shown alike only one is.
fn uncovered(digest: &Digest) -> Option<String> {
    let is_odd = |path: &&str| path.contains(char::REPLACEMENT_CHARACTER);
    match digest.files.paths().find(is_odd) {
        Some(path) => Some(format!("the name `{}` is not UTF-8", path.escape_debug())),
        None if !digest.links.is_empty() => {
            Some("it has a link, and what that leads to is not signed".to_owned())
        }
        None => None,
    }
}
