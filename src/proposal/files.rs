//! The waiting proposals: one file each in a directory of their own, and the latest decided ones in
//! another. An empty file marks that the user has not been told about the latest one.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::signing::digest;
use crate::sys::cache_file::make_room;
use crate::sys::text::quoted;
use crate::sys::{Base, Dir, Durable, EntryName, FileLock, files, limits, warn};

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
    pub change: ProposedChange,
    /// The model's reason.
    pub justification: String,
    /// The model's evidence for it.
    pub evidence: Option<String>,
    /// The time of writing (RFC 3339).
    pub written: String,
    /// The conversation it comes from.
    pub context: Option<String>,
}

/// A change to a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ProposedChange {
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

impl ProposedChange {
    /// `update` or `create`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Update { .. } => "update",
            Self::Create { .. } => "create",
        }
    }

    /// The files that it changes, by their paths in the skill.
    pub fn files(&self) -> Vec<&str> {
        match self {
            Self::Update { files, .. } => files.keys().map(String::as_str).collect(),
            Self::Create { .. } => vec!["SKILL.md"],
        }
    }
}

impl ProposalId {
    /// The id of a proposal to do `change` with `skill`.
    pub fn new(skill: &str, change: &ProposedChange) -> Self {
        let (about, text) = match change {
            ProposedChange::Update { dir, diff, .. } => (dir.as_str(), diff),
            ProposedChange::Create { text } => ("", text),
        };
        let whole = [change.kind(), skill, about, text].join("\0");
        Self(digest(whole.as_bytes(), false)[..LENGTH].to_owned())
    }

    /// Parses an id that a person wrote.
    ///
    /// # Errors
    /// When no proposal can have it.
    pub fn parse(written: &str) -> Result<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if written.len() == LENGTH && written.bytes().all(is_digit) {
            return Ok(Self(written.to_owned()));
        }
        let shown = quoted(written);
        Err(Error::new(format!("`{shown}` is not the id of a proposal")).hint(SEE))
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
const SEE: &str = "`agent-skills proposals list` shows the open ones";

/// A directory of proposals.
#[derive(Debug, Clone)]
pub struct Proposals {
    base: Base,
    place: EntryName,
}

const WAITING: EntryName = EntryName::from_static("proposals");
const DECIDED: EntryName = EntryName::from_static("decided-proposals");
const LOCK: EntryName = EntryName::from_static(".lock");
/// Marks that the user has not been told about the latest proposal.
const UNTOLD: EntryName = EntryName::from_static("untold");

impl Proposals {
    /// The waiting proposals below the state directory.
    pub fn at(state: &Path) -> Self {
        Self {
            base: Base::own(state.to_owned()),
            place: WAITING,
        }
    }

    /// The latest decided ones below the state directory.
    pub fn decided(state: &Path) -> Self {
        Self {
            place: DECIDED,
            ..Self::at(state)
        }
    }

    /// All proposals, oldest first, and the errors of unreadable files.
    pub fn list(&self) -> (Vec<Proposal>, Vec<Error>) {
        let entries = self.open().and_then(|dir| dir.entries().ok());
        let (mut found, mut broken) = (Vec::new(), Vec::new());
        for (name, _) in entries.unwrap_or_default() {
            match id_of(&name).map(|id| self.get(&id)) {
                Some(Ok(proposal)) => found.push(proposal),
                Some(Err(error)) => broken.push(error),
                None => {}
            }
        }
        found.sort_by(|a, b| (&a.written, &a.id).cmp(&(&b.written, &b.id)));
        (found, broken)
    }

    /// One proposal.
    ///
    /// # Errors
    /// When there is none with this id, or its file cannot be read.
    pub fn get(&self, id: &ProposalId) -> Result<Proposal> {
        let none = || Error::new(format!("there is no proposal {id}")).hint(SEE);
        let (dir, name) = (self.open().ok_or_else(none)?, file(id));
        let path = dir.path_of(&name);
        let bytes = files::if_there(dir.read(&name, limits::PROPOSAL_FILE));
        let bytes = bytes.map_err(|error| Error::io("read", &path, &error).hint("remove the file"));
        let bytes = bytes?.ok_or_else(none)?;
        let read: Option<Proposal> = serde_json::from_slice(&bytes).ok();
        // The content decides the id, so the user decides about exactly what was shown under it.
        let has_its_id = |proposal: &Proposal| {
            proposal.id == *id && *id == ProposalId::new(&proposal.skill, &proposal.change)
        };
        read.filter(has_its_id).ok_or_else(|| {
            let shown = path.display();
            let text = format!("`{shown}` is not a proposal, or was changed after it was recorded");
            Error::new(text).hint("remove the file")
        })
    }

    /// Stores a proposal for the user; `false` if the same one is waiting already.
    ///
    /// # Errors
    /// When too many are waiting already, or it cannot be written.
    pub fn add(&self, proposal: &Proposal) -> Result<bool> {
        let (dir, _turn) = self.open_locked()?;
        if self.get(&proposal.id).is_ok() {
            return Ok(false);
        }
        if self.list().0.len() >= limits::PROPOSALS {
            let count = limits::PROPOSALS;
            let text = format!("{count} proposals are already waiting for the user");
            return Err(Error::new(text)
                .hint("ask the user to decide on some: `agent-skills proposals list`"));
        }
        write(&dir, proposal)?;
        // On failure the user is only not notified.
        let _ = dir.replace(&UNTOLD, b"", 0o600, Durable::No);
        Ok(true)
    }

    /// Moves a waiting proposal to the decided ones, of which the latest stay, if it can be kept there.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn decide(&self, proposal: &Proposal) -> Result<()> {
        if let Err(error) = self.keep(proposal) {
            warn(format_args!("the decided proposal is not kept: {error}"));
        }
        let Some(dir) = self.open() else {
            return Ok(());
        };
        let name = file(&proposal.id);
        let removed = files::if_there(dir.remove_file(&name)).map(drop);
        removed.map_err(|error| dir.error("remove", &name, &error).hint("remove the file"))
    }

    fn keep(&self, proposal: &Proposal) -> Result<()> {
        let base = self.base.clone();
        let (dir, _turn) = Self {
            base,
            place: DECIDED,
        }
        .open_locked()?;
        if !dir.has(&file(&proposal.id)) {
            let is_proposal = |name: &EntryName| id_of(name).is_some();
            make_room(&dir, limits::DECIDED_PROPOSALS, is_proposal);
        }
        write(&dir, proposal)
    }

    /// Whether the user has not been told about the latest proposal. Clears the mark.
    pub fn take_untold(&self) -> bool {
        self.open()
            .is_some_and(|dir| dir.remove_file(&UNTOLD).is_ok())
    }

    fn open_locked(&self) -> Result<(Dir, FileLock)> {
        let state = self.base.make()?;
        let dir = state.make_private_dir(&self.place).map_err(|error| {
            let error = state.error("make directory", &self.place, &error);
            error.or_hint("check that it can be written to")
        })?;
        // Others hold it for about a millisecond.
        let turn = dir.lock(&LOCK, limits::HOOK_LOCK)?;
        Ok((dir, turn))
    }

    fn open(&self) -> Option<Dir> {
        self.base.open().ok()??.open_dir(&self.place).ok()
    }
}

fn write(dir: &Dir, proposal: &Proposal) -> Result<()> {
    let json = serde_json::to_vec_pretty(proposal)
        .map_err(|error| Error::caused("could not write the proposal", error))?;
    let name = file(&proposal.id);
    let written = dir.replace(&name, &json, 0o600, Durable::Yes);
    written.map_err(|error| dir.error("write", &name, &error))
}

fn id_of(file: &EntryName) -> Option<ProposalId> {
    ProposalId::parse(file.as_str()?.strip_suffix(".json")?).ok()
}

fn file(id: &ProposalId) -> EntryName {
    // An id is hexadecimal.
    EntryName::parse(format!("{id}.json")).unwrap_or(UNTOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_decided_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let store = Proposals::at(dir.path());
        let most = limits::DECIDED_PROPOSALS;
        // The latest is the one that was written first.
        for n in (0..most + 3).rev() {
            let text = format!("text {n}");
            let change = ProposedChange::Create { text };
            let proposal = Proposal {
                id: ProposalId::new("x", &change),
                skill: "x".into(),
                change,
                justification: String::new(),
                evidence: None,
                written: format!("2026-11-28T00:{:02}:{:02}Z", n / 60, n % 60),
                context: None,
            };
            assert!(store.add(&proposal).unwrap());
            store.decide(&proposal).unwrap();
            Proposals::decided(dir.path()).get(&proposal.id).unwrap();
            if n == 0 {
                store.add(&proposal).unwrap();
                let place = dir.path().join("decided-proposals");
                std::fs::rename(&place, dir.path().join("kept")).unwrap();
                std::fs::write(&place, "").unwrap();
                store.decide(&proposal).unwrap();
                std::fs::remove_file(&place).unwrap();
                std::fs::rename(dir.path().join("kept"), place).unwrap();
            }
        }
        let (decided, broken) = Proposals::decided(dir.path()).list();
        assert_eq!((decided.len(), broken.len()), (most, 0));
        assert_eq!(store.list().0.len(), 0);
    }
}
