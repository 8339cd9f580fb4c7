//! What a registry lists: the tags of a repository, and what belongs to a manifest; among that our
//! signatures, each with the list of the skill's files that it is of.

use serde::Deserialize;

use crate::error::Result;
use crate::marketplace::fetch::Failure;
use crate::marketplace::reference::{OciDigest, OciRepo};
use crate::marketplace::registry::client::{PULL, refusal};
use crate::marketplace::registry::http::Send;
use crate::marketplace::registry::{Client, Descriptor, Manifest, media_type};
use crate::marketplace::signature::ManifestEvidence;
use crate::signing::SSH_SIGNATURE;
use crate::sys::limits;

/// How many signatures of one skill are looked at.
const SIGNATURES: usize = 16;
/// How many pages of tags or referrers are read.
const PAGES: usize = 20;

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

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
    ) -> Result<Vec<ManifestEvidence>, Failure> {
        let listed = self.referrers(repo, subject, media_type::SIGNATURE)?;
        let newest = listed.iter().rev().take(SIGNATURES);
        let found = newest.filter_map(|one| self.signed(repo, subject, one).ok().flatten());
        Ok(found.collect())
    }

    fn signed(
        &self,
        repo: &OciRepo,
        subject: &OciDigest,
        listed: &Descriptor,
    ) -> Result<Option<ManifestEvidence>, Failure> {
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
        Ok(ManifestEvidence::find(read)?)
    }

    /// The tags of a repository, as far as it lists them.
    ///
    /// # Errors
    /// When the registry cannot be asked.
    pub fn tags(&self, repo: &OciRepo) -> Result<Vec<String>, Failure> {
        let mut all = Vec::new();
        self.pages(repo, "tags/list", &mut |bytes| {
            let tags: Option<Tags> = serde_json::from_slice(bytes).ok();
            all.extend(tags.and_then(|tags| tags.tags).unwrap_or_default());
        })?;
        Ok(all)
    }

    /// What has this manifest for its subject and is of this type: by the registry's list, or where
    /// it keeps none, by that under the tag `sha256-HEX`. Empty if the registry shows neither.
    ///
    /// # Errors
    /// When the registry cannot be reached.
    pub fn referrers(
        &self,
        repo: &OciRepo,
        subject: &OciDigest,
        artifact_type: &str,
    ) -> Result<Vec<Descriptor>, Failure> {
        let is_meant = |one: &Descriptor| one.artifact_type.as_deref() == Some(artifact_type);
        let mut all: Vec<Descriptor> = Vec::new();
        if self.offline {
            let kept = self.store.referrers(subject);
            let kept = kept.and_then(|kept| serde_json::from_slice(&kept).ok());
            all = kept.unwrap_or_default();
        } else {
            let path = format!("referrers/{subject}");
            let mut add = |bytes: &[u8]| {
                let index = Manifest::parse(bytes).ok();
                let listed = index.and_then(|index| index.manifests).unwrap_or_default();
                all.extend(listed.into_iter().filter(is_meant));
            };
            if !self.pages(repo, &path, &mut add)? {
                let tag = format!("manifests/sha256-{}", subject.hex());
                let asked = self.ask(repo, PULL, &tag, Send::Nothing, limits::INDEX)?;
                if asked.0.status == 200 {
                    add(&asked.1);
                } else if asked.0.status >= 500 {
                    return Err(refusal(&asked.0, repo, "the list of signatures"));
                }
            }
            if let Ok(bytes) = serde_json::to_vec(&all) {
                let scratch = self.tool.scratch;
                self.store.put_referrers(subject, &bytes, scratch);
            }
        }
        all.retain(is_meant);
        Ok(all)
    }

    /// Reads all pages of a list, which are at most [`limits::INDEX`] bytes together. Whether the registry has that list.
    fn pages(
        &self,
        repo: &OciRepo,
        path: &str,
        add: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, Failure> {
        let mut url = self.place(repo, path)?;
        let mut left = limits::INDEX;
        for page in 0..PAGES {
            let (head, bytes) = self.ask_at(repo, PULL, &url, Send::Nothing, left)?;
            left = left.saturating_sub(bytes.len() as u64);
            match head.status {
                200 => add(&bytes),
                429 | 500.. => return Err(refusal(&head, repo, &format!("`{path}`"))),
                _ => return Ok(page > 0),
            }
            let next = head.get("link").and_then(|link| {
                let (url, rest) = link.strip_prefix('<')?.split_once('>')?;
                rest.contains("next").then_some(url)
            });
            let Some(next) = next.map(|next| url.led(next)).transpose()? else {
                return Ok(true);
            };
            if next.url().host() != url.url().host() || next.url() == url.url() || left == 0 {
                return Ok(true);
            }
            url = next;
        }
        Ok(true)
    }
}
