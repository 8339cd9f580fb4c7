//! One proposal as it is kept until its user decides.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A proposal's name: the same proposal has the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProposalId(String);

/// What a model proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// See [`ProposalId`].
    pub id: ProposalId,
    /// The skill's name.
    pub skill: String,
    /// What becomes of it.
    pub change: Change,
    /// Why, in the model's words.
    pub justification: String,
    /// What shows that it is so, in the model's words.
    pub evidence: Option<String>,
    /// When it was written (RFC 3339).
    pub written: String,
    /// The conversation it comes from.
    pub context: Option<String>,
    /// What was said about it since.
    pub comments: Vec<Comment>,
}

/// What becomes of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Change {
    /// Files of it are changed.
    Update {
        /// Its directory.
        dir: String,
        /// The diff as it was written.
        diff: String,
        /// The files it changes, each with the SHA-256 it had then.
        files: BTreeMap<String, String>,
    },
    /// It is made.
    Create {
        /// Its `SKILL.md`.
        text: String,
    },
}

/// What somebody said about a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// When (RFC 3339).
    pub written: String,
    /// `user` or `model`.
    pub by: String,
    /// What.
    pub text: String,
}

impl ProposalId {
    /// The id of a proposal to do `change` with `skill`.
    pub fn of(skill: &str, change: &Change) -> Self {
        let (kind, about, text) = match change {
            Change::Update { dir, diff, .. } => ("update", dir.as_str(), diff),
            Change::Create { text } => ("create", "", text),
        };
        let whole = [kind, skill, about, text].join("\0");
        let digest = format!("{:x}", Sha256::digest(whole));
        Self(digest[..LENGTH].to_owned())
    }

    /// Takes an id as somebody wrote it.
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
        let shown: String = written.escape_debug().take(40).collect();
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

/// Characters of an id: 48 bits are plenty for [`crate::sys::limits::PROPOSALS`].
const LENGTH: usize = 12;
/// What to do about an id that means nothing.
pub const SEE: &str = "`agent-skills proposals list` shows those that wait";

/// The digest by which a file is known again.
pub fn digest(content: &[u8]) -> String {
    format!("{:x}", Sha256::digest(content))
}
