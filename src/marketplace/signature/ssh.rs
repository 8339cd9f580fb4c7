//! Signatures of ssh keys, as `ssh-keygen` finds them good, by itself or for git, and those of pinned
//! signers, of which only the keys are looked at again.

use crate::error::Result;
use crate::marketplace::fetch::Class;
use crate::marketplace::signature::key_set::{KeySet, REVOKED};
use crate::signing::{Certificate, Covers, Key, KeyKind, Listed, Namespace, Signature, Signer};
use crate::signing::{SshKey, SshSignature};
use crate::sys::{EntryName, files, limits};

const SIGNATURE: EntryName = EntryName::from_static("signature");
const KEY: EntryName = EntryName::from_static("key.pub");

/// A key with which `ssh-keygen` finds a signature good, and the principal that it counts for.
pub struct Found {
    pub principal: Option<String>,
    fingerprint: String,
}

impl Found {
    /// What `ssh-keygen` prints of a good signature; `None` for anything else.
    pub fn parse(printed: &str, purpose: Namespace) -> Option<Self> {
        let good = format!("Good \"{}\" signature ", purpose.as_str());
        let line = printed.lines().next()?.strip_prefix(&good)?;
        let (who, fingerprint) = line.rsplit_once(" key ")?;
        // `for PRINCIPAL with KIND`, or `with KIND` alone.
        let principal = who
            .strip_prefix("for ")
            .and_then(|who| who.rsplit_once(" with "));
        Some(Self {
            principal: principal.map(|(principal, _)| principal.to_owned()),
            fingerprint: fingerprint.trim().to_owned(),
        })
    }
}

impl KeySet<'_> {
    /// What an armored signature says, if it can be one for this purpose and checked here; else what
    /// it is.
    ///
    /// # Errors
    /// When `ssh-keygen` cannot be looked for.
    pub fn ssh_signature(
        &self,
        armored: &str,
        purpose: Namespace,
    ) -> Result<std::result::Result<SshSignature, Signature>> {
        let Some(ssh) = SshSignature::parse(armored) else {
            return Ok(Err(Signature::bad(
                "its signature is not one of ssh-keygen's",
            )));
        };
        if ssh.namespace != purpose.as_str() {
            return Ok(Err(Signature::bad("it was made for another purpose")));
        }
        match self.programs.find("ssh-keygen") {
            Err(failure) if failure.class == Class::Missing => {
                Ok(Err(Signature::without("ssh-keygen")))
            }
            found => found.map(|_| Ok(ssh)).map_err(Into::into),
        }
    }

    /// Checks the armored signature of a manifest.
    ///
    /// # Errors
    /// When `ssh-keygen` does not answer, or the disk is full.
    pub fn check_manifest(&self, armored: &str, signed: &str) -> Result<Signature> {
        let purpose = Namespace::Skill;
        let ssh = match self.ssh_signature(armored, purpose)? {
            Ok(ssh) => ssh,
            Err(other) => return Ok(other),
        };
        self.write(&SIGNATURE, armored.as_bytes())?;
        let keygen = |action: &str, who: &[&str]| -> Result<_> {
            let printed = self.printed(action, who, purpose, signed)?;
            Ok(Found::parse(&printed, purpose))
        };
        let mut found = None;
        for principal in self.principals(&ssh.key, purpose)? {
            found = found.or(keygen("verify", &["-I", &principal])?);
        }
        if found.is_none() {
            found = keygen("check-novalidate", &[])?;
        }
        self.ssh_result(Some(&ssh.key), found, Covers::Manifest)
    }

    /// Those who may have signed. Of a certificate only `ssh-keygen` can tell.
    fn principals(&self, key: &SshKey, purpose: Namespace) -> Result<Vec<String>> {
        if key.is_certificate() {
            let found = self.printed("find-principals", &[], purpose, "")?;
            return Ok(found.lines().map(str::to_owned).collect());
        }
        let listed = self.listed(&key.fingerprint(), purpose);
        Ok(listed.map(str::to_owned).into_iter().collect())
    }

    /// The principal that a key is listed for, if it counts.
    fn listed(&self, fingerprint: &str, purpose: Namespace) -> Option<&str> {
        let is_it =
            |key: &&Listed| key.fingerprint.as_deref() == Some(fingerprint) && !key.is_authority();
        Some(self.counting(purpose).find(is_it)?.principal())
    }

    /// What `ssh-keygen` prints if it succeeds.
    fn printed(
        &self,
        action: &str,
        who: &[&str],
        purpose: Namespace,
        signed: &str,
    ) -> Result<String> {
        let mut command = self.command("ssh-keygen")?;
        command.args(["-Y", action, "-n", purpose.as_str(), "-s"]);
        command.arg(self.path_of(&SIGNATURE)?);
        if action != "check-novalidate" {
            command.arg("-f").arg(self.signers_file(purpose)?);
        }
        command.args(who);
        let ran = self.programs.run(command, signed)?;
        if !ran.status.success() {
            return Ok(String::new());
        }
        let bytes = files::read_all_capped(ran.output, limits::SIGNERS);
        let bytes = bytes.map_err(|error| self.programs.0.local(&error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The signature of the signer that the user's lockfile pins: whether the key counts now.
    ///
    /// # Errors
    /// When `ssh-keygen` does not answer.
    pub fn pinned_ssh(&self, signer: &Signer, purpose: Namespace) -> Result<Signature> {
        let key = signer.public.as_deref().and_then(SshKey::parse);
        let certificate = key.as_ref().and_then(SshKey::certificate);
        let principal = match (&certificate, &signer.principal) {
            (None, _) => self
                .listed(&signer.key.fingerprint, purpose)
                .map(str::to_owned),
            (Some(_), None) => None,
            (Some(of), Some(name)) => {
                let issued = |key: &&Listed| {
                    key.is_authority()
                        && key.fingerprint.as_ref() == Some(&of.authority)
                        && key.is_of(name)
                };
                self.counting(purpose).find(issued).map(|_| name.clone())
            }
        };
        let found = Found {
            principal,
            fingerprint: signer.key.fingerprint.to_string(),
        };
        self.ssh_result(key.as_ref(), Some(found), signer.signed)
    }

    /// What it means that `ssh-keygen` finds a signature good, or does not. `key` made it; `None` if a
    /// lockfile does not say which it was.
    ///
    /// # Errors
    /// When `ssh-keygen` does not answer.
    pub fn ssh_result(
        &self,
        key: Option<&SshKey>,
        found: Option<Found>,
        covers: Covers,
    ) -> Result<Signature> {
        let own = key.map(SshKey::fingerprint);
        // The key in a certificate has a fingerprint of its own.
        let inner = found.as_ref().map(|found| &found.fingerprint);
        let mut revoked = own.iter().chain(inner).filter(|key| self.revokes(key));
        let is_revoked = match (revoked.next(), key) {
            (Some(revoked), _) => Some(revoked),
            (None, Some(key)) if self.is_on_list(key)? => own.as_ref(),
            (None, None) if self.krl.is_some() => {
                let why = "the lockfile does not have its key, to be looked for among the revoked";
                return Ok(Signature::unchecked(why.to_owned()));
            }
            _ => None,
        };
        if let Some(revoked) = is_revoked {
            return Ok(Signature::bad(format!("the key {revoked} was revoked")));
        }
        let Some(Found {
            principal,
            fingerprint,
        }) = found
        else {
            return Ok(Signature::bad(
                "it is not of these files, or not of this key",
            ));
        };
        if let Some(key) = key.filter(|key| key.is_certificate()) {
            // Git asks about the time that a commit states.
            let seconds = self.now.0 / 1000;
            let counts = |of: Certificate| of.valid.contains(&seconds);
            if principal.is_none() || !key.certificate().is_some_and(counts) {
                // Its own key says nothing without who issued it, and for how long.
                let why =
                    "by a certificate that nobody listed here has issued for this purpose and time";
                return Ok(Signature::unchecked(why.to_owned()));
            }
        } else if own.is_some_and(|own| own != fingerprint) {
            return Ok(Signature::bad("it names two keys"));
        } else if principal.is_none() {
            let mut listed = self.signers.of_kind(KeyKind::Ssh);
            if listed.any(|one| one.fingerprint.as_ref() == Some(&fingerprint)) {
                let text = format!("the key {fingerprint} is listed, but not for");
                return Ok(Signature::bad(format!("{text} this purpose and time")));
            }
        }
        Ok(Signature::Good(Signer {
            principal,
            key: Key::new(KeyKind::Ssh, &fingerprint)?,
            signed: covers,
            public: key.map(SshKey::written),
        }))
    }

    /// Whether the binary list of revoked keys has the key, which matters for unlisted ones too.
    fn is_on_list(&self, key: &SshKey) -> Result<bool> {
        if self.krl.is_none() {
            return Ok(false);
        }
        let file = self.write(&KEY, format!("{}\n", key.written()).as_bytes())?;
        let mut command = self.command("ssh-keygen")?;
        command.args(["-Q", "-f"]);
        command.arg(self.path_of(&REVOKED)?).arg(file);
        Ok(!self.programs.run(command, "")?.status.success())
    }
}
