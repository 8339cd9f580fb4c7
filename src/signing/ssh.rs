//! The armored signatures of OpenSSH (its `PROTOCOL.sshsig`), as far as they say who made them and
//! for what. Whether one holds is for `ssh-keygen` to say.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::Covers;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";

/// The purpose that a signature was made for, which it includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    /// Git's commits and tags.
    Git,
    /// Manifests of skills.
    Skill,
}

impl Namespace {
    /// That of what is signed.
    pub fn of(signed: Covers) -> Self {
        match signed {
            Covers::Commit | Covers::Tag => Self::Git,
            Covers::Manifest => Self::Skill,
        }
    }

    /// As `ssh-keygen -n` takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Skill => "agent-skill",
        }
    }
}

/// What a signature says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshSignature {
    /// The public key or certificate as `ssh-keygen` writes it: the kind and the base64.
    pub key: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// What it was made for.
    pub namespace: String,
}

impl SshSignature {
    /// Reads an armored signature; `None` if it is not one.
    pub fn parse(armored: &str) -> Option<Self> {
        let body = armored.trim_end().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let body: String = body.split_whitespace().collect();
        let bytes = STANDARD.decode(body).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (version, mut rest) = rest.split_at_checked(4)?;
        if version != [0, 0, 0, 1] {
            return None;
        }
        let key = field(&mut rest)?;
        let namespace = String::from_utf8(field(&mut rest)?.to_vec()).ok()?;
        // A key begins with its kind.
        let kind = str::from_utf8(field(&mut &*key)?).ok()?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-.@".contains(&byte);
        let is_kind = !kind.is_empty() && kind.bytes().all(is_word);
        is_kind.then(|| Self {
            key: format!("{kind} {}", STANDARD.encode(key)),
            fingerprint: ssh_fingerprint(key),
            namespace,
        })
    }
}

/// The fingerprint of a public key in OpenSSH's binary form, as `ssh-keygen -l` shows it.
pub fn ssh_fingerprint(key: &[u8]) -> String {
    format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(key)))
}

/// The next field: its length in 4 bytes, and its bytes.
fn field<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = u32::from_be_bytes(*length);
    let (field, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armored(bytes: &[u8]) -> String {
        format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode(bytes))
    }

    #[test]
    fn the_key_and_the_purpose_are_read() {
        let whole = b"SSHSIG\0\0\0\x01\0\0\0\x07\0\0\0\x03key\0\0\0\x03git\0\0\0\0".to_vec();
        let read = SshSignature::parse(&armored(&whole)).unwrap();
        assert_eq!(
            (read.key.as_str(), read.namespace.as_str()),
            ("key AAAAA2tleQ==", "git")
        );
        for cut in 0..whole.len() - 4 {
            assert_eq!(SshSignature::parse(&armored(&whole[..cut])), None, "{cut}");
        }
        for more in [
            format!("x\n{}", armored(&whole)),
            format!("{}x\n", armored(&whole)),
        ] {
            assert_eq!(SshSignature::parse(&more), None, "{more}");
        }
        for other in ["", BEGIN, "-----BEGIN PGP SIGNATURE-----"] {
            assert_eq!(SshSignature::parse(other), None);
        }
    }
}
