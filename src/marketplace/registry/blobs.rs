//! Blobs of a registry: each is checked against its digest before anybody sees it, kept, and
//! continued where it broke off.

use std::io::{self, Write};

use crate::error::Result;
use crate::marketplace::fetch::{Class, Failure, patience};
use crate::marketplace::reference::{OciDigest, OciRepo};
use crate::marketplace::registry::client::{
    PULL, answer_fits, not_here, other, refusal, wants_login,
};
use crate::marketplace::registry::http::{Request, Send, send_into};
use crate::marketplace::registry::{Client, Descriptor};
use crate::sys::limits;

/// How many redirects to a store of blobs are followed.
const REDIRECTS: usize = 5;
/// What an answer other than the blob may have, in bytes.
const REFUSAL: u64 = 64 * 1024;
/// How often a blob is begun or continued in one command.
const ATTEMPTS: usize = 3;

impl Client<'_> {
    /// A blob, which has exactly the descriptor's digest and size. What is kept is not asked for;
    /// what broke off, even in another command, is continued.
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
        let kept = || self.store.get(digest, limits::DOWNLOAD);
        if let Some(bytes) = kept() {
            return sized(repo, wanted, bytes);
        }
        if self.offline {
            return Err(not_here(&format!("{repo}@{digest}")));
        }
        let _turn = self.store.turn(digest, patience(self.tool.deadline))?;
        // Another command may have fetched it meanwhile.
        let bytes = match kept() {
            Some(bytes) => bytes,
            None => self.fetch_blob(repo, wanted)?,
        };
        sized(repo, wanted, bytes)
    }

    /// Fetches a blob, of which a part may be there. The caller has the turn.
    fn fetch_blob(&self, repo: &OciRepo, wanted: &Descriptor) -> Result<Vec<u8>, Failure> {
        let digest = &wanted.digest;
        let mut failed = None;
        for _ in 0..ATTEMPTS {
            let part = self.store.part(digest)?;
            let io = |error: io::Error| self.tool.local(&error);
            let start = part.metadata().map_err(io)?.len();
            if start < wanted.size {
                match self.continue_blob(repo, wanted, start) {
                    Ok(()) => {}
                    // What came is kept, and the rest is asked for again if something came.
                    Err(failure) => {
                        let now = part.metadata().map_err(io)?.len();
                        if now > wanted.size {
                            self.store.end_part(digest, false);
                            return Err(other(repo, digest).into());
                        }
                        if now <= start || failure.class == Class::TimedOut {
                            return Err(failure);
                        }
                        failed = Some(failure);
                        continue;
                    }
                }
            }
            let bytes = self.store.part_bytes(digest, wanted.size);
            if let Some(bytes) = bytes.filter(|bytes| OciDigest::of(bytes) == *digest) {
                self.store.end_part(digest, true);
                self.has_fetched.set(true);
                return Ok(bytes);
            }
            self.store.end_part(digest, false);
            // An old part may have been damaged; a whole blob is simply another one.
            if start == 0 {
                return Err(other(repo, digest).into());
            }
        }
        Err(failed.unwrap_or_else(|| other(repo, digest).into()))
    }

    /// Appends what is missing to the part of a blob.
    fn continue_blob(
        &self,
        repo: &OciRepo,
        wanted: &Descriptor,
        start: u64,
    ) -> Result<(), Failure> {
        let digest = &wanted.digest;
        let mut url = self.place(repo, &format!("blobs/{digest}"))?;
        let mut answer = self.known_answer(repo, PULL);
        let mut has_asked = false;
        for _ in 0..=REDIRECTS {
            let part = self.store.part(digest)?;
            let request = Request {
                url: &url,
                send: Send::Nothing,
                headers: answer.iter().cloned().collect(),
                // A server that ignores where to start sends all of it.
                max: start + wanted.size + REFUSAL,
            };
            let (head, part) = send_into(&self.tool, &request, part, Some(start))?;
            let io = |error: io::Error| self.tool.local(&error);
            if head.status == 206 || head.status == 200 && start == 0 {
                return Ok(());
            }
            if head.status == 200 {
                let all = self.store.part_bytes(digest, start + wanted.size);
                let all = all.unwrap_or_default();
                // It is not longer than what is in memory.
                let at = usize::try_from(start).unwrap_or(usize::MAX);
                part.set_len(0).map_err(io)?;
                let whole = all.get(at..).unwrap_or_default();
                return (&part).write_all(whole).map_err(io);
            }
            // This was the body of another answer.
            part.set_len(if head.status == 416 { 0 } else { start })
                .map_err(io)?;
            if let Some(to) = head.redirect() {
                url = url.led(to)?;
                // What is for the registry is not for its store.
                answer = None;
            } else if head.status == 401 && !has_asked && answer_fits(&url, repo)? {
                has_asked = true;
                answer = self.challenged(repo, PULL, &head)?;
                if answer.is_none() {
                    return Err(wants_login(repo, head.status));
                }
            } else {
                return Err(refusal(&head, repo, &format!("the blob {digest}")));
            }
        }
        let text = format!("`{repo}` redirects more than {REDIRECTS} times");
        Err(Failure::new(Class::Other, text))
    }
}

/// Checks the size of a blob.
fn sized(repo: &OciRepo, wanted: &Descriptor, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if bytes.len() as u64 == wanted.size {
        return Ok(bytes);
    }
    Err(other(repo, &wanted.digest).into())
}
