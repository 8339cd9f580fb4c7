//! What registries keep: manifests, indexes and descriptors (OCI image specification 1.1), and the
//! names that "Agent Skills as OCI Artifacts" gives to skills in them. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::marketplace::prelude::*;

/// Media types and types of artifacts.
pub mod media_type {
    /// A manifest of one artifact.
    pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
    /// A list of manifests.
    pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
    /// Docker's form of [`MANIFEST`].
    pub const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
    /// Docker's form of [`INDEX`].
    pub const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
    /// The configuration of an artifact that has none: `{}`.
    pub const EMPTY: &str = "application/vnd.oci.empty.v1+json";
    /// The type of a skill.
    pub const SKILL: &str = "application/vnd.agentskills.skill.v1";
    /// A skill's frontmatter as JSON.
    pub const SKILL_CONFIG: &str = "application/vnd.agentskills.skill.config.v1+json";
    /// A skill's files, below one directory of its name.
    pub const SKILL_CONTENT: &str = "application/vnd.agentskills.skill.content.v1.tar+gzip";
    /// The type of an index of skills.
    pub const COLLECTION: &str = "application/vnd.agentskills.collection.v1";
    /// The type of what has a skill's manifest for its subject, and carries a signature of ours.
    pub const SIGNATURE: &str = "application/vnd.agentskills.signature.v1";
    /// The list of a skill's files that was signed (`skill.manifest`).
    pub const SIGNED_MANIFEST: &str = "application/vnd.agentskills.manifest.v1";
    /// Its signature by ssh-keygen.
    pub const SSH_SIGNATURE: &str = "application/vnd.agentskills.manifest.sig.v1";
}

/// Keys of annotations.
pub mod annotation {
    /// A skill's name, on its manifest and in a collection.
    pub const SKILL_NAME: &str = "io.agentskills.skill.name";
    /// What a skill needs.
    pub const SKILL_COMPATIBILITY: &str = "io.agentskills.skill.compatibility";
    /// Where a collection's skill is published, as `HOST/NAME:TAG`.
    pub const SKILL_REF: &str = "io.agentskills.skill.ref";
    /// A collection's name.
    pub const COLLECTION_NAME: &str = "io.agentskills.collection.name";
    /// The name of a file that is a blob.
    pub const TITLE: &str = "org.opencontainers.image.title";
    /// What it is, in a sentence.
    pub const DESCRIPTION: &str = "org.opencontainers.image.description";
    /// Its version.
    pub const VERSION: &str = "org.opencontainers.image.version";
    /// Its licences, as an SPDX expression.
    pub const LICENSES: &str = "org.opencontainers.image.licenses";
    /// Some tools' name for [`SKILL_REF`].
    pub const REF_NAME: &str = "org.opencontainers.image.ref.name";
}

/// What is accepted as an answer to a request for a manifest.
pub const ACCEPTED: [&str; 4] = [
    media_type::MANIFEST,
    media_type::INDEX,
    media_type::DOCKER_MANIFEST,
    media_type::DOCKER_INDEX,
];

/// Names a blob or a manifest by its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// What it is.
    pub media_type: String,
    /// For a manifest, what it is a manifest of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// Its digest.
    pub digest: OciDigest,
    /// Its size in bytes.
    pub size: u64,
    /// What is said of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// The machine for which an image is; only an `architecture` that is `unknown` is told apart.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub platform: Value,
}

/// A manifest, or an index if it has [`OciManifest::manifests`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OciManifest {
    /// Always 2.
    pub schema_version: u8,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What it is a manifest of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// What describes the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Descriptor>,
    /// What the artifact consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Vec<Descriptor>>,
    /// The manifests that an index lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifests: Option<Vec<Descriptor>>,
    /// The manifest that this one belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    /// What is said of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    /// That of these bytes.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            artifact_type: None,
            digest: OciDigest::of(bytes),
            size: bytes.len() as u64,
            annotations: BTreeMap::new(),
            platform: Value::Null,
        }
    }

    /// An annotation, unless it is empty.
    pub fn said(&self, key: &str) -> Option<&str> {
        let said = self.annotations.get(key).map(String::as_str);
        said.filter(|text| !text.is_empty())
    }

    /// Whether it attests how an image was made, which is for no machine.
    pub fn is_attestation(&self) -> bool {
        self.platform["architecture"] == "unknown"
    }
}

impl OciManifest {
    /// Parses a manifest or an index.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let broken = |why: String| {
            let text = format!("the manifest cannot be read: {}", one_line(&why));
            Error::new(text).hint("tell its publisher")
        };
        let manifest: Self =
            serde_json::from_slice(bytes).map_err(|error| broken(error.to_string()))?;
        match (&manifest.manifests, &manifest.layers) {
            // What one client takes for a skill must not be a list for another.
            (Some(_), Some(_)) => Err(broken("it is a list and one artifact at once".to_owned())),
            (None, None) => Err(broken("it lists neither layers nor manifests".to_owned())),
            _ if manifest.schema_version != 2 => Err(broken("it has another version".to_owned())),
            _ => Ok(manifest),
        }
    }

    /// As it is published: the same bytes on each machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Its keys are texts, so it can be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
