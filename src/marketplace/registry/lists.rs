//! What a registry lists that belongs to a manifest: our signatures, each with the list of the skill's
//! files that it is of.

use crate::error::Result;
use crate::marketplace::fetch::Failure;
use crate::marketplace::fetch::http::Send;
use crate::marketplace::reference::{OciDigest, OciRepo};
use crate::marketplace::registry::client::{PULL, refusal};
use crate::marketplace::registry::{Client, Descriptor, Manifest, media_type};
use crate::marketplace::signature::ManifestProof;
use crate::signing::SSH_SIGNATURE;
use crate::sys::limits;

/// How many signatures of one skill are looked at.
const SIGNATURES: usize = 16;

impl Client<'_> {
    /// What is signed about a skill's manifest, the newest first; of many signatures only those that
    /// the registry lists last. Whether one holds is not looked at. One that cannot be fetched counts
    /// as none: where a signature is required, that refuses the skill.
    ///
    /// # Errors
    /// When the registry does not answer which there are.
    pub fn evidence(
        &self,
        repo: &OciRepo,
        subject: &OciDigest,
    ) -> Result<Vec<ManifestProof>, Failure> {
        let listed = self.referrers(repo, subject)?;
        let newest = listed.iter().rev().take(SIGNATURES);
        let found = newest.filter_map(|one| self.signed(repo, subject, one).ok().flatten());
        Ok(found.collect())
    }

    fn signed(
        &self,
        repo: &OciRepo,
        subject: &OciDigest,
        listed: &Descriptor,
    ) -> Result<Option<ManifestProof>, Failure> {
        let manifest = self.manifest(repo, &listed.digest)?;
        // A list that was put there by hand may name the signature of something else.
        let of = manifest.subject.as_ref().map(|subject| &subject.digest);
        if of.is_some_and(|of| of != subject) {
            return Ok(None);
        }
        let layers = manifest.layers.as_deref().unwrap_or_default();
        let read = |end: &str| -> Result<Option<Vec<u8>>> {
            let kind = match end {
                SSH_SIGNATURE => media_type::SSH_SIGNATURE,
                _ => media_type::SIGNED_MANIFEST,
            };
            let small = layers.iter().filter(|layer| layer.size <= limits::MANIFEST);
            let mut layers = small.filter(|layer| layer.media_type == kind);
            let layer = layers.next();
            let bytes = layer.map(|layer| self.blob(repo, layer)).transpose();
            Ok(bytes?)
        };
        Ok(ManifestProof::find(read)?)
    }

    /// The signatures that have this manifest for their subject: by the registry's list, or where it
    /// keeps none, by that under the tag `sha256-HEX`. Empty if the registry shows neither.
    ///
    /// # Errors
    /// When the registry cannot be reached.
    fn referrers(&self, repo: &OciRepo, subject: &OciDigest) -> Result<Vec<Descriptor>, Failure> {
        if self.offline {
            let kept = self.store.referrers(subject);
            let kept = kept.and_then(|kept| serde_json::from_slice(&kept).ok());
            return Ok(kept.unwrap_or_default());
        }
        let kind = media_type::SIGNATURE;
        let mut listed: Vec<Descriptor> = Vec::new();
        for place in [
            format!("referrers/{subject}?artifactType={kind}"),
            format!("manifests/sha256-{}", subject.hex()),
        ] {
            let answer = self.ask(repo, PULL, &place, Send::Get, limits::INDEX)?;
            match answer.status {
                200 => {
                    let index = Manifest::parse(&answer.body).ok();
                    listed = index.and_then(|index| index.manifests).unwrap_or_default();
                    break;
                }
                429 | 500.. => return Err(refusal(&answer, repo, "the list of signatures")),
                _ => {}
            }
        }
        listed.retain(|one| one.artifact_type.as_deref() == Some(kind));
        if let Ok(bytes) = serde_json::to_vec(&listed) {
            self.store.put_referrers(subject, &bytes, self.tool.scratch);
        }
        Ok(listed)
    }
}
