//! The waiting proposals: one file each in a directory of their own. An empty file beside them
//! marks that the user has not been told about the latest one.

use std::path::PathBuf;
use std::time::Duration;

use super::record::{Comment, Proposal, ProposalId, SEE};
use crate::error::{Error, Result};
use crate::sys::{Base, Dir, Durable, EntryName, FileLock, files, limits};

/// Comments on one proposal.
const PROPOSAL_COMMENTS: usize = 20;

/// The directory of proposals.
#[derive(Debug, Clone)]
pub struct Proposals {
    base: Base,
}

const PROPOSALS: EntryName = EntryName::from_static("proposals");
const LOCK: EntryName = EntryName::from_static(".lock");
/// Marks that the user has not been told about the latest proposal.
const UNTOLD: EntryName = EntryName::from_static("untold");

/// The result of submitting a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is now waiting.
    New,
    /// The same proposal was already waiting.
    Already,
}

impl Proposals {
    /// The proposals below the state directory.
    pub fn at(state: PathBuf) -> Self {
        Self {
            base: Base::own(state),
        }
    }

    /// All waiting proposals, oldest first, and the errors of unreadable files.
    pub fn list(&self) -> (Vec<Proposal>, Vec<Error>) {
        let entries = self.open().and_then(|dir| dir.entries().ok());
        let names = entries.into_iter().flatten();
        let id = |name: &EntryName| ProposalId::parse(name.as_str()?.strip_suffix(".json")?).ok();
        let ids = names.filter_map(|(name, _)| id(&name));
        let (mut found, mut broken) = (Vec::new(), Vec::new());
        for id in ids {
            match self.get(&id) {
                Ok(proposal) => found.push(proposal),
                Err(error) => broken.push(error),
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
        let is_it = |proposal: &Proposal| {
            proposal.id == *id && *id == ProposalId::new(&proposal.skill, &proposal.change)
        };
        read.filter(is_it).ok_or_else(|| {
            let text = format!(
                "`{}` is no proposal, or was changed since it was written",
                path.display()
            );
            Error::new(text).hint("remove the file")
        })
    }

    /// Stores a proposal for the user.
    ///
    /// # Errors
    /// When too many are waiting already, or it cannot be written.
    pub fn add(&self, proposal: &Proposal) -> Result<Added> {
        let (dir, _turn) = self.turn()?;
        if self.get(&proposal.id).is_ok() {
            return Ok(Added::Already);
        }
        if self.list().0.len() >= limits::PROPOSALS {
            let text = format!("{} proposals wait for the user already", limits::PROPOSALS);
            return Err(Error::new(text)
                .hint("ask the user to decide some of them: `agent-skills proposals list`"));
        }
        write(&dir, proposal)?;
        // On failure the user is only not notified.
        let _ = dir.replace(&UNTOLD, b"", 0o600, Durable::No);
        Ok(Added::New)
    }

    /// Adds a comment.
    ///
    /// # Errors
    /// When there is no such proposal, it has too many comments, or it cannot be written.
    pub fn comment(&self, id: &ProposalId, comment: Comment) -> Result<Proposal> {
        self.get(id)?;
        let (dir, _turn) = self.turn()?;
        let mut proposal = self.get(id)?;
        if proposal.comments.len() >= PROPOSAL_COMMENTS {
            let text = format!("the proposal {id} has {} comments", proposal.comments.len());
            return Err(Error::new(text).hint("that is all it can have: the user should decide"));
        }
        proposal.comments.push(comment);
        write(&dir, &proposal)?;
        Ok(proposal)
    }

    /// Removes a decided proposal.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, id: &ProposalId) -> Result<()> {
        let Some(dir) = self.open() else {
            return Ok(());
        };
        let name = file(id);
        let removed = files::if_there(dir.remove_file(&name)).map(drop);
        removed.map_err(|error| dir.error("remove", &name, &error).hint("remove the file"))
    }

    /// Whether the user has not been told about the latest proposal. Clears the mark.
    pub fn take_untold(&self) -> bool {
        self.open()
            .is_some_and(|dir| dir.remove_file(&UNTOLD).is_ok())
    }

    fn turn(&self) -> Result<(Dir, FileLock)> {
        let state = self.base.make()?;
        let dir = state.make_private_dir(&PROPOSALS).map_err(|error| {
            let error = state.error("make directory", &PROPOSALS, &error);
            error.or_hint("check that it can be written to")
        })?;
        let turn = dir.lock(&LOCK, PATIENCE)?;
        Ok((dir, turn))
    }

    fn open(&self) -> Option<Dir> {
        self.base.open().ok()??.open_dir(&PROPOSALS).ok()
    }
}

fn write(dir: &Dir, proposal: &Proposal) -> Result<()> {
    let json = serde_json::to_vec_pretty(proposal)
        .map_err(|error| Error::caused("could not write the proposal", error))?;
    let name = file(&proposal.id);
    let written = dir.replace(&name, &json, 0o600, Durable::Yes);
    written.map_err(|error| dir.error("write", &name, &error))
}

fn file(id: &ProposalId) -> EntryName {
    // An id is hexadecimal.
    EntryName::parse(format!("{id}.json")).unwrap_or(UNTOLD)
}

/// How long to wait for the lock. Others hold it for about a millisecond.
const PATIENCE: Duration = limits::HOOK_LOCK;
