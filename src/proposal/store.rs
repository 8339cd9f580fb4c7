//! The proposals that wait, a file each in a directory of their own. A further, empty file tells that
//! the user has not heard of the last of them.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

use super::record::{Comment, Proposal, ProposalId, SEE};
use crate::error::{Error, Result};
use crate::sys::{FileLock, files, limits};

/// The directory of proposals.
#[derive(Debug, Clone)]
pub struct Proposals {
    dir: PathBuf,
}

/// What became of a proposal that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It waits now.
    New,
    /// The same one waited already.
    Already,
}

impl Proposals {
    /// Those in `dir`.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Every one that waits, oldest first, and what is wrong with files that cannot be read.
    pub fn list(&self) -> (Vec<Proposal>, Vec<Error>) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let ids = names.filter_map(|name| ProposalId::parse(name.strip_suffix(".json")?).ok());
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

    /// One of them.
    ///
    /// # Errors
    /// When there is none of this id, or its file cannot be read.
    pub fn get(&self, id: &ProposalId) -> Result<Proposal> {
        let path = self.file(id);
        let bytes = match files::read_capped(&path, limits::PROPOSAL_FILE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::new(format!("there is no proposal {id}")).hint(SEE));
            }
            Err(error) => return Err(Error::io("read", &path, &error).hint("remove the file")),
        };
        let read: Option<Proposal> = serde_json::from_slice(&bytes).ok();
        // The user decides about what was shown under this id, and about nothing put in its place since.
        let is_it = |proposal: &Proposal| {
            proposal.id == *id && *id == ProposalId::of(&proposal.skill, &proposal.change)
        };
        read.filter(is_it).ok_or_else(|| {
            let text = format!(
                "`{}` is no proposal, or was changed since it was written",
                path.display()
            );
            Error::new(text).hint("remove the file")
        })
    }

    /// Keeps a proposal for the user.
    ///
    /// # Errors
    /// When too many wait already, or it cannot be written.
    pub fn add(&self, proposal: &Proposal) -> Result<Added> {
        let _turn = self.turn()?;
        if self.get(&proposal.id).is_ok() {
            return Ok(Added::Already);
        }
        if self.list().0.len() >= limits::PROPOSALS {
            let text = format!("{} proposals wait for the user already", limits::PROPOSALS);
            return Err(Error::new(text)
                .hint("ask the user to decide some of them: `agent-skills proposals list`"));
        }
        self.write(proposal)?;
        // Best effort: the user hears of it a little less.
        let _ = fs::write(self.untold(), "");
        Ok(Added::New)
    }

    /// Adds a comment.
    ///
    /// # Errors
    /// When there is no such proposal, it has too many comments, or it cannot be written.
    pub fn comment(&self, id: &ProposalId, comment: Comment) -> Result<Proposal> {
        self.get(id)?;
        let _turn = self.turn()?;
        let mut proposal = self.get(id)?;
        if proposal.comments.len() >= limits::PROPOSAL_COMMENTS {
            let text = format!("the proposal {id} has {} comments", proposal.comments.len());
            return Err(Error::new(text).hint("that is all it can have: the user should decide"));
        }
        proposal.comments.push(comment);
        self.write(&proposal)?;
        Ok(proposal)
    }

    /// Forgets a proposal that was decided.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, id: &ProposalId) -> Result<()> {
        let path = self.file(id);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &path, &error).hint("remove the file"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the user has not heard of some of them, asked by whoever tells it now: the next one
    /// is told that there is nothing. One system call where nothing is new.
    pub fn take_untold(&self) -> bool {
        fs::remove_file(self.untold()).is_ok()
    }

    fn write(&self, proposal: &Proposal) -> Result<()> {
        let json = serde_json::to_vec_pretty(proposal)
            .map_err(|error| Error::new(format!("could not write the proposal: {error}")))?;
        files::replace_file(&self.file(&proposal.id), &json, 0o600)
    }

    fn turn(&self) -> Result<FileLock> {
        let failed = |error| {
            Error::io("make directory", &self.dir, &error).hint("check that it can be written to")
        };
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&self.dir).map_err(failed)?;
        FileLock::exclusive(&self.dir.join(".lock"), PATIENCE)
    }

    fn file(&self, id: &ProposalId) -> PathBuf {
        self.dir.join(format!("{id}.json"))
    }

    fn untold(&self) -> PathBuf {
        self.dir.join("untold")
    }
}

/// Others hold the lock for a millisecond.
const PATIENCE: Duration = limits::HOOK_LOCK;
