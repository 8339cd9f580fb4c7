//! Signatures of ssh keys. Git and `ssh-keygen` say whether one is by the key that it names: the file
//! of signers that they get lists this key alone. Whose key it is, and whether it counts, is said by
//! `KeySet::trust`.

use std::path::Path;

use crate::marketplace::prelude::*;
use crate::marketplace::verification::key_set::KeySet;
use crate::signing::{KeyKind, PublicKey, Signature, SignedObject, Signer, SshSignature};

const SIGNATURE: EntryName = EntryName::from_static("signature");
const SIGNERS: EntryName = EntryName::from_static("signers");
/// What that file calls the key.
const WHO: &str = "signer";

/// What `program` says of a signature: the fingerprint of the key by which it holds, or what it is. It
/// is wrong only if it was looked at: a program fails in many ways.
pub fn said(program: &str, accepts: bool, printed: &str) -> std::result::Result<String, Signature> {
    // `Good "git" signature for signer with ED25519 key SHA256:…`; of a certificate, that of the
    // key in it. What no listed key has signed is good for nobody.
    let mut lines = printed.lines().filter(|line| line.starts_with("Good \""));
    let good = lines.find_map(|line| {
        let (_, key) = line.split_once(&format!(" signature for {WHO} with "))?;
        let (_, fingerprint) = key.rsplit_once(" key ")?;
        Some(fingerprint.trim().to_owned())
    });
    good.filter(|_| accepts).ok_or_else(|| {
        if printed.contains("Could not verify signature") {
            Signature::bad("it is not of these files, or not of this key")
        } else {
            Signature::unchecked(format!("{program} could not check it"))
        }
    })
}

impl KeySet<'_> {
    /// Checks the armored signature of a manifest.
    ///
    /// # Errors
    /// When `ssh-keygen` does not answer, or the disk is full.
    pub fn check_manifest(&self, armored: &str, signed: &str) -> Result<Signature> {
        self.check_ssh(armored, SignedObject::Manifest, |signers| {
            let signature = self.write(&SIGNATURE, armored.as_bytes())?;
            let mut command = self.tool.checking("ssh-keygen")?;
            command.args([
                "-Y",
                "verify",
                "-n",
                SignedObject::Manifest.namespace(),
                "-I",
                WHO,
            ]);
            command.arg("-f").arg(signers).arg("-s").arg(signature);
            let ran = self.tool.run(command, signed, limits::SIGNERS)?;
            let bytes = files::read_all_capped(ran.output, limits::SIGNERS);
            let bytes = bytes.map_err(|error| self.tool.local(&error))?;
            let printed = String::from_utf8_lossy(&bytes);
            Ok(said("ssh-keygen", ran.status.success(), &printed))
        })
    }

    /// Checks an armored signature. `verify` gets a file that lists its key, and answers as [`said`].
    ///
    /// # Errors
    /// Those of `verify`; when `ssh-keygen` does not answer.
    pub fn check_ssh(
        &self,
        armored: &str,
        covers: SignedObject,
        verify: impl FnOnce(&Path) -> Result<std::result::Result<String, Signature>>,
    ) -> Result<Signature> {
        let Some(ssh) = SshSignature::parse(armored) else {
            return Ok(Signature::bad("its signature is not one of ssh-keygen's"));
        };
        if ssh.namespace != covers.namespace() {
            return Ok(Signature::bad("it was made for another purpose"));
        }
        if self.tool.find("ssh-keygen").is_err() {
            return Ok(Signature::without("ssh-keygen"));
        }
        let signers = format!("{WHO} {}\n", ssh.key);
        let fingerprint = match verify(&self.write(&SIGNERS, signers.as_bytes())?)? {
            Ok(fingerprint) => fingerprint,
            Err(other) => return Ok(other),
        };
        Ok(self.trust(&Signer {
            principal: None,
            key: PublicKey::new(KeyKind::Ssh, &fingerprint)?,
            signed: covers,
            public: Some(ssh.key),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_looked_at_is_wrong() {
        let good = "Good \"git\" signature for signer with ED25519 key SHA256:abc";
        assert_eq!(said("git", true, good).unwrap(), "SHA256:abc");
        let nobody = "Good \"git\" signature with ED25519 key SHA256:abc\nNo principal matched.";
        for (accepts, printed, is_bad) in [
            (false, good, false),
            (true, nobody, false),
            (false, nobody, false),
            (true, "", false),
            (false, "unknown option -- Y\nusage: ssh-keygen [-q]", false),
            (false, "error: no signature found", false),
            (
                false,
                "Could not verify signature.\nSignature verification failed",
                true,
            ),
        ] {
            let other = said("git", accepts, printed).unwrap_err();
            assert_eq!(matches!(other, Signature::Bad { .. }), is_bad, "{printed}");
        }
    }
}
