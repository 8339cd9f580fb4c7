//! Public keys for files of signers: that of an installed skill's signer, and the fingerprints of
//! OpenPGP keys, which only gpg can tell.

use std::fmt::Write as _;

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::lock::LockEntry;
use crate::marketplace::signature::key_set::KeySet;
use crate::signing::{Signers, SshKey};

impl Market<'_> {
    /// The fingerprints in each of these OpenPGP keys in base64: one, or none if gpg does not take
    /// it, or several if more than one key was exported.
    ///
    /// # Errors
    /// When gpg is missing or does not answer.
    pub fn openpgp_fingerprints(&self, keys: &[&str]) -> Result<Vec<Vec<String>>> {
        let mut fingerprints = vec![Vec::new(); keys.len()];
        if keys.is_empty() {
            return Ok(fingerprints);
        }
        let staging = self.home_staging()?;
        let programs = self.programs(&staging);
        programs.find("gpg")?;
        let mut lines = String::new();
        for (at, key) in keys.iter().enumerate() {
            let _ = writeln!(lines, "{at} openpgp {key}");
        }
        let keys = KeySet::listing(programs, Signers::parse(&lines)?);
        for (fingerprint, at) in keys.openpgp()? {
            if let Some(of_one) = at
                .parse()
                .ok()
                .and_then(|at: usize| fingerprints.get_mut(at))
            {
                of_one.push(fingerprint.clone());
            }
        }
        Ok(fingerprints)
    }

    /// The ssh key that signed an installed skill, as a file of signers has it, if its signature
    /// still counts.
    ///
    /// # Errors
    /// When the signature does not hold now, or its key is not known completely, as of OpenPGP.
    pub fn signers_key(&self, entry: &LockEntry) -> Result<String> {
        let checked = self.signatures(&[entry])?.pop();
        let signature = checked.map(|checked| checked.signature);
        let Some(signer) = signature.as_ref().and_then(|found| found.signer()) else {
            let now = signature.map_or_else(String::new, |found| format!(": it is {found}"));
            let text = format!("`{}` has no signer{now}", entry.name);
            return Err(Error::new(text).hint("`agent-skills info` says who signed what"));
        };
        let public = signer.public.as_deref().and_then(SshKey::parse);
        // A certificate is of another key, which signs nothing itself.
        let key = public.filter(|key| *key.fingerprint() == *signer.key.fingerprint);
        let key = key.ok_or_else(|| {
            let text = format!("the signature of `{}` does not contain its key", entry.name);
            Error::new(text).hint("get the public key from its author, and give its file")
        })?;
        Ok(key.written())
    }
}
