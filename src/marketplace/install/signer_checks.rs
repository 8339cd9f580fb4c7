//! Signatures in installs and updates: each staged skill is checked before anybody is asked, the
//! lockfile pins its signer, and a signer is remembered once its skill is in place. And those of
//! skills that are there, whoever put them there.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::marketplace::Market;
use crate::marketplace::install::{PlannedSkill, StagedSkill, Staging};
use crate::marketplace::lock::{Digest, LockEntry};
use crate::marketplace::prelude::*;
use crate::marketplace::verification::{
    CheckedSignature, KeySetCache, KnownSigner, KnownSigners, ManifestProof, Proof,
    SignatureSubject,
};
use crate::signing::{Signature, Signer};

impl Market<'_> {
    /// Checks the signatures of staged skills, and writes the results into their plans and entries.
    ///
    /// # Errors
    /// When a program that checks is missing or does not answer.
    pub(super) fn check_signatures(
        &self,
        staging: &Staging,
        staged: &mut [StagedSkill],
    ) -> Result<()> {
        let mut sets = KeySetCache::new(self.tool(staging));
        let mut each = staged.iter_mut();
        each.try_for_each(|one| self.check_signature(one, &mut sets))
    }

    /// The same for one, by keys that are read once for several.
    ///
    /// # Errors
    /// As [`Market::check_signatures`].
    pub(super) fn check_signature(
        &self,
        one: &mut StagedSkill,
        sets: &mut KeySetCache,
    ) -> Result<()> {
        let subject = SignatureSubject {
            name: &one.planned.author,
            files: &one.entry.files,
            source: Some(&one.entry.source),
            address: one.entry.address.as_deref(),
            proofs: &one.proofs,
        };
        let checked = self.signing.check(&subject, sets)?;
        one.entry.signer = checked.signature.signer().cloned();
        Rc::make_mut(&mut one.planned).signature = Some(checked);
        Ok(())
    }

    /// Refuses staged skills of which the signature does not hold or is not allowed, or is another's
    /// than that of the entry `before`; `hint` is the next step then.
    ///
    /// # Errors
    /// What is wrong with the first such skill.
    pub(super) fn check_signers<'l>(
        &self,
        staged: &[StagedSkill],
        before: impl Fn(&StagedSkill) -> Option<&'l LockEntry>,
        hint: &str,
    ) -> Result<()> {
        for one in staged {
            permit(&one.planned, false)?;
            let change = |entry| self.signer_change(entry, &one.planned);
            if let Some((_, error)) = before(one).and_then(change) {
                return Err(error.hint(hint));
            }
        }
        Ok(())
    }

    /// Why an update has to wait for its user, with a code: the skill is signed by another, or no
    /// longer. A project's lockfile came with it, and may have lost its signers on the way: where an
    /// entry names none, the known signers of its source count.
    pub(super) fn signer_change(
        &self,
        entry: &LockEntry,
        new: &PlannedSkill,
    ) -> Option<(&'static str, Error)> {
        let known = if self.plugin_dir.is_shared() {
            self.signing.known.of(&entry.source)
        } else {
            &[]
        };
        let signature = &new.signature.as_ref()?.signature;
        let new = signature.signer();
        let is_known = |known: &KnownSigner| new.is_some_and(|new| new.key == known.key);
        let old = match (&entry.signer, known) {
            (Some(old), _) => {
                // Whoever lists both keys for one name has said that they are the same signer's. A
                // pattern is no name.
                let is_name = |name: &String| !name.contains(['*', '?', '!']);
                let name = old.principal.as_ref().filter(|name| is_name(name));
                let has_signed = |new: &Signer| {
                    new.key == old.key
                        || name.is_some_and(|name| new.principal.as_ref() == Some(name))
                };
                if new.is_some_and(has_signed) {
                    return None;
                }
                old.to_string()
            }
            (None, [first, ..]) if !known.iter().any(is_known) => first.key.to_string(),
            _ => return None,
        };
        let (code, now) = match new {
            Some(new) => ("signer-changed", format!("it is signed by {new} now")),
            None => ("signature-missing", format!("it is {signature} now")),
        };
        let text = format!("`{}` was signed by {old}, and {now}", entry.name);
        Some((code, Error::new(text)))
    }

    /// Remembers the signers of skills that are in place.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn remember_signers<'e>(
        &self,
        entries: impl Iterator<Item = &'e LockEntry>,
    ) -> Result<()> {
        let signed = entries.filter(|entry| entry.signer.is_some());
        let signed: Vec<&LockEntry> = signed.collect();
        if signed.is_empty() {
            return Ok(());
        }
        let home = Base::own(self.home.to_owned());
        KnownSigners::remember(
            &home,
            &signed,
            self.plugin_dir.is_shared(),
            UnixMillis::now(),
        )
    }
}

/// Refuses a skill whose signature is invalid or that is not signed as is required.
///
/// # Errors
/// What is wrong, and the next step.
pub fn permit(planned: &PlannedSkill, takes_first: bool) -> Result<()> {
    let (name, Some(checked)) = (&planned.name, &planned.signature) else {
        return Ok(());
    };
    if let Signature::Bad { why } = &checked.signature {
        let text = format!("the signature of skill `{name}` is invalid: {why}");
        return Err(Error::new(text).hint("do not use it; tell its author"));
    }
    if let Some(unmet) = &checked.unmet
        && !(takes_first && checked.is_first)
    {
        let text = format!("skill `{name}` cannot be used: {unmet}");
        return Err(Error::new(text).hint(
            "`agent-skills keys` shows who is listed; an administrator decides about a policy",
        ));
    }
    Ok(())
}

/// A skill that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillOnDisk {
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

impl SkillOnDisk {
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
    pub fn may_be_signed(&self, skill: &SkillOnDisk) -> Result<bool> {
        Ok(skill.pinned.is_some()
            || !self.signing.known.installed.is_empty()
            || ManifestProof::inside(&skill.dir)?.is_some())
    }

    /// Checks the signature of a skill that is there, from what is known on this machine.
    ///
    /// # Errors
    /// When a program that checks does not answer, or a manifest cannot be read.
    pub fn check_present(&self, skill: &SkillOnDisk) -> Result<CheckedSignature> {
        let digest = Digest::read(&skill.dir);
        let unfit = match &digest {
            Ok(digest) => uncovered(digest),
            Err(error) => Some(error.to_string()),
        };
        let digest = digest.unwrap_or_default();
        let mut proofs = Vec::new();
        match &skill.pinned {
            Some((signer, pinned)) if *pinned == digest.sha256 => {
                proofs.push(Proof::Pinned(signer.clone()));
            }
            Some(_) => {
                let why = "its files are not those that were signed when it was installed";
                proofs.push(Proof::Wrong(why.to_owned()));
            }
            None => {
                let installed = self.signing.known.installed.get(&digest.sha256);
                proofs.extend(installed.cloned().map(Proof::Pinned));
            }
        }
        let inside = ManifestProof::inside(&skill.dir)?;
        proofs.extend(inside.map(Proof::Manifest));
        if let Some(why) = unfit.filter(|_| !proofs.is_empty()) {
            proofs = vec![Proof::Wrong(why)];
        }
        let name = Skill::load(&skill.dir).map(|skill| skill.authors_name());
        let subject = SignatureSubject {
            name: &name.unwrap_or_default(),
            files: &digest.files,
            source: skill.source.as_deref(),
            address: skill.address.as_deref(),
            proofs: &proofs,
        };
        let staging = self.home_staging()?;
        self.signing
            .check(&subject, &mut KeySetCache::new(self.tool(&staging)))
    }

    /// Checks the signature of an installed skill again.
    ///
    /// # Errors
    /// As [`Market::check_present`].
    pub fn signature(&self, entry: &LockEntry) -> Result<CheckedSignature> {
        let dir = self.dir(&entry.name);
        self.check_present(&SkillOnDisk::new(
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
            Some("it has a link, and its target is not signed".to_owned())
        }
        None => None,
    }
}
