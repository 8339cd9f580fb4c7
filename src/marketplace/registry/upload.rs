//! Writes to a registry: blobs, then the manifest that names them.

use crate::error::{Error, Result};
use crate::marketplace::fetch::Failure;
use crate::marketplace::reference::{OciDigest, OciRepo};
use crate::marketplace::registry::Client;
use crate::marketplace::registry::client::{PUSH, refusal};
use crate::marketplace::registry::http::Send;

/// What an answer to an upload may have, in bytes.
const ANSWER: u64 = 1024 * 1024;
/// The type of a blob while it is sent.
const BYTES: &str = "application/octet-stream";

impl Client<'_> {
    /// Sends a blob unless the repository has it. Returns whether it was sent.
    ///
    /// # Errors
    /// When the registry cannot be asked, or does not take it.
    pub fn put_blob(&self, repo: &OciRepo, bytes: &[u8]) -> Result<bool, Failure> {
        let digest = OciDigest::of(bytes);
        let what = format!("the blob {digest}");
        let (head, _) = self.ask(repo, PUSH, &format!("blobs/{digest}"), Send::Head, ANSWER)?;
        if head.status == 200 {
            return Ok(false);
        }
        let begin = Send::Bytes("POST", BYTES, b"");
        let own = self.place(repo, "blobs/uploads/")?;
        let (head, _) = self.ask_at(repo, PUSH, &own, begin, ANSWER)?;
        let place = head.get("location").filter(|_| head.status == 202);
        let place = place.ok_or_else(|| refusal(&head, repo, &what))?;
        let join = if place.contains('?') { '&' } else { '?' };
        let hex = digest.hex();
        let url = own.led(&format!("{place}{join}digest=sha256%3A{hex}"))?;
        let send = Send::Bytes("PUT", BYTES, bytes);
        let (head, _) = self.ask_at(repo, PUSH, &url, send, ANSWER)?;
        match head.status {
            201 | 204 => Ok(true),
            _ => Err(refusal(&head, repo, &what)),
        }
    }

    /// Sends a manifest or an index under a tag or its digest. Returns its digest, and whether the
    /// registry has understood that it has a subject.
    ///
    /// # Errors
    /// When the registry cannot be asked, or does not take it.
    pub fn put_manifest(
        &self,
        repo: &OciRepo,
        under: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Result<(OciDigest, bool), Failure> {
        let path = format!("manifests/{under}");
        let send = Send::Bytes("PUT", media_type, bytes);
        let (head, _) = self.ask(repo, PUSH, &path, send, ANSWER)?;
        if !matches!(head.status, 200..=202) {
            return Err(refusal(&head, repo, &format!("the manifest `{under}`")));
        }
        let digest = OciDigest::of(bytes);
        let told = head.get("docker-content-digest");
        if told.is_some_and(|told| told != digest.as_str()) {
            let text = format!("`{repo}` has kept something else than {digest}");
            return Err(Error::new(text).hint("tell the registry's owner").into());
        }
        Ok((digest, head.get("oci-subject").is_some()))
    }
}
