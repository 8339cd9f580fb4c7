//! Manifests and their signatures: where they are, beside an archive or in a skill's directory, and
//! whether they hold. `ssh-keygen` checks them.

use std::path::Path;

use crate::error::Result;
use crate::marketplace::lock::Files;
use crate::marketplace::signature::evidence::ManifestEvidence;
use crate::marketplace::signature::key_files::KeyFiles;
use crate::marketplace::signature::programs::Programs;
use crate::marketplace::signature::ssh;
use crate::signing::{Covers, MANIFEST, Manifest, Namespace, SSH_SIGNATURE, Signature, digest};
use crate::sys::{Dir, EntryName, limits};

impl ManifestEvidence {
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

    /// The digests of these files, none of which may be executable.
    fn digests(&self) -> [String; 2] {
        [&self.manifest, &self.ssh].map(|text| digest(text.as_bytes(), false))
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
            let read = crate::sys::files::if_there(dir.read(&name, limits::MANIFEST));
            read.map_err(|error| dir.error("read", &name, &error))
        })
    }
}

fn bad(why: impl Into<String>) -> Signature {
    Signature::Bad { why: why.into() }
}

/// Checks a manifest and its signature against the files of the skill `name`.
///
/// # Errors
/// When a program does not answer.
pub fn check(
    programs: &Programs,
    files: &KeyFiles,
    evidence: &ManifestEvidence,
    (name, present): (&str, &Files),
) -> Result<Signature> {
    let manifest = match Manifest::parse(&evidence.manifest) {
        Ok(manifest) => manifest,
        Err(error) => return Ok(bad(error.to_string())),
    };
    let present = present
        .paths()
        .map(|path| (path, present.get(path).unwrap_or_default()));
    if let Some(why) = manifest.differs(name, present, &evidence.digests()) {
        return Ok(bad(why));
    }
    let signed = evidence.manifest.as_bytes();
    let purpose = (Namespace::Skill, Covers::Manifest);
    ssh::check(programs, files, &evidence.ssh, signed, purpose)
}
