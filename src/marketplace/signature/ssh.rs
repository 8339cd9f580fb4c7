//! Checks the signatures of ssh keys with `ssh-keygen`, those of commits and tags like those of
//! manifests. A key has to be valid now: the time that a commit states is its signer's word.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Result;
use crate::marketplace::fetch::Class;
use crate::marketplace::signature::key_files::KeyFiles;
use crate::marketplace::signature::programs::Programs;
use crate::signing::{Covers, Key, KeyKind, Namespace, Signature, Signer, SshSignature};
use crate::signing::{Listed, ssh_fingerprint};
use crate::sys::{EntryName, limits};

const SIGNATURE: EntryName = EntryName::from_static("signature");
const KEY: EntryName = EntryName::from_static("key.pub");

fn bad(why: impl Into<String>) -> Signature {
    Signature::Bad { why: why.into() }
}

/// Checks the armored signature of `signed`.
///
/// # Errors
/// When `ssh-keygen` does not answer, or the disk is full.
pub fn check(
    programs: &Programs,
    files: &KeyFiles,
    armored: &str,
    signed: &[u8],
    (namespace, covers): (Namespace, Covers),
) -> Result<Signature> {
    let Some(ssh) = SshSignature::parse(armored) else {
        return Ok(bad("its signature is not one of ssh-keygen's"));
    };
    if ssh.namespace != namespace.as_str() {
        return Ok(bad("it was made for another purpose"));
    }
    match programs.find("ssh-keygen") {
        Err(failure) if failure.class == Class::Missing => {
            return Ok(Signature::without("ssh-keygen"));
        }
        found => drop(found?),
    }
    let checked = Checked {
        programs,
        files,
        signed,
        purpose: namespace.as_str(),
    };
    programs.write(&SIGNATURE, armored.as_bytes())?;
    let own = ssh_fingerprint(&ssh.key);
    let revoked = |key: &str| Ok(bad(format!("the key {key} was revoked")));
    if files.keys.revokes(&own) || checked.is_on_list(&ssh)? {
        return revoked(&own);
    }
    let by = |principal, key| Signer {
        principal,
        key,
        signed: covers,
    };
    for principal in checked.principals(&ssh, &own)? {
        let Some(key) = checked.keygen("verify", &["-I", &principal])? else {
            continue;
        };
        // The key in a certificate has a fingerprint of its own.
        if files.keys.revokes(&key.fingerprint) {
            return revoked(&key.fingerprint);
        }
        return Ok(Signature::Good(by(Some(principal), key)));
    }
    if ssh.is_certificate() {
        // Its own key says nothing without who issued it, and for how long.
        let why = "by a certificate that nobody listed here has issued for this purpose and time";
        return Ok(Signature::unchecked(why.to_owned()));
    }
    let Some(key) = checked.keygen("check-novalidate", &[])? else {
        return Ok(bad("it is not of these files, or not of this key"));
    };
    if files.keys.revokes(&key.fingerprint) {
        return revoked(&key.fingerprint);
    }
    if files.keys.lists_ssh(&own) || files.keys.lists_ssh(&key.fingerprint) {
        let text = format!("the key {} is listed, but not for", &*key.fingerprint);
        return Ok(bad(format!("{text} this purpose and time")));
    }
    Ok(Signature::Good(by(None, key)))
}

/// A signature that is being checked, which is in the scratch directory.
struct Checked<'c> {
    programs: &'c Programs<'c>,
    files: &'c KeyFiles<'c>,
    signed: &'c [u8],
    purpose: &'c str,
}

impl Checked<'_> {
    /// The key with which `ssh-keygen` finds the signature good; `None` if it does not.
    fn keygen(&self, action: &str, more: &[&str]) -> Result<Option<Key>> {
        let printed = self.printed(action, more)?;
        let good = format!("Good \"{}\" signature ", self.purpose);
        let line = printed.lines().find(|line| line.starts_with(&good));
        let key = line.and_then(|line| line.rsplit_once(" key "));
        Ok(key.and_then(|(_, key)| Key::new(KeyKind::Ssh, key.trim()).ok()))
    }

    /// What `ssh-keygen` prints if it succeeds.
    fn printed(&self, action: &str, more: &[&str]) -> Result<String> {
        let mut command = self.programs.command("ssh-keygen")?;
        command.args(["-Y", action, "-n", self.purpose, "-s"]);
        command.arg(self.programs.0.scratch.path_of(&SIGNATURE));
        if action != "check-novalidate" {
            command.arg("-f").arg(KeyFiles::signers(self.programs));
        }
        if let Some(revoked) = self
            .files
            .revoked(self.programs)
            .filter(|_| action == "verify")
        {
            command.arg("-r").arg(revoked);
        }
        command.args(more);
        let ran = self.programs.run(command, self.signed)?;
        if !ran.status.success() {
            return Ok(String::new());
        }
        let bytes = crate::sys::files::read_all_capped(ran.output, limits::SIGNERS);
        let bytes = bytes.map_err(|error| self.programs.0.local(&error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether the binary list of revoked keys has the key, which matters for unlisted ones too.
    fn is_on_list(&self, ssh: &SshSignature) -> Result<bool> {
        let Some(revoked) = self.files.revoked(self.programs) else {
            return Ok(false);
        };
        let Some(kind) = ssh.kind() else {
            return Ok(true);
        };
        let public = format!("{kind} {}\n", STANDARD.encode(&ssh.key));
        self.programs.write(&KEY, public.as_bytes())?;
        let mut command = self.programs.command("ssh-keygen")?;
        command.args(["-Q", "-f"]).arg(revoked);
        command.arg(self.programs.0.scratch.path_of(&KEY));
        Ok(!self.programs.run(command, "")?.status.success())
    }

    /// Those who may have signed. Of a certificate only `ssh-keygen` can tell.
    fn principals(&self, ssh: &SshSignature, fingerprint: &str) -> Result<Vec<String>> {
        if ssh.is_certificate() {
            let found = self.printed("find-principals", &[])?;
            return Ok(found.lines().map(str::to_owned).collect());
        }
        let listed = self.files.keys.signers.of_kind(KeyKind::Ssh);
        let listed = listed.filter(|one| one.fingerprint.as_deref() == Some(fingerprint));
        let each = listed.flat_map(Listed::each_principal).map(str::to_owned);
        Ok(each.collect())
    }
}
