//! What comes with a skill that is fetched and may prove who signed it: the commit or tag, or a signed
//! manifest in its directory, beside its archive, or that a registry lists.

use std::path::Path;
use std::rc::Rc;

use crate::error::Result;
use crate::marketplace::fetch::Snapshot;
use crate::marketplace::signature::git::GitProof;
use crate::marketplace::signature::proof::{ManifestProof, Proof};
use crate::marketplace::source::Origin;
use crate::signing::Covers;

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
    let object = |kind: &str, id: &str, covers: Covers| -> Result<_> {
        let object = snapshot.content.git_object(kind, id)?;
        Ok(object.and_then(|object| GitProof::new(object, covers)))
    };
    if let Some(id) = &origin.tag
        && let Some(tag) = object("tag", id.as_str(), Covers::Tag)?
    {
        let called = origin
            .rev
            .as_deref()
            .and_then(|rev| rev.strip_prefix("refs/tags/"));
        return Ok(Some(match tag.differs(commit, called) {
            Some(why) => Proof::Wrong(why),
            None => Proof::Git(Rc::new(tag)),
        }));
    }
    let signed = object("commit", commit, Covers::Commit)?;
    Ok(signed.map(|commit| Proof::Git(Rc::new(commit))))
}
