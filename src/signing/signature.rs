//! What is known of a skill's signature after it was checked, and the signer as a lockfile names it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::skill::visible;
use crate::sys::checked_text;

/// The result of checking a skill's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Signature {
    /// There is none.
    Unsigned,
    /// It is there and could not be checked on this machine: an unknown OpenPGP key, a program that
    /// is missing. It counts as none.
    Unchecked {
        /// What is needed.
        why: String,
        /// The program that is missing, if that is why.
        #[serde(skip)]
        needs: Option<&'static str>,
    },
    /// It holds for exactly the files that are there.
    Good(Signer),
    /// It is there and does not hold: other files, a key that has expired or was revoked, another
    /// purpose. Such a skill is neither installed nor, where a signature is required, offered.
    Bad {
        /// What is wrong.
        why: String,
    },
}

impl Signature {
    /// One that cannot be checked.
    pub fn unchecked(why: String) -> Self {
        Self::Unchecked { why, needs: None }
    }

    /// One that does not hold.
    pub fn bad(why: impl Into<String>) -> Self {
        Self::Bad { why: why.into() }
    }

    /// One that cannot be checked because this program is missing.
    pub fn without(program: &'static str) -> Self {
        Self::Unchecked {
            why: format!("{program}, which checks it, is not installed"),
            needs: Some(program),
        }
    }

    /// The signer of one that holds.
    pub fn signer(&self) -> Option<&Signer> {
        match self {
            Self::Good(signer) => Some(signer),
            _ => None,
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned => f.write_str("unsigned"),
            Self::Unchecked { why, .. } => write!(f, "signed, but {why}"),
            Self::Good(signer) => write!(f, "signed by {signer}"),
            Self::Bad { why } => write!(f, "wrongly signed: {why}"),
        }
    }
}

/// Who signed, with which key, and what.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Signer {
    /// The name that a file of signers gives to the key; `None` for a key that none lists.
    pub principal: Option<String>,
    /// The key.
    #[serde(flatten)]
    pub key: Key,
    /// What was signed.
    pub signed: Covers,
    /// What signed, completely: of ssh the public key, of OpenPGP the fingerprint of the
    /// part of the key. `None` in a lockfile of an earlier release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}

impl Signer {
    /// Whether none of its texts deceives a reader. A lockfile may come with a repository.
    pub fn is_readable(&self) -> bool {
        let plain = |text: &str| visible(text) == text && !text.contains('\n');
        let mut texts = [&self.principal, &self.public].into_iter().flatten();
        texts.all(|text| plain(text))
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.principal {
            Some(principal) => write!(f, "{principal} ({})", self.key),
            None => write!(f, "the key {}", self.key),
        }
    }
}

/// A public key by its full fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The form of the key.
    pub kind: KeyKind,
    /// The fingerprint, in the usual form of its kind.
    #[serde(rename = "key")]
    pub fingerprint: Fingerprint,
}

impl Key {
    /// # Errors
    /// When a key of this kind has no such fingerprint.
    pub fn new(kind: KeyKind, fingerprint: &str) -> Result<Self> {
        let fingerprint = Fingerprint::parse(fingerprint)?;
        Ok(Self { kind, fingerprint })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.fingerprint.0)
    }
}

/// The fingerprint of a key: `SHA256:` and base64 for ssh, hexadecimal digits for
/// OpenPGP.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(String);

impl Fingerprint {
    fn parse(written: &str) -> Result<Self> {
        let text = written.strip_prefix("SHA256:").unwrap_or(written);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        if text.is_empty() || !text.bytes().all(is_plain) || text.len() > 128 {
            let text = format!("`{}` is not the fingerprint of a key", visible(written));
            return Err(Error::new(text).hint("it is `SHA256:…`, or hexadecimal digits"));
        }
        Ok(Self(written.to_owned()))
    }
}

checked_text!(Fingerprint);

/// The forms of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// As OpenSSH has them.
    Ssh,
    /// As GnuPG has them.
    Openpgp,
}

impl KeyKind {
    /// As it is written in lockfiles and files of signers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ssh => "ssh",
            Self::Openpgp => "openpgp",
        }
    }
}

/// What a signature covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covers {
    /// A commit, and by its trees every file.
    Commit,
    /// An annotated tag, and by it a commit.
    Tag,
    /// A list of the files with their digests.
    Manifest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signer_reads_as_it_was_written() {
        let signer = Signer {
            principal: Some("alice@example.com".to_owned()),
            key: Key::new(
                KeyKind::Ssh,
                "SHA256:VrFe3QXFOyta6G6cLpczwNEoT4w2Q4Jsv2tvcu+AKDI",
            )
            .unwrap(),
            signed: Covers::Tag,
            public: None,
        };
        let json = serde_json::to_value(&signer).unwrap();
        assert_eq!(json["kind"], "ssh");
        assert_eq!(serde_json::from_value::<Signer>(json).unwrap(), signer);
    }

    #[test]
    fn no_fingerprint_deceives() {
        for hostile in ["", "SHA256:", "a b", "a\u{1b}[2J", "-u", "a\u{202e}b"] {
            assert!(Key::new(KeyKind::Ssh, hostile).is_err(), "{hostile:?}");
        }
    }
}
