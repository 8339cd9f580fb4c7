//! What is known of a skill's signature after it was checked, the signer as a lockfile names it, and
//! what a policy or a configuration requires of a signature.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::skill::visible;

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
        Self::Unchecked { why }
    }

    /// One that does not hold.
    pub fn bad(why: impl Into<String>) -> Self {
        Self::Bad { why: why.into() }
    }

    /// One that cannot be checked because this program is missing.
    pub fn without(program: &str) -> Self {
        Self::unchecked(format!("{program}, which checks it, is not installed"))
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
            Self::Unchecked { why } => write!(f, "signed, but {why}"),
            Self::Good(signer) => write!(f, "signed by {signer}"),
            Self::Bad { why } => write!(f, "signed, but its signature is invalid: {why}"),
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
    pub key: PublicKey,
    /// What was signed.
    pub signed: SignedObject,
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
        self.key.is_readable() && texts.all(|text| plain(text))
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
pub struct PublicKey {
    /// The form of the key.
    pub kind: KeyKind,
    /// The fingerprint, in the usual form of its kind.
    #[serde(rename = "key")]
    pub fingerprint: String,
}

impl PublicKey {
    /// The key with this fingerprint, as the program that made it shows it.
    ///
    /// # Errors
    /// When it is none.
    pub fn new(kind: KeyKind, fingerprint: &str) -> Result<Self> {
        let fingerprint = fingerprint.to_owned();
        let key = Self { kind, fingerprint };
        if key.is_readable() {
            return Ok(key);
        }
        let shown = visible(&key.fingerprint);
        let text = format!("`{shown}` is not the fingerprint of a key");
        Err(Error::new(text).hint("it is `SHA256:…`, or hexadecimal digits"))
    }

    fn is_readable(&self) -> bool {
        let digits = self.fingerprint.strip_prefix("SHA256:");
        let digits = digits.unwrap_or(&self.fingerprint);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        (1..=128).contains(&digits.len()) && digits.bytes().all(is_plain)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.fingerprint)
    }
}

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
pub enum SignedObject {
    /// A commit, and by its trees every file.
    Commit,
    /// An annotated tag, and by it a commit.
    Tag,
    /// A list of the files with their digests.
    Manifest,
}

impl SignedObject {
    /// What ssh signatures of it are made for: git's own name for commits and tags, and ours.
    pub fn namespace(self) -> &'static str {
        match self {
            Self::Commit | Self::Tag => "git",
            Self::Manifest => "agent-skill",
        }
    }
}

/// How a skill has to be signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Requirement {
    /// Not at all.
    #[default]
    None,
    /// By a key that the user has accepted for this source, or that is listed.
    Known,
    /// By a key that the file of signers lists.
    Listed,
}

/// A requirement as one file states it for one source. All that apply have to be met, so that none
/// can be weakened by another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceRequirement {
    /// How it has to be signed.
    pub require: Requirement,
    /// The file of signers that counts for it.
    pub signers: Option<PathBuf>,
    /// Revoked keys.
    pub revoked: Option<PathBuf>,
    /// The principals that may sign; any if empty.
    pub principals: Vec<String>,
    /// The file that states it, for messages.
    pub stated_in: String,
}

impl SourceRequirement {
    /// Why a signature that was checked against this demand's signers does not meet it; `None` if it
    /// does. `names` are those of its signer, and `is_known` says whether the user has accepted the key for this source.
    pub fn unmet(&self, signature: &Signature, names: &[&str], is_known: bool) -> Option<String> {
        let needs = match self.require {
            Requirement::None => return None,
            Requirement::Known => "a signer that you know",
            Requirement::Listed => "a listed signer",
        };
        let why = match signature {
            Signature::Good(signer) => match &signer.principal {
                Some(_) if self.permits(names) => return None,
                Some(principal) => format!("{principal} may not sign for this source"),
                None if self.require == Requirement::Known
                    && is_known
                    && self.principals.is_empty() =>
                {
                    return None;
                }
                None => format!("{} is not one", signer.key),
            },
            other => format!("it is {other}"),
        };
        Some(format!("{} requires {needs}, and {why}", self.stated_in))
    }

    fn permits(&self, names: &[&str]) -> bool {
        // `*@example.com` means all that end so.
        let means = |wanted: &String, name: &str| match wanted.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => wanted == name,
        };
        let may = |name: &&str| self.principals.iter().any(|wanted| means(wanted, name));
        self.principals.is_empty() || names.iter().any(may)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signing::{KeyKind, PublicKey, SignedObject, Signer};

    #[test]
    fn a_signer_reads_as_it_was_written() {
        let signer = Signer {
            principal: Some("alice@example.com".to_owned()),
            key: PublicKey::new(
                KeyKind::Ssh,
                "SHA256:VrFe3QXFOyta6G6cLpczwNEoT4w2Q4Jsv2tvcu+AKDI",
            )
            .unwrap(),
            signed: SignedObject::Tag,
            public: None,
        };
        let json = serde_json::to_value(&signer).unwrap();
        assert_eq!(json["kind"], "ssh");
        assert_eq!(serde_json::from_value::<Signer>(json).unwrap(), signer);
    }

    #[test]
    fn no_fingerprint_deceives() {
        for hostile in ["", "SHA256:", "a b", "a\u{1b}[2J", "-u", "a\u{202e}b"] {
            assert!(
                PublicKey::new(KeyKind::Ssh, hostile).is_err(),
                "{hostile:?}"
            );
        }
    }

    fn good(principal: Option<&str>) -> Signature {
        Signature::Good(Signer {
            principal: principal.map(str::to_owned),
            key: PublicKey::new(KeyKind::Ssh, "SHA256:abc").unwrap(),
            signed: SignedObject::Commit,
            public: None,
        })
    }

    #[test]
    fn each_requirement_takes_what_it_says() {
        let bad = Signature::Bad {
            why: "x".to_owned(),
        };
        let (any, listed) = (good(None), good(Some("a")));
        for (require, principals, signature, is_known, met) in [
            (Requirement::None, &[][..], &bad, false, true),
            (Requirement::Known, &[], &any, true, true),
            (Requirement::Known, &[], &any, false, false),
            (Requirement::Known, &["a"], &any, true, false),
            (Requirement::Known, &[], &listed, false, true),
            (Requirement::Known, &[], &Signature::Unsigned, true, false),
            (Requirement::Listed, &[], &any, true, false),
            (Requirement::Listed, &[], &listed, false, true),
            (Requirement::Listed, &["b"], &listed, false, false),
            (Requirement::Listed, &["b", "a"], &listed, false, true),
            (Requirement::Listed, &[], &bad, true, false),
        ] {
            let demand = SourceRequirement {
                require,
                principals: principals.iter().map(|name| (*name).to_owned()).collect(),
                ..SourceRequirement::default()
            };
            let signer = signature.signer();
            let names = signer.and_then(|signer| signer.principal.as_deref());
            let names: Vec<&str> = names.into_iter().collect();
            let unmet = demand.unmet(signature, &names, is_known);
            assert_eq!(unmet.is_none(), met, "{demand:?} {signature:?} {unmet:?}");
        }
    }
}
