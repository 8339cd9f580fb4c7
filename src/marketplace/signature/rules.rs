//! What a command knows of the signatures that it meets: which files state what is required, whose
//! keys they list, and whom the user knows.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::marketplace::signature::check::{Checker, Subject};
use crate::marketplace::signature::evidence::{Evidence, ManifestEvidence};
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::known::KnownSigners;
use crate::signing::{Demand, Requirement, Signature};

/// What is demanded of a source, given by its canonical address and the one that git really uses;
/// `None` for a skill of unknown origin.
pub type Demands<'d> = dyn Fn(Option<&str>, Option<&str>) -> Vec<Demand> + 'd;

/// The rules of one command.
pub struct Signing<'d> {
    demands: Box<Demands<'d>>,
    known: KnownSigners,
}

impl std::fmt::Debug for Signing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signing")
            .field("known", &self.known)
            .finish_non_exhaustive()
    }
}

impl Default for Signing<'_> {
    fn default() -> Self {
        Self::new(Box::new(|_, _| Vec::new()), KnownSigners::default())
    }
}

/// The result for one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Its signature. What one file of signers finds wrong is wrong, and a signer that one lists is
    /// named.
    #[serde(flatten)]
    pub signature: Signature,
    /// Why the skill may not be used, if so.
    pub unmet: Option<String>,
    /// Since when its signer is known for its source, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Whether it may not be used only because nobody has signed for its source before.
    #[serde(skip)]
    pub is_first: bool,
}

/// A subject with its source.
pub type Of<'s> = (Subject<'s>, Option<&'s str>, Option<&'s str>);

impl<'d> Signing<'d> {
    /// `demands` includes one for the user's own file of signers, whatever is required.
    pub fn new(demands: Box<Demands<'d>>, known: KnownSigners) -> Self {
        Self { demands, known }
    }

    /// Whom the user knows.
    pub fn known(&self) -> &KnownSigners {
        &self.known
    }

    /// Checks skills, each with its source and the address really used. Where a commit has the
    /// signature of nobody who is listed, as of a forge that merged it, a signed manifest in the
    /// skill counts instead if it has.
    ///
    /// # Errors
    /// When a program does not answer. Files of keys that cannot be read make all that depend on
    /// them unmet.
    pub fn check(&self, checker: &Checker, skills: Vec<Of>) -> Result<Vec<Checked>> {
        let (subjects, of): (Vec<_>, Vec<_>) = skills
            .into_iter()
            .map(|(subject, source, address)| (subject, (source, address)))
            .unzip();
        let mut answers = self.check_once(checker, &subjects, &of)?;
        let (mut again, mut places) = (Vec::new(), Vec::new());
        for (at, (subject, answer)) in subjects.iter().zip(&answers).enumerate() {
            let is_of_git = matches!(subject.evidence.as_deref(), Some(Evidence::Git(_)));
            let is_nobodys = match &answer.signature {
                Signature::Good(signer) => signer.principal.is_none(),
                Signature::Unchecked { .. } => true,
                Signature::Bad { .. } | Signature::Unsigned => false,
            };
            if is_of_git
                && is_nobodys
                && let Some(inside) = ManifestEvidence::inside(subject.dir)?
            {
                places.push(at);
                again.push(subject.with(Evidence::Manifest(inside)));
            }
        }
        let of: Vec<_> = places.iter().map(|at| of[*at]).collect();
        for (at, answer) in places
            .into_iter()
            .zip(self.check_once(checker, &again, &of)?)
        {
            let signer = answer.signature.signer();
            if signer.is_some_and(|signer| signer.principal.is_some()) {
                answers[at] = answer;
            }
        }
        Ok(answers)
    }

    fn check_once(
        &self,
        checker: &Checker,
        subjects: &[Subject],
        of: &[(Option<&str>, Option<&str>)],
    ) -> Result<Vec<Checked>> {
        let demands = of.iter().map(|(source, address)| {
            let mut demands = (self.demands)(*source, *address);
            if demands.is_empty() {
                demands.push(Demand::default());
            }
            demands
        });
        let demands: Vec<Vec<Demand>> = demands.collect();
        let mut sets: Vec<Result<Keys>> = Vec::new();
        let mut at: HashMap<(Option<PathBuf>, Option<PathBuf>), usize> = HashMap::new();
        for demand in demands.iter().flatten() {
            let files = (demand.signers.clone(), demand.revoked.clone());
            at.entry(files).or_insert_with_key(|(signers, revoked)| {
                sets.push(Keys::read(signers.as_deref(), revoked.as_deref()));
                sets.len() - 1
            });
        }
        let (mut readable, mut places) = (Vec::new(), Vec::new());
        for set in &sets {
            places.push(set.as_ref().ok().map(|keys| {
                readable.push(keys);
                readable.len() - 1
            }));
        }
        let results = checker.check(subjects, &readable)?;
        let mut answers = Vec::new();
        for (index, (demands, (source, _))) in demands.iter().zip(of).enumerate() {
            let has_none = source.is_some_and(|source| !self.known.has(source));
            let mut all = Vec::new();
            let (mut unmet, mut even_if_first) = (None, None);
            let mut since = None;
            for demand in demands {
                let files = (demand.signers.clone(), demand.revoked.clone());
                let Some(set) = at.get(&files).copied() else {
                    continue;
                };
                let signature = match (places[set], &sets[set]) {
                    (Some(place), _) => results[place][index].clone(),
                    (None, Err(error)) => Signature::unchecked(error.to_string()),
                    (None, Ok(_)) => continue,
                };
                let known = signature.signer().and_then(|signer| {
                    source.and_then(|source| self.known.get(source, &signer.key))
                });
                since = since.or(known.map(|known| known.since));
                let names = sets[set]
                    .as_ref()
                    .map_or_else(|_| Vec::new(), |keys| names(keys, &signature));
                unmet = unmet.or_else(|| demand.unmet(&signature, &names, known.is_some()));
                let as_first = known.is_some() || has_none;
                even_if_first =
                    even_if_first.or_else(|| demand.unmet(&signature, &names, as_first));
                all.push(signature);
            }
            let signature = worst_or_listed(all);
            // What one file of signers finds wrong counts wherever anything is required.
            let is_required = demands
                .iter()
                .any(|demand| demand.require > Requirement::None);
            if is_required && matches!(signature, Signature::Bad { .. }) {
                let wrong = || Some(format!("it is {signature}"));
                unmet = unmet.or_else(wrong);
                even_if_first = even_if_first.or_else(wrong);
            }
            answers.push(Checked {
                is_first: unmet.is_some() && even_if_first.is_none(),
                signature,
                unmet,
                since,
            });
        }
        Ok(answers)
    }
}

/// Every name of the signer: those beside the one that the signature was checked for.
pub(super) fn names<'k>(keys: &'k Keys, signature: &'k Signature) -> Vec<&'k str> {
    let Some(signer) = signature.signer() else {
        return Vec::new();
    };
    let Some(own) = signer.principal.as_deref() else {
        return Vec::new();
    };
    let of_key = keys.signers.with_key(&signer.key);
    let names = of_key.map(|listed| listed.principals.split(',').collect::<Vec<_>>());
    let mut names: Vec<&str> = names
        .filter(|names| names.contains(&own))
        .flatten()
        .collect();
    names.push(own);
    names
}

/// Of the results by several files of signers, what is wrong; else the one that names the signer.
fn worst_or_listed(all: Vec<Signature>) -> Signature {
    let rank = |signature: &Signature| match signature {
        Signature::Bad { .. } => 0,
        Signature::Good(signer) if signer.principal.is_some() => 1,
        Signature::Good(_) => 2,
        Signature::Unchecked { .. } => 3,
        Signature::Unsigned => 4,
    };
    all.into_iter()
        .min_by_key(rank)
        .unwrap_or(Signature::Unsigned)
}
