//! What a command knows of the signatures that it meets: which files state what is required, whose
//! keys they list, and whom the user knows.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::marketplace::signature::check::{Checker, Subject};
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::known::KnownSigners;
use crate::signing::{Demand, Signature, Verification};

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

    /// The programs that have to accept an archive from a source, each with the file that states it.
    pub fn verifications(
        &self,
        source: Option<&str>,
        address: Option<&str>,
    ) -> Vec<(Verification, String)> {
        let mut all: Vec<(Verification, String)> = Vec::new();
        for demand in (self.demands)(source, address) {
            if let Some(verify) = demand.verify
                && all.iter().all(|(known, _)| *known != verify)
            {
                all.push((verify, demand.stated_in));
            }
        }
        all
    }

    /// Checks skills, each with its source and the address really used.
    ///
    /// # Errors
    /// When a program does not answer. Files of keys that cannot be read make all that depend on
    /// them unmet.
    pub fn check(&self, checker: &Checker, skills: Vec<Of>) -> Result<Vec<Checked>> {
        let (mut subjects, mut demands) = (Vec::new(), Vec::new());
        let mut sources = Vec::new();
        for (subject, source, address) in skills {
            let mut of = (self.demands)(source, address);
            if of.is_empty() {
                of.push(Demand::default());
            }
            subjects.push(subject);
            demands.push(of);
            sources.push(source);
        }
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
        let results = checker.check(&subjects, &readable)?;
        let mut answers = Vec::new();
        for (index, (demands, source)) in demands.iter().zip(sources).enumerate() {
            let mut all = Vec::new();
            let mut unmet = None;
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
                unmet = unmet.or_else(|| demand.unmet(&signature, known.is_some()));
                all.push(signature);
            }
            answers.push(Checked {
                signature: worst_or_listed(all),
                unmet,
                since,
            });
        }
        Ok(answers)
    }
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
