//! A stored proposal.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::sys::text::quoted;

/// The id of a proposal, derived from its content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProposalId(String);

/// A change to a skill that a model proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// See [`ProposalId`].
    pub id: ProposalId,
    /// The skill's name.
    pub skill: String,
    /// The proposed change.
    pub change: Change,
    /// The model's reason.
    pub justification: String,
    /// The model's evidence for it.
    pub evidence: Option<String>,
    /// The time of writing (RFC 3339).
    pub written: String,
    /// The conversation it comes from.
    pub context: Option<String>,
    /// Comments on it.
    pub comments: Vec<Comment>,
}

/// A change to a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Change {
    /// Files of an existing skill are changed.
    Update {
        /// Its directory.
        dir: String,
        /// The diff as written.
        diff: String,
        /// The files that it changes, with the SHA-256 that they had when it was written.
        files: BTreeMap<String, String>,
    },
    /// A skill is created.
    Create {
        /// Its `SKILL.md`.
        text: String,
    },
}

/// A comment on a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Its time (RFC 3339).
    pub written: String,
    /// `user` or `model`.
    pub by: String,
    /// Its text.
    pub text: String,
}

impl ProposalId {
    /// The id of a proposal to do `change` with `skill`.
    pub fn new(skill: &str, change: &Change) -> Self {
        let (kind, about, text) = match change {
            Change::Update { dir, diff, .. } => ("update", dir.as_str(), diff),
            Change::Create { text } => ("create", "", text),
        };
        let whole = [kind, skill, about, text].join("\0");
        let digest = format!("{:x}", Sha256::digest(whole));
        Self(digest[..LENGTH].to_owned())
    }

    /// Parses an id that a person wrote.
    ///
    /// # Errors
    /// When no proposal can have it.
    pub fn parse(written: &str) -> Result<Self> {
        let is_ours = written.len() == LENGTH
            && written
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_ours {
            return Ok(Self(written.to_owned()));
        }
        let shown = quoted(written);
        Err(Error::new(format!("`{shown}` is no proposal's id")).hint(SEE))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Characters of an id: 48 bits, plenty for [`crate::sys::limits::PROPOSALS`].
const LENGTH: usize = 12;
/// The hint for an unknown id.
pub const SEE: &str = "`agent-skills proposals list` shows those that wait";

/// The digest of a file's content, to detect that it has changed.
pub fn digest(content: &[u8]) -> String {
    format!("{:x}", Sha256::digest(content))
}
