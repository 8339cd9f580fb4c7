//! Signatures in installs and updates: each staged skill is checked before anybody is asked, the
//! lockfile pins its signer, and a signer is remembered once its skill is in place.

use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::install::{Staged, Staging};
use crate::marketplace::lock::LockEntry;
use crate::marketplace::signature::{Checked, KeySets, KnownSigner, KnownSigners, Subject};
use crate::signing::{Signature, Signer};
use crate::sys::{Base, Moment};

impl Market<'_> {
    /// Checks the signatures of staged skills, and writes the results into their plans and entries.
    ///
    /// # Errors
    /// When a program that checks is missing or does not answer.
    pub(super) fn check_signatures(&self, staging: &Staging, staged: &mut [Staged]) -> Result<()> {
        let mut sets = KeySets::new(self.programs(staging));
        let mut each = staged.iter_mut();
        each.try_for_each(|one| self.check_signature(one, &mut sets))
    }

    /// The same for one, by keys that are read once for several.
    ///
    /// # Errors
    /// As [`Market::check_signatures`].
    pub(super) fn check_signature(&self, one: &mut Staged, sets: &mut KeySets) -> Result<()> {
        let subject = Subject {
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
        staged: &[Staged],
        before: impl Fn(&Staged) -> Option<&'l LockEntry>,
        hint: &str,
    ) -> Result<()> {
        for one in staged {
            let signature = one.planned.signature.as_ref();
            permit(&one.planned.name, signature, false)?;
            let change = |entry| signer_change(entry, self.signers_beside(entry), signature);
            if let Some((_, error)) = before(one).and_then(change) {
                return Err(error.hint(hint));
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
        KnownSigners::remember(&home, &signed, self.plugin_dir.is_shared(), Moment::now())
    }
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
