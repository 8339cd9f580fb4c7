//! What a request for an approval says, and an approval or withdrawal that an administrator signed:
//! JSON that can be mailed or reviewed, and below it the signature of every byte above. Does not
//! know whose signatures count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::skill::SkillName;

/// The most that a request or an approval has, in bytes.
pub const STATEMENT: u64 = 256 * 1024;
/// What a signature begins with (OpenSSH's `PROTOCOL.sshsig`).
const SIGNATURE: &str = "-----BEGIN SSH SIGNATURE-----";
const VERSION: u32 = 1;

/// What is said of a skill in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The version of the form.
    pub version: u32,
    /// What is said.
    pub decision: Stated,
    /// The skill's name.
    pub name: String,
    /// The digest of all its files, as approvals record it.
    pub digest: String,
    /// Where it is from, if a lockfile tells.
    pub source: Option<String>,
    /// Who has signed it, if a lockfile tells.
    pub signer: Option<String>,
    /// What it can do, a line each: files, scripts, tools, hooks.
    pub abilities: Vec<String>,
    /// What the scan finds.
    pub findings: Vec<String>,
    /// How it differs from what was approved before, a line each.
    pub changed: Vec<String>,
    /// Its files, each with the beginning of its digest.
    pub files: BTreeMap<String, String>,
    /// Who says it.
    pub by: Option<String>,
    /// On which machine.
    pub machine: String,
    /// When, in UTC.
    pub time: String,
    /// Why.
    pub reason: Option<String>,
}

/// What a statement says of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stated {
    /// Somebody asks for an approval.
    Requested,
    /// It is approved.
    Approved,
    /// It is approved no longer, and never again.
    Withdrawn,
}

impl Statement {
    /// The form's version.
    pub const VERSION: u32 = VERSION;

    /// As it is written and signed.
    ///
    /// # Errors
    /// When it exceeds what is read again.
    pub fn render(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|error| Error::caused("the request cannot be written", error))?;
        if text.len() as u64 > STATEMENT / 2 {
            return Err(Error::new("the skill has too many files for a request")
                .hint("approve it on the machine itself: `agent-skills approve NAME`"));
        }
        Ok(text + "\n")
    }

    /// Reads a file: what it says, and the signature below it, if there is one, with the text that is
    /// signed.
    ///
    /// # Errors
    /// When it is not a statement, or one of a later version.
    pub fn read(text: &str) -> Result<(Self, Option<(&str, &str)>)> {
        let at = text.find(SIGNATURE);
        let (stated, signature) = at.map_or((text, None), |at| {
            let (stated, signature) = text.split_at(at);
            (stated, Some((stated, signature)))
        });
        let wrong = |why: String| {
            Error::new(format!(
                "it is no request for an approval, and no approval: {why}"
            ))
            .hint("`agent-skills approve --request NAME` writes one")
        };
        let read: Self = serde_json::from_str(stated).map_err(|error| wrong(error.to_string()))?;
        if read.version != VERSION {
            return Err(wrong(format!("its version {} is not known", read.version)));
        }
        let name = SkillName::from_written(&read.name);
        if name.is_none_or(|name| name.as_str() != read.name) {
            return Err(wrong("its name is none".to_owned()));
        }
        // One spelling: what is recorded is compared as text.
        let is_hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let digest = read.digest.strip_prefix("sha256:");
        if !digest.is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hex)) {
            return Err(wrong("its digest is none".to_owned()));
        }
        Ok((read, signature))
    }
}

/// How the files `now` differ from those `before`, a line each.
pub fn difference(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, digest) in now {
        match before.get(path) {
            None => lines.push(format!("added {path}")),
            Some(old) if old != digest => lines.push(format!("changed {path}")),
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    lines.extend(gone.map(|path| format!("removed {path}")));
    lines
}
