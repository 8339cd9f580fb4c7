//! Our signatures in a registry: an artifact that has a skill's manifest for its subject carries the
//! list of the skill's files, and the signature of that.

use crate::error::Result;
use crate::marketplace::fetch::Failure;
use crate::marketplace::reference::{OciDigest, OciRepo};
use crate::marketplace::registry::{Client, media_type};
use crate::marketplace::signature::ManifestEvidence;
use crate::signing::{MINISIGN, SSH_SIGNATURE};
use crate::sys::limits;

impl Client<'_> {
    /// What is signed about a skill's manifest; of several signatures the last that the registry
    /// lists. Whether it holds is not looked at.
    ///
    /// # Errors
    /// When the registry cannot be reached, or what it lists cannot be fetched.
    pub fn evidence(
        &self,
        repo: &OciRepo,
        subject: &OciDigest,
    ) -> Result<Option<ManifestEvidence>, Failure> {
        let listed = self.referrers(repo, subject, media_type::SIGNATURE)?;
        let Some(last) = listed.last() else {
            return Ok(None);
        };
        let manifest = self.manifest(repo, &last.digest)?;
        // A list that was put there by hand may name the signature of something else.
        let of = manifest.subject.as_ref().map(|subject| &subject.digest);
        if of.is_some_and(|of| of != subject) {
            return Ok(None);
        }
        let layers = manifest.layers.as_deref().unwrap_or_default();
        let read = |end: &str| -> Result<Option<Vec<u8>>> {
            let kind = match end {
                SSH_SIGNATURE => media_type::SSH_SIGNATURE,
                MINISIGN => media_type::MINISIGN,
                _ => media_type::SIGNED_MANIFEST,
            };
            let small = layers.iter().filter(|layer| layer.size <= limits::MANIFEST);
            let mut layers = small.filter(|layer| layer.media_type == kind);
            let layer = layers.next();
            let bytes = layer.map(|layer| self.blob(repo, layer)).transpose();
            Ok(bytes?)
        };
        Ok(ManifestEvidence::find(read)?)
    }
}
