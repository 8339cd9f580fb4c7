//! Blobs of a registry: each is checked against its digest before anybody sees it, and kept.

use crate::error::Result;
use crate::marketplace::fetch::{Class, Failure};
use crate::marketplace::reference::{OciDigest, OciRepo};
use crate::marketplace::registry::client::{PULL, not_here, other, refusal};
use crate::marketplace::registry::http::Send;
use crate::marketplace::registry::{Client, Descriptor};
use crate::sys::limits;

/// How many redirects to a store of blobs are followed.
const REDIRECTS: usize = 5;
/// What an answer other than the blob may have, in bytes.
const REFUSAL: u64 = 64 * 1024;

impl Client<'_> {
    /// A blob, which has exactly the descriptor's digest and size. What is kept is not asked for.
    ///
    /// # Errors
    /// When it is larger than [`limits::DOWNLOAD`] or elsewhere, the registry cannot be asked, or
    /// what it sends is something else.
    pub fn blob(&self, repo: &OciRepo, wanted: &Descriptor) -> Result<Vec<u8>, Failure> {
        let digest = &wanted.digest;
        if wanted.size > limits::DOWNLOAD {
            let text = format!(
                "`{repo}` has a blob of {} bytes; {} are the most",
                wanted.size,
                limits::DOWNLOAD
            );
            return Err(Failure::new(Class::TooLarge, text));
        }
        let bytes = match self.store.get(digest, limits::DOWNLOAD) {
            Some(kept) => kept,
            None if self.offline => return Err(not_here(&format!("{repo}@{digest}"))),
            None => self.fetch_blob(repo, wanted)?,
        };
        if bytes.len() as u64 == wanted.size {
            return Ok(bytes);
        }
        Err(other(repo, digest).into())
    }

    fn fetch_blob(&self, repo: &OciRepo, wanted: &Descriptor) -> Result<Vec<u8>, Failure> {
        let digest = &wanted.digest;
        let mut url = self.place(repo, &format!("blobs/{digest}"))?;
        for _ in 0..=REDIRECTS {
            let most = wanted.size + REFUSAL;
            let (head, bytes) = self.ask_at(repo, PULL, &url, Send::Nothing, most)?;
            if head.status == 200 && OciDigest::of(&bytes) == *digest {
                self.store.put(digest, &bytes, self.tool.scratch);
                self.has_fetched.set(true);
                return Ok(bytes);
            }
            if head.status == 200 {
                return Err(other(repo, digest).into());
            }
            let Some(to) = head.redirect() else {
                return Err(refusal(&head, repo, &format!("the blob {digest}")));
            };
            url = url.led(to)?;
        }
        let text = format!("`{repo}` redirects more than {REDIRECTS} times");
        Err(Failure::new(Class::Other, text))
    }
}
