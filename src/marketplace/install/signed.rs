//! Signatures in installs and updates: each staged skill is checked before anybody is asked, what
//! proves a signature is kept before the lockfile names it, and a signer is remembered once its skill
//! is in place.

use std::path::Path;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::install::{Staged, Staging};
use crate::marketplace::lock::{LockEntry, Lockfile};
use crate::marketplace::signature::KnownSigner;
use crate::marketplace::signature::{
    Checked, Checker, Evidence, EvidenceId, KnownSigners, Of, Subject, keep, kept,
};
use crate::signing::Signer;
use crate::signing::{MANIFEST, SSH_SIGNATURE, Signature};
use crate::sys::{Base, Moment};

impl Market<'_> {
    pub(super) fn checker<'s>(&'s self, staging: &'s Staging) -> Checker<'s> {
        Checker::new(self.tool(staging))
    }

    /// Checks the signatures of staged skills, and writes the results into their plans and entries.
    ///
    /// # Errors
    /// When a program that checks is missing or does not answer.
    pub(super) fn check_signatures(&self, staging: &Staging, staged: &mut [Staged]) -> Result<()> {
        let dirs: Vec<_> = staged.iter().map(|one| one.place.path()).collect();
        let subjects = staged.iter().zip(&dirs);
        let subjects = subjects.map(|(one, dir)| subject(one, dir, one.evidence.clone()));
        let mut checked = self
            .signing
            .check(&self.checker(staging), subjects.collect())?;
        self.check_others(staging, staged, &mut checked)?;
        for (one, checked) in staged.iter_mut().zip(checked) {
            let files = &one.entry.files;
            let has = |end: &str| files.get(&format!("{MANIFEST}{end}")).is_some();
            let is_inside = has("") && has(SSH_SIGNATURE);
            one.entry.signer = checked.signature.signer().cloned();
            one.entry.evidence = match &one.evidence {
                _ if one.entry.signer.is_none() => None,
                Some(evidence) if is_inside && matches!(**evidence, Evidence::Manifest(_)) => None,
                Some(evidence) => Some(EvidenceId::of(&evidence.to_bytes())),
                None => None,
            };
            Rc::make_mut(&mut one.planned).signature = Some(checked);
        }
        Ok(())
    }

    /// Where another signature of a skill proves more than the one that was checked, takes that:
    /// anybody may have put one more beside it.
    fn check_others(
        &self,
        staging: &Staging,
        staged: &mut [Staged],
        checked: &mut [Checked],
    ) -> Result<()> {
        let dirs: Vec<_> = staged.iter().map(|one| one.place.path()).collect();
        let (mut tried, mut subjects) = (Vec::new(), Vec::new());
        for (at, one) in staged.iter().enumerate() {
            if worth(&checked[at]) < KNOWN {
                for other in &one.others {
                    tried.push((at, Rc::clone(other)));
                    subjects.push(subject(one, &dirs[at], Some(Rc::clone(other))));
                }
            }
        }
        if subjects.is_empty() {
            return Ok(());
        }
        let answers = self.signing.check(&self.checker(staging), subjects)?;
        for ((at, evidence), answer) in tried.into_iter().zip(answers) {
            if worth(&answer) > worth(&checked[at]) {
                checked[at] = answer;
                staged[at].evidence = Some(evidence);
            }
        }
        Ok(())
    }

    /// Checks the signatures of skills that are staged again as the lockfile has them, and that they
    /// are those of the signers that it names.
    ///
    /// # Errors
    /// When one does not hold, is not allowed, or is another's.
    pub(super) fn check_again(
        &self,
        staging: &Staging,
        lockfile: &Lockfile,
        staged: &mut [Staged],
    ) -> Result<()> {
        for one in &mut *staged {
            let entry = lockfile.get(&one.place.name);
            let entry = entry.filter(|entry| entry.sha256 == one.entry.sha256);
            let id = entry.and_then(|entry| entry.evidence.as_ref());
            if let (None, Some(id)) = (&one.evidence, id) {
                one.evidence = kept(self.plugin_dir, id).map(Rc::new);
            }
        }
        self.check_signatures(staging, staged)?;
        for one in staged {
            let signature = one.planned.signature.as_ref();
            permit(&one.planned.name, signature, false)?;
            let entry = lockfile.get(&one.place.name);
            let change = |entry| signer_change(entry, self.signers_beside(entry), signature);
            if let Some((_, error)) = entry.and_then(change) {
                return Err(error.hint(
                    "somebody has changed the lockfile or the source: look at it, then remove the \
                     skill and install it again",
                ));
            }
        }
        Ok(())
    }

    /// The known signers of a skill's source that count where its entry names none: a project's
    /// lockfile came with it, and may have lost its signers on the way.
    pub(super) fn signers_beside(&self, entry: &LockEntry) -> &[KnownSigner] {
        if self.plugin_dir.is_shared() {
            self.signing.known().of(&entry.source)
        } else {
            &[]
        }
    }

    /// Keeps what proves the signatures of skills that are about to be moved into place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn keep_evidence<'s>(&self, staged: impl Iterator<Item = &'s Staged>) -> Result<()> {
        for one in staged.filter(|one| one.entry.evidence.is_some()) {
            if let Some(evidence) = &one.evidence {
                keep(self.plugin_dir, evidence)?;
            }
        }
        Ok(())
    }

    /// Remembers the signers of skills that are in place.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn remember_signers<'e>(
        &self,
        entries: impl Iterator<Item = &'e LockEntry>,
    ) -> Result<()> {
        let signed = |entry: &'e LockEntry| Some((entry.source.as_str(), entry.signer.as_ref()?));
        let signers: Vec<_> = entries.filter_map(signed).collect();
        if signers.is_empty() {
            return Ok(());
        }
        KnownSigners::remember(&Base::own(self.home.to_owned()), &signers, Moment::now())
    }
}

/// The worth of a signature by a signer who has signed for the source before.
const KNOWN: u8 = 4;

/// How much a signature proves; 0 if it does not hold.
fn worth(checked: &Checked) -> u8 {
    match (checked.signature.signer(), &checked.unmet) {
        (None, _) => 0,
        (Some(_), Some(_)) => 1,
        (Some(_), None) if checked.since.is_some() => KNOWN,
        (Some(signer), None) if signer.principal.is_some() => 3,
        (Some(_), None) => 2,
    }
}

fn subject<'s>(one: &'s Staged, dir: &'s Path, evidence: Option<Rc<Evidence>>) -> Of<'s> {
    let entry = &one.entry;
    let subject = Subject {
        name: &one.planned.author,
        dir,
        files: &entry.files,
        path: &entry.path,
        evidence,
        tag: entry.tag(),
        unfit: None,
    };
    (
        subject,
        Some(entry.source.as_str()),
        entry.address.as_deref(),
    )
}

/// Refuses a skill that is wrongly signed or not signed as is required.
///
/// # Errors
/// What is wrong, and the next step.
pub fn permit(name: &str, checked: Option<&Checked>, takes_first: bool) -> Result<()> {
    let Some(checked) = checked else {
        return Ok(());
    };
    if let Signature::Bad { why } = &checked.signature {
        let text = format!("skill `{name}` is wrongly signed: {why}");
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

/// Why an update has to wait for its user, with a code: the skill is signed by another, or no
/// longer. `known` are the signers of its source that count where the lockfile names none.
pub fn signer_change(
    entry: &LockEntry,
    known: &[KnownSigner],
    checked: Option<&Checked>,
) -> Option<(&'static str, Error)> {
    let signature = &checked?.signature;
    let new = signature.signer();
    let is_known = |known: &KnownSigner| new.is_some_and(|new| new.key == known.key);
    let old = match (&entry.signer, known) {
        (Some(old), _) => {
            // Whoever lists both keys for one name has said that they are the same signer's. A
            // pattern is no name.
            let is_name = |name: &String| !name.contains(['*', '?', '!']);
            let name = old.principal.as_ref().filter(|name| is_name(name));
            let has_signed = |new: &Signer| {
                new.key == old.key || name.is_some_and(|name| new.principal.as_ref() == Some(name))
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
