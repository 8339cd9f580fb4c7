//! Public keys for files of signers: that of an installed skill's signer, and the fingerprints of
//! OpenPGP keys, which only gpg can tell.

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::lock::LockEntry;
use crate::marketplace::signature::key_set::KeySet;
use crate::signing::{KeyKind, Signers};

impl Market<'_> {
    /// The fingerprints of the OpenPGP keys among these, each with the number of its line: several if
    /// more than one key was exported, and none of what gpg does not take.
    ///
    /// # Errors
    /// When gpg is missing or does not answer.
    pub fn openpgp_fingerprints(&self, signers: &Signers) -> Result<Vec<(String, usize)>> {
        if signers.of_kind(KeyKind::Openpgp).next().is_none() {
            return Ok(Vec::new());
        }
        let staging = self.home_staging()?;
        let programs = self.programs(&staging);
        programs.find("gpg")?;
        let keys = KeySet::listing(programs, signers.clone());
        Ok(keys.openpgp()?.to_vec())
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
            Error::new(text).hint("get the public key from its author, and give its file")
        })
    }
}
