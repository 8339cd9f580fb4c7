//! What may prove who signed a skill: the commit or tag that it was fetched from, a signed manifest,
//! or what the user's own record says.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use crate::marketplace::lock::Files;
use crate::marketplace::prelude::*;
use crate::marketplace::verification::git::GitProof;
use crate::marketplace::verification::key_set::KeySet;
use crate::signing::{MANIFEST, Manifest, SSH_SIGNATURE, Signature, Signer, digest};

/// What may prove the signature of a skill.
#[derive(Debug, Clone)]
pub enum Proof {
    /// The commit that its files are of, or the tag that leads to that.
    Git(Rc<GitProof>),
    /// A manifest that its files are compared with.
    Manifest(ManifestProof),
    /// What the user's own record says of files that have not changed since they were installed.
    Pinned(Signer),
    /// Nothing, and why.
    Wrong(String),
}

/// A manifest with its signature, each as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ManifestProof {
    /// The manifest, as it was signed.
    pub manifest: String,
    /// The signature of `ssh-keygen`.
    pub ssh: String,
}

/// Signed manifests that are not in the skills themselves, by the paths of the skills. Of several for
/// one skill, any may be the one that holds.
pub type ManifestProofs = BTreeMap<String, Vec<ManifestProof>>;

impl Proof {
    /// Whether nothing else can make up for it if it does not hold: many may put a manifest beside a
    /// skill, and only one made the commit.
    pub fn is_alone(&self) -> bool {
        !matches!(self, Self::Manifest(_))
    }

    /// What it says of the files of the skill `name`, in the light of these keys.
    ///
    /// # Errors
    /// When a program does not answer, or the disk is full.
    pub fn check(&self, keys: &KeySet, name: &str, files: &Files) -> Result<Signature> {
        match self {
            Self::Git(proof) => keys.check_git(proof),
            Self::Manifest(proof) => proof.check(keys, name, files),
            Self::Wrong(why) => Ok(Signature::bad(why)),
            Self::Pinned(signer) => Ok(keys.trust(signer)),
        }
    }
}

impl ManifestProof {
    /// What `read` finds under the manifest's name and under that of its signature; `None` without a
    /// manifest or without a signature of it.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn find(mut read: impl FnMut(&str) -> Result<Option<Vec<u8>>>) -> Result<Option<Self>> {
        let text = |bytes: Option<Vec<u8>>| {
            bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let Some(manifest) = text(read("")?) else {
            return Ok(None);
        };
        let ssh = text(read(SSH_SIGNATURE)?);
        Ok(ssh.map(|ssh| Self { manifest, ssh }))
    }

    /// The manifest in a skill's directory, if it is signed.
    ///
    /// # Errors
    /// When a file there cannot be read.
    pub fn inside(skill: &Path) -> Result<Option<Self>> {
        let Ok(dir) = Dir::anchor(skill) else {
            return Ok(None);
        };
        Self::find(|end| {
            let Some(name) = EntryName::parse(format!("{MANIFEST}{end}")) else {
                return Ok(None);
            };
            let read = files::if_there(dir.read(&name, limits::MANIFEST));
            read.map_err(|error| dir.error("read", &name, &error))
        })
    }

    fn check(&self, keys: &KeySet, name: &str, present: &Files) -> Result<Signature> {
        let manifest = match Manifest::parse(&self.manifest) {
            Ok(manifest) => manifest,
            Err(error) => return Ok(Signature::bad(error.to_string())),
        };
        let present = present
            .paths()
            .map(|path| (path, present.get(path).unwrap_or_default()));
        // None of its own files may be executable.
        let own = [&self.manifest, &self.ssh].map(|text| digest(text.as_bytes(), false));
        if let Some(why) = manifest.first_difference(name, present, &own) {
            return Ok(Signature::bad(why));
        }
        keys.check_manifest(&self.ssh, &self.manifest)
    }
}
