//! What proves a skill's signature, in a form that is kept beside the lockfile: a signed commit with
//! the trees that lead to the skill's files, or a signed manifest. It is only data: nothing in it is
//! believed before `check.rs` has checked it.

use std::collections::BTreeMap;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::marketplace::lock::text;
use crate::skill::visible;

/// The proof of a signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Evidence {
    /// A commit or tag, and what leads from it to the skill.
    Git(GitEvidence),
    /// A manifest.
    Manifest(ManifestEvidence),
}

/// Objects of a repository, without the contents of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitEvidence {
    /// The commit's id.
    pub commit: String,
    /// The id of the annotated tag that leads to it, if that is what was signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The commit, the tag, the trees, and the targets of links, for all skills that were installed
    /// together.
    pub objects: Vec<GitObject>,
}

/// One object. Its id is not kept: git tells it from the content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitObject {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: GitKind,
    /// Its content.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub bytes: Rc<[u8]>,
}

/// The types of git's objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GitKind {
    /// The content of a file or the target of a link.
    Blob,
    /// A commit.
    Commit,
    /// An annotated tag.
    Tag,
    /// A directory.
    Tree,
}

impl GitKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Blob, Self::Commit, Self::Tag, Self::Tree];

    /// As git calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Commit => "commit",
            Self::Tag => "tag",
            Self::Tree => "tree",
        }
    }
}

/// A manifest with its signature, each as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestEvidence {
    /// The manifest, as it was signed.
    pub manifest: String,
    /// The signature of `ssh-keygen`.
    pub ssh: String,
}

/// Signed manifests that are not in the skills themselves, by the paths of the skills. Of several for
/// one skill, any may be the one that holds.
pub type Evidences = BTreeMap<String, Vec<ManifestEvidence>>;

/// The SHA-256 of kept evidence, by which the lockfile names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EvidenceId(String);

impl EvidenceId {
    /// # Errors
    /// When it is not 64 hexadecimal digits.
    pub fn parse(written: &str) -> Result<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if written.len() != 64 || !written.bytes().all(is_digit) {
            let text = format!("`{}` is not the digest of kept evidence", visible(written));
            return Err(Error::new(text));
        }
        Ok(Self(written.to_owned()))
    }

    /// That of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(format!("{:x}", Sha256::digest(bytes)))
    }
}

text!(EvidenceId);

impl Evidence {
    /// As it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Its keys are texts, so it can be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads what [`Evidence::to_bytes`] wrote.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes)
            .map_err(|error| Error::caused("the kept evidence cannot be read", error))
    }
}

fn to_base64<S: Serializer>(bytes: &[u8], to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Rc<[u8]>, D::Error> {
    let text = String::deserialize(from)?;
    let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
    Ok(bytes.into())
}
