//! Checks signatures of skills: what comes with one that is fetched, by all files that state what is
//! required, by the keys that they list, and by whom the user knows.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;

use crate::error::Result;
use crate::marketplace::fetch::{Programs, Snapshot};
use crate::marketplace::lock::Files;
use crate::marketplace::source::Origin;
use crate::marketplace::verification::git::GitProof;
use crate::marketplace::verification::key_set::KeySet;
use crate::marketplace::verification::known::KnownSigners;
use crate::marketplace::verification::proof::{ManifestProof, Proof};
use crate::signing::{AllowedSigner, Requirement, Signature, SignedObject, SourceRequirement};

/// What is demanded of a source, given by its canonical address and the one that git really uses;
/// `None` for a skill of unknown origin.
pub type RequirementLookup<'d> = dyn Fn(Option<&str>, Option<&str>) -> Vec<SourceRequirement> + 'd;

/// The rules of one command.
pub struct SignatureChecker<'d> {
    /// Includes one for the user's own file of signers, whatever is required.
    pub demands: Box<RequirementLookup<'d>>,
    /// Whom the user knows.
    pub known: KnownSigners,
}

/// The result for one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedSignature {
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

/// A skill whose signature is checked.
#[derive(Debug)]
pub struct SignatureSubject<'s> {
    /// The name that its author gives it.
    pub name: &'s str,
    /// The digests of its files.
    pub files: &'s Files,
    /// Its source, if one is known, and the address that was really used, if that is another.
    pub source: Option<&'s str>,
    /// See `source`.
    pub address: Option<&'s str>,
    /// What may prove its signature. What proves most counts, and of equals the first.
    pub proofs: &'s [Proof],
}

/// The worth of a signature by a signer who has signed for the source before.
const KNOWN: u8 = 4;

/// How much a signature proves; 0 if it does not hold.
fn worth(checked: &CheckedSignature) -> u8 {
    match (checked.signature.signer(), &checked.unmet) {
        (None, _) => 0,
        (Some(_), Some(_)) => 1,
        (Some(_), None) if checked.since.is_some() => KNOWN,
        (Some(signer), None) if signer.principal.is_some() => 3,
        (Some(_), None) => 2,
    }
}

impl SignatureChecker<'_> {
    /// Checks a skill by the keys of `sets`.
    ///
    /// # Errors
    /// When a program does not answer. Files of keys that cannot be read make all that depend on
    /// them unmet.
    pub fn check(
        &self,
        subject: &SignatureSubject,
        sets: &mut KeySetCache,
    ) -> Result<CheckedSignature> {
        let mut demands = (self.demands)(subject.source, subject.address);
        if demands.is_empty() {
            demands.push(SourceRequirement::default());
        }
        let mut best = None;
        for proof in subject.proofs {
            let checked = self.judge(subject, Some(proof), &demands, sets)?;
            let is_final = worth(&checked) == KNOWN
                || proof.is_alone() && matches!(checked.signature, Signature::Bad { .. });
            if best
                .as_ref()
                .is_none_or(|best| worth(&checked) > worth(best))
            {
                best = Some(checked);
            }
            if is_final {
                break;
            }
        }
        best.map_or_else(|| self.judge(subject, None, &demands, sets), Ok)
    }

    /// What one proof says, by all demands.
    fn judge(
        &self,
        subject: &SignatureSubject,
        proof: Option<&Proof>,
        demands: &[SourceRequirement],
        sets: &mut KeySetCache,
    ) -> Result<CheckedSignature> {
        let source = subject.source;
        let has_none = source.is_some_and(|source| self.known.of(source).is_empty());
        let mut all = Vec::new();
        let (mut unmet, mut even_if_first) = (None, None);
        let mut since = None;
        for demand in demands {
            let set = sets.of(demand);
            let signature = match (proof, set) {
                (None, _) => Signature::Unsigned,
                (Some(proof), Ok(keys)) => proof.check(keys, subject.name, subject.files)?,
                (Some(_), Err(error)) => Signature::unchecked(error.to_string()),
            };
            let known = signature
                .signer()
                .and_then(|signer| source.and_then(|source| self.known.get(source, &signer.key)));
            since = since.or(known.map(|known| known.since));
            let names = set.as_ref().map(|keys| names(keys, &signature));
            let names = names.unwrap_or_default();
            unmet = unmet.or_else(|| demand.unmet(&signature, &names, known.is_some()));
            let as_first = known.is_some() || has_none;
            even_if_first = even_if_first.or_else(|| demand.unmet(&signature, &names, as_first));
            all.push(signature);
        }
        // A bad one counts first, then the one that names its signer.
        let rank = |signature: &Signature| match signature {
            Signature::Bad { .. } => 0,
            Signature::Good(signer) if signer.principal.is_some() => 1,
            Signature::Good(_) => 2,
            Signature::Unchecked { .. } => 3,
            Signature::Unsigned => 4,
        };
        let signature = all.into_iter().min_by_key(rank);
        let signature = signature.unwrap_or(Signature::Unsigned);
        // What one file of signers finds wrong counts wherever anything is required.
        let is_required = demands
            .iter()
            .any(|demand| demand.require > Requirement::None);
        if is_required && matches!(signature, Signature::Bad { .. }) {
            let wrong = || Some(format!("it is {signature}"));
            unmet = unmet.or_else(wrong);
            even_if_first = even_if_first.or_else(wrong);
        }
        Ok(CheckedSignature {
            is_first: unmet.is_some() && even_if_first.is_none(),
            signature,
            unmet,
            since,
        })
    }
}

/// The keys of each pair of files that a demand names, read once; or why they cannot be.
pub struct KeySetCache<'p> {
    tool: Programs<'p>,
    sets: Vec<(Option<PathBuf>, Option<PathBuf>, Result<KeySet<'p>>)>,
}

impl<'p> KeySetCache<'p> {
    /// None is read yet.
    pub fn new(tool: Programs<'p>) -> Self {
        Self {
            tool,
            sets: Vec::new(),
        }
    }

    fn of(&mut self, demand: &SourceRequirement) -> &Result<KeySet<'p>> {
        let (signers, revoked) = (&demand.signers, &demand.revoked);
        let has_these_files = |(of, less, _): &(_, _, _)| (of, less) == (signers, revoked);
        let at = self
            .sets
            .iter()
            .position(has_these_files)
            .unwrap_or_else(|| {
                let set = KeySet::read(self.tool, signers.as_deref(), revoked.as_deref());
                self.sets.push((signers.clone(), revoked.clone(), set));
                self.sets.len() - 1
            });
        &self.sets[at].2
    }
}

/// Every name of the signer: those beside the one that the signature was checked for, in lines that
/// count as that does.
fn names<'k>(keys: &'k KeySet, signature: &'k Signature) -> Vec<&'k str> {
    let Some(signer) = signature.signer() else {
        return Vec::new();
    };
    let Some(own) = signer.principal.as_deref() else {
        return Vec::new();
    };
    let counts = |line: &&AllowedSigner| line.is_valid_for(signer.signed, keys.now);
    let lines = keys.lines(signer).filter(counts);
    let lines = lines.filter(|line| line.names().any(|name| name == own));
    let mut names: Vec<&str> = lines.flat_map(AllowedSigner::names).collect();
    names.push(own);
    names
}

/// What may prove the signature of the skill at `path` of a snapshot, which was written to `staged`:
/// in the order in which it counts if each proves the same.
///
/// # Errors
/// When git does not answer, or a manifest cannot be read.
pub fn proofs(
    snapshot: &Snapshot,
    origin: &Origin,
    path: &str,
    staged: &Path,
) -> Result<Vec<Proof>> {
    let mut proofs: Vec<Proof> = of_git(snapshot, origin)?.into_iter().collect();
    if let Some(inside) = ManifestProof::inside(staged)? {
        proofs.push(Proof::Manifest(inside));
    } else {
        let of_skill = snapshot.beside.get(path);
        let beside = of_skill.or_else(|| snapshot.beside.get(""));
        proofs.extend(beside.into_iter().flatten().cloned().map(Proof::Manifest));
    }
    Ok(proofs)
}

/// Whether what was opened has a signed tag or commit.
///
/// # Errors
/// When git does not answer.
pub fn is_signed(snapshot: &Snapshot, origin: &Origin) -> Result<bool> {
    Ok(of_git(snapshot, origin)?.is_some())
}

/// The tag, if it is signed, and else the commit, if that is.
fn of_git(snapshot: &Snapshot, origin: &Origin) -> Result<Option<Proof>> {
    let Some(commit) = &origin.commit else {
        return Ok(None);
    };
    let object = |kind: &str, id: &str, covers: SignedObject| -> Result<_> {
        let object = snapshot.content.git_object(kind, id)?;
        Ok(object.and_then(|object| GitProof::new(object, covers)))
    };
    if let Some(id) = &origin.tag
        && let Some(tag) = object("tag", id.as_str(), SignedObject::Tag)?
    {
        let rev = origin.rev.as_deref();
        let called = rev.and_then(|rev| rev.strip_prefix("refs/tags/"));
        return Ok(Some(match tag.difference_from(commit, called) {
            Some(why) => Proof::Wrong(why),
            None => Proof::Git(Rc::new(tag)),
        }));
    }
    let signed = object("commit", commit, SignedObject::Commit)?;
    Ok(signed.map(|commit| Proof::Git(Rc::new(commit))))
}
