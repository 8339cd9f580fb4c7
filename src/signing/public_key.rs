//! Keys and signatures as their programs write them: exported public keys, the lines for them in
//! files of revoked keys, and the armored signatures of OpenSSH (its `PROTOCOL.sshsig`), as far as
//! they say who made them and for what. Whether one holds is for `ssh-keygen` to say.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";

/// The kind and the key that a file of signers has for an ssh key, as `ssh-keygen` writes it into a
/// `.pub`.
///
/// # Errors
/// When the text is not that, several keys, or a private key.
pub fn exported(text: &str) -> Result<String> {
    let wrong = |why: &str| {
        Error::new(why).hint(
            "give `ssh-keygen`'s `.pub`, or the full fingerprint of an OpenPGP key, which \
             `gpg --show-keys FILE` prints",
        )
    };
    if text.contains("PRIVATE KEY") {
        return Err(wrong("it is a private key"));
    }
    let lines = text.lines().map(str::trim);
    let is_key = |line: &&str| !line.is_empty() && !line.starts_with(['#']);
    let mut lines = lines.filter(is_key);
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return Err(wrong("it is not one public key"));
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [kind, key, ..] if kind.contains('-') => Ok(format!("{kind} {key}")),
        _ => Err(wrong("it is not a public key")),
    }
}

/// The full fingerprint of an OpenPGP key as GnuPG shows it; `None` for anything else.
pub fn openpgp_fingerprint(written: &str) -> Option<String> {
    let is_hex = written.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hex && matches!(written.len(), 40 | 64)).then(|| written.to_ascii_uppercase())
}

/// The fingerprints in a text of revoked keys: one to a line, as a public ssh key, as `SHA256:…`, or
/// as the full fingerprint of an OpenPGP key.
///
/// # Errors
/// The number of a line that is none: a key that was meant must not stay in use unnoticed.
pub fn revocations(text: &str) -> Result<BTreeSet<String>> {
    let mut revoked = BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let fingerprint = match words.as_slice() {
            [] => continue,
            [first, ..] if first.starts_with('#') => continue,
            [kind, key, ..] if kind.contains('-') => {
                STANDARD.decode(key).ok().map(|key| ssh_fingerprint(&key))
            }
            [fingerprint, ..] if fingerprint.starts_with("SHA256:") => {
                let digest = STANDARD_NO_PAD.decode(&fingerprint["SHA256:".len()..]);
                let is_whole = digest.is_ok_and(|digest| digest.len() == 32);
                is_whole.then(|| (*fingerprint).to_owned())
            }
            [fingerprint, ..] => openpgp_fingerprint(fingerprint),
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

    #[test]
    fn revoked_keys_are_read_in_each_form() {
        let digest = "SHA256:VrFe3QXFOyta6G6cLpczwNEoT4w2Q4Jsv2tvcu+AKDI";
        let text = format!(
            "# gone\n\nssh-ed25519 AAAA c\n{digest} why\n\
             0123456789abcdef0123456789abcdef01234567\n"
        );
        let revoked = revocations(&text).unwrap();
        assert_eq!(revoked.len(), 3);
        assert!(revoked.contains(&ssh_fingerprint(&[0, 0, 0])));
        // gpg shows it so.
        assert!(revoked.contains("0123456789ABCDEF0123456789ABCDEF01234567"));
        let short = &digest[..digest.len() - 1];
        for line in ["alice", "ssh-ed25519 !", "0123", "ssh-ed25519", short] {
            assert!(revocations(line).is_err(), "{line}");
        }
    }

    #[test]
    fn an_exported_key_is_one_line_of_signers() {
        for (text, line) in [
            ("ssh-ed25519 AAAA me@x\n", "ssh-ed25519 AAAA"),
            (
                "# mine\n\nsk-ssh-ed25519@openssh.com AAAA",
                "sk-ssh-ed25519@openssh.com AAAA",
            ),
        ] {
            assert_eq!(exported(text).unwrap(), line, "{text}");
        }
    }

    #[test]
    fn what_is_no_public_key_is_refused() {
        for (text, why) in [
            ("", "not one"),
            ("text", "not a public"),
            ("untrusted comment: minisign public key 1\nRWQf6", "not one"),
            ("ssh-rsa A\nssh-rsa B", "not one"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----", "private"),
            (
                "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQIN\n-----END",
                "not one",
            ),
        ] {
            let error = exported(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

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
