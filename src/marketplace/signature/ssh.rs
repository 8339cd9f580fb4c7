//! Signatures of ssh keys. Git and `ssh-keygen` say whether one is by the key that it names: the file
//! of signers that they get lists this key alone. Whose key it is, and whether it counts, is read from
//! the files of signers here, be it at an install or of a signer that the user's record pins.

use std::path::Path;

use crate::error::Result;
use crate::marketplace::signature::key_set::KeySet;
use crate::signing::SshSignature;
use crate::signing::{Covers, Key, KeyKind, Listed, Namespace, Signature, Signer, SshKey};
use crate::sys::{EntryName, files, limits};

const SIGNATURE: EntryName = EntryName::from_static("signature");
const SIGNERS: EntryName = EntryName::from_static("signers");
const REVOKED: EntryName = EntryName::from_static("revoked");
const KEY: EntryName = EntryName::from_static("key.pub");
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
        self.check_ssh(armored, Covers::Manifest, |signers| {
            let signature = self.write(&SIGNATURE, armored.as_bytes())?;
            let mut command = self.command("ssh-keygen")?;
            command.args(["-Y", "verify", "-n", Namespace::Skill.as_str(), "-I", WHO]);
            command.arg("-f").arg(signers).arg("-s").arg(signature);
            let ran = self.programs.run(command, signed)?;
            let bytes = files::read_all_capped(ran.output, limits::SIGNERS);
            let bytes = bytes.map_err(|error| self.programs.0.local(&error))?;
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
        covers: Covers,
        verify: impl FnOnce(&Path) -> Result<std::result::Result<String, Signature>>,
    ) -> Result<Signature> {
        let Some(ssh) = SshSignature::parse(armored) else {
            return Ok(Signature::bad("its signature is not one of ssh-keygen's"));
        };
        if ssh.namespace != Namespace::of(covers).as_str() {
            return Ok(Signature::bad("it was made for another purpose"));
        }
        if self.programs.find("ssh-keygen").is_err() {
            return Ok(Signature::without("ssh-keygen"));
        }
        let signers = format!("{WHO} {}\n", ssh.key.written());
        let fingerprint = match verify(&self.write(&SIGNERS, signers.as_bytes())?)? {
            Ok(fingerprint) => fingerprint,
            Err(other) => return Ok(other),
        };
        self.trust_ssh(&Signer {
            principal: None,
            key: Key::new(KeyKind::Ssh, &fingerprint)?,
            signed: covers,
            public: Some(ssh.key.written()),
        })
    }

    /// The signature by a key, in the light of who is listed and revoked now.
    ///
    /// # Errors
    /// When `ssh-keygen` does not answer.
    pub fn trust_ssh(&self, signer: &Signer) -> Result<Signature> {
        let key = signer.public.as_deref().and_then(SshKey::parse);
        let fingerprint = signer.key.fingerprint.to_string();
        let certificate = key.as_ref().and_then(SshKey::certificate);
        let issuer = certificate.as_ref().map(|of| &of.authority);
        let whole = key.as_ref().map(SshKey::fingerprint);
        let keys = [Some(&fingerprint), issuer, whole.as_ref()];
        let is_on_list = match &key {
            Some(key) => self.is_on_list(key)?,
            None => Some(self.krl.is_some()),
        };
        let Some(is_on_list) = is_on_list else {
            let why = "ssh-keygen could not read the list of revoked keys";
            return Ok(Signature::unchecked(why.to_owned()));
        };
        let revoked = keys.into_iter().flatten().find(|key| self.revokes(key));
        if let Some(revoked) = revoked.or(is_on_list.then_some(&fingerprint)) {
            return Ok(Signature::bad(format!("the key {revoked} was revoked")));
        }
        let counting = self.counting(Namespace::of(signer.signed));
        let principal = match &certificate {
            None => {
                let lists = |line: &&Listed| line.fingerprint.as_ref() == Some(&fingerprint);
                let mut lines = counting.filter(|line| lists(line) && !line.is_authority());
                lines.find_map(Listed::principal)
            }
            Some(of) if of.valid.contains(&(self.now.0 / 1000)) => counting
                .filter(|line| {
                    line.is_authority() && line.fingerprint.as_ref() == Some(&of.authority)
                })
                .find_map(|line| of.principals.iter().find(|name| line.is_of(name)))
                .map(String::as_str),
            Some(_) => None,
        };
        if principal.is_none() && key.is_some_and(|key| key.is_certificate()) {
            // Its own key says nothing without who issued it, and for how long.
            let why =
                "by a certificate that nobody listed here has issued for this purpose and time";
            return Ok(Signature::unchecked(why.to_owned()));
        }
        let mut listed = self.signers.of_kind(KeyKind::Ssh);
        if principal.is_none() && listed.any(|one| one.fingerprint.as_ref() == Some(&fingerprint)) {
            let text = format!("the key {fingerprint} is listed, but not for");
            return Ok(Signature::bad(format!("{text} this purpose and time")));
        }
        Ok(Signature::Good(Signer {
            principal: principal.map(str::to_owned),
            ..signer.clone()
        }))
    }

    /// Whether the binary list of revoked keys has the key, or who issued it; `None` if nobody can tell.
    fn is_on_list(&self, key: &SshKey) -> Result<Option<bool>> {
        let Some(krl) = &self.krl else {
            return Ok(Some(false));
        };
        let revoked = self.write(&REVOKED, krl)?;
        let file = self.write(&KEY, format!("{}\n", key.written()).as_bytes())?;
        let mut command = self.command("ssh-keygen")?;
        command.args(["-Q", "-f"]).arg(revoked).arg(file);
        Ok(match self.programs.run(command, "")?.status.code() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        })
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
