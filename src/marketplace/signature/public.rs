//! Public keys for files of signers: that of an installed skill's signer, and the fingerprints of
//! OpenPGP keys, which only gpg can tell.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::lock::LockEntry;
use crate::marketplace::signature::commit::armored;
use crate::marketplace::signature::evidence::{Evidence, ManifestEvidence};
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::openpgp;
use crate::marketplace::signature::store::kept;
use crate::signing::{KeyKind, Signers, SshSignature, ssh_fingerprint, ssh_kind};

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
        let keys = Keys::listing(Signers::parse(&lines)?);
        let keyring = openpgp::import(&programs, &keys)?;
        for (fingerprint, at) in keyring.fingerprints() {
            if let Some(of_one) = at
                .parse()
                .ok()
                .and_then(|at: usize| fingerprints.get_mut(at))
            {
                of_one.push(fingerprint.to_owned());
            }
        }
        Ok(fingerprints)
    }

    /// The ssh key that signed an installed skill, as a file of signers has it, after its signature
    /// was checked again.
    ///
    /// # Errors
    /// When the signature does not hold now, or its key is not in it, as of OpenPGP.
    pub fn signers_key(&self, entry: &LockEntry) -> Result<String> {
        let checked = self.signatures(&[entry])?.pop();
        let signature = checked.map(|checked| checked.signature);
        let Some(signer) = signature.as_ref().and_then(|found| found.signer()) else {
            let now = signature.map_or_else(String::new, |found| format!(": it is {found}"));
            let text = format!("`{}` has no signer{now}", entry.name);
            return Err(Error::new(text).hint("`agent-skills info` says who signed what"));
        };
        let evidence = match &entry.evidence {
            Some(id) => kept(self.plugin_dir, id),
            None => ManifestEvidence::inside(&self.dir(&entry.name))?.map(Evidence::Manifest),
        };
        let texts: Vec<String> = match evidence {
            Some(Evidence::Git(git)) => {
                let objects = git.objects.iter();
                objects
                    .filter_map(|object| armored(object.kind, &object.bytes))
                    .collect()
            }
            Some(Evidence::Manifest(manifest)) => vec![manifest.ssh],
            None => Vec::new(),
        };
        let mut keys = texts
            .iter()
            .filter_map(|text| SshSignature::parse(text))
            .map(|signature| signature.key);
        let is_it = |key: &Vec<u8>| *ssh_fingerprint(key) == *signer.key.fingerprint;
        let key = keys.find(is_it).filter(|_| signer.key.kind == KeyKind::Ssh);
        let kind = key.as_deref().and_then(ssh_kind);
        let (Some(key), Some(kind)) = (&key, kind) else {
            let text = format!("the signature of `{}` does not contain its key", entry.name);
            return Err(
                Error::new(text).hint("get the public key from its author, and give its file")
            );
        };
        Ok(format!("{kind} {}", STANDARD.encode(key)))
    }
}
