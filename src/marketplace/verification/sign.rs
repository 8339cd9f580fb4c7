//! Signs manifests with the user's own `ssh-keygen`, which has their keys, agent and hardware, and
//! asks at their terminal for a passphrase or a touch; and tells public keys for files of signers.

use std::path::Path;
use std::process::Stdio;

use crate::marketplace::Market;
use crate::marketplace::fetch::FetchFailure;
use crate::marketplace::lock::LockEntry;
use crate::marketplace::prelude::*;
use crate::signing::{KeyKind, Manifest, PublicKey, SSH_SIGNATURE, SignedObject, SshSignature};

const MANIFEST: EntryName = EntryName::from_static("manifest");

/// A manifest that was signed.
#[derive(Debug)]
pub struct SignedManifest {
    /// The manifest's text.
    pub manifest: String,
    /// The signature, as `ssh-keygen` writes it.
    pub signature: String,
    /// The key that signed.
    pub key: PublicKey,
}

impl Market<'_> {
    /// Signs a manifest with a private ssh key, or the public one of a key that the agent or a
    /// security key holds.
    ///
    /// # Errors
    /// When `ssh-keygen` is missing or does not sign, or what it writes does not hold.
    pub fn sign(&self, manifest: &Manifest, key: &Path) -> Result<SignedManifest> {
        let (manifest, purpose) = (manifest.render(), SignedObject::Manifest.namespace());
        let staging = self.home_staging()?;
        let scratch = staging.scratch();
        let tool = self.tool(&staging);
        let program = tool.find("ssh-keygen")?;
        let written = scratch.replace(&MANIFEST, manifest.as_bytes(), 0o600, Durable::No);
        written.map_err(|error| scratch.error("write", &MANIFEST, &error))?;
        let mut command = tool.command(&program.to_string_lossy());
        command.args(["-q", "-Y", "sign", "-n", purpose, "-f"]);
        command.arg(key).arg(scratch.path_of(&MANIFEST));
        // It says on standard error what it waits for, and asks at the terminal.
        command.stdout(Stdio::null());
        let status = command.status();
        let status = status.map_err(|error| FetchFailure::not_started("ssh-keygen", &error))?;
        let not_signed = || {
            let text = format!("ssh-keygen has not signed with `{}`", key.display());
            Error::new(text).hint(
                "give the file of a private ssh key, or of the public one whose private key is in \
                 the agent or on a security key",
            )
        };
        let armored = EntryName::parse(format!("manifest{SSH_SIGNATURE}"))
            .filter(|_| status.success())
            .and_then(|name| scratch.read(&name, limits::MANIFEST).ok());
        let signature = armored.and_then(|bytes| String::from_utf8(bytes).ok());
        let signature = signature.ok_or_else(not_signed)?;
        let read = SshSignature::parse(&signature);
        let read = read.filter(|read| read.namespace == purpose);
        let fingerprint = read.ok_or_else(not_signed)?.fingerprint;
        Ok(SignedManifest {
            manifest,
            signature,
            key: PublicKey::new(KeyKind::Ssh, &fingerprint)?,
        })
    }

    /// The ssh key that signed an installed skill, as a file of signers has it, if its signature
    /// still counts.
    ///
    /// # Errors
    /// When the signature does not hold now, or its key is not known completely, as of OpenPGP.
    pub fn signers_key(&self, entry: &LockEntry) -> Result<String> {
        let signature = self.signature(entry)?.signature;
        let Some(signer) = signature.signer() else {
            let text = format!("`{}` has no signer: it is {signature}", entry.name);
            return Err(Error::new(text).hint("`agent-skills info` says who signed what"));
        };
        let is_ssh = signer.key.kind == KeyKind::Ssh;
        signer.public.clone().filter(|_| is_ssh).ok_or_else(|| {
            let text = format!("the signature of `{}` does not contain its key", entry.name);
            Error::new(text).hint(format!("give its fingerprint, {}", signer.key.fingerprint))
        })
    }
}
