//! The keys that count for a check: the content of one file of signers and of one that revokes, read
//! once, so that what is checked is what was read.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, Result};
use crate::signing::{KeyKind, Signers, ssh_fingerprint};
use crate::sys::{files, limits};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The start of a key revocation list of `ssh-keygen -k`.
const KRL: &[u8] = b"SSHKRL\n\0";

/// Keys that count, and keys that do no longer.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    /// Who is listed.
    pub signers: Signers,
    /// The fingerprints of revoked keys.
    revoked: BTreeSet<String>,
    /// A binary list of revoked ssh keys, for `ssh-keygen`.
    pub krl: Option<Vec<u8>>,
}

impl Keys {
    /// Reads the files; no file counts as an empty one.
    ///
    /// # Errors
    /// When a file is missing or cannot be understood: who is listed or revoked is not known then.
    pub fn read(signers: Option<&Path>, revoked: Option<&Path>) -> Result<Self> {
        let mut keys = Self::default();
        if let Some(path) = signers {
            let text = String::from_utf8_lossy(&bytes(path)?).into_owned();
            keys.signers = Signers::parse(&text).map_err(|error| of_file(path, error))?;
        }
        if let Some(path) = revoked {
            let bytes = bytes(path)?;
            if bytes.starts_with(KRL) {
                keys.krl = Some(bytes);
            } else {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                keys.revoked = revocations(&text).map_err(|error| of_file(path, error))?;
            }
        }
        Ok(keys)
    }

    /// Whether a key was revoked by its fingerprint.
    pub fn revokes(&self, fingerprint: &str) -> bool {
        self.revoked.contains(fingerprint)
    }

    /// Whether some line lists this ssh key.
    pub fn lists_ssh(&self, public: &[u8]) -> bool {
        let fingerprint = ssh_fingerprint(public);
        let mut listed = self.signers.of_kind(KeyKind::Ssh);
        listed.any(|listed| listed.fingerprint.as_deref() == Some(&fingerprint))
    }
}

fn of_file(path: &Path, error: Error) -> Error {
    error.context(format!("`{}`", path.display()))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    files::read_capped(path, limits::SIGNERS).map_err(|error| {
        Error::io("read", path, &error).hint("correct its path, or put the file there")
    })
}

/// The fingerprints in a text of revoked keys: one to a line, as a public ssh key, as `SHA256:…`, or
/// as the full fingerprint of an OpenPGP key or the id of a minisign key.
fn revocations(text: &str) -> Result<BTreeSet<String>> {
    let mut revoked = BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let fingerprint = match words.as_slice() {
            [] => continue,
            [first, ..] if first.starts_with('#') => continue,
            [kind, key, ..] if kind.contains('-') => {
                STANDARD.decode(key).ok().map(|key| ssh_fingerprint(&key))
            }
            [fingerprint, ..] => {
                let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
                let known = fingerprint.starts_with("SHA256:")
                    || is_hex(fingerprint) && matches!(fingerprint.len(), 16 | 40 | 64);
                known.then(|| (*fingerprint).to_owned())
            }
        };
        let Some(fingerprint) = fingerprint else {
            let text = format!("line {}: it is not a key", at + 1);
            return Err(Error::new(text).hint(
                "it is a public key, `SHA256:…`, or the full fingerprint of an OpenPGP key",
            ));
        };
        revoked.insert(fingerprint);
    }
    Ok(revoked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revoked_keys_are_read_in_each_form() {
        let text = "# gone\n\nssh-ed25519 AAAA c\nSHA256:abc why\n\
                    0123456789abcdef0123456789abcdef01234567\n";
        let revoked = revocations(text).unwrap();
        assert_eq!(revoked.len(), 3);
        assert!(revoked.contains(&ssh_fingerprint(&[0, 0, 0])));
        for line in ["alice", "ssh-ed25519 !", "0123", "ssh-ed25519"] {
            assert!(revocations(line).is_err(), "{line}");
        }
    }
}
