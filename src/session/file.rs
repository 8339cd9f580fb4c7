//! One copy of the state file: read and replaced as a whole, and trusted only if no other user
//! could have written it.

use std::cell::RefCell;
use std::fmt::Display;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use std::time::Instant;

use super::state::{State, Unreadable};
use crate::error::{Error, Result};
use crate::sys::process::effective_user;
use crate::sys::stamp::Stamp;
use crate::sys::{Dir, Durable, files, limits};

/// How long a call relies on the state that it has read, if the file looks unchanged.
const STATE_SEEN: Duration = Duration::from_millis(100);

/// A place where a copy of the state may be.
#[derive(Debug, Clone)]
pub(super) struct StateFile {
    path: PathBuf,
    /// Cache of the last read, because a hook reads several times. It is trusted only briefly: some
    /// file systems count times in seconds, and a new file may get the inode number of a deleted
    /// one.
    seen: Rc<RefCell<Option<Seen>>>,
}

/// The stamp of the file, the time at which it was read, and the state in it.
type Seen = (Stamp, Instant, Rc<State>);

/// Whether another user could have written the file.
pub(super) fn is_forgeable(metadata: &Metadata) -> bool {
    metadata.mode() & 0o022 != 0 || ![effective_user(), 0].contains(&metadata.uid())
}

impl StateFile {
    pub(super) fn at(path: PathBuf) -> Self {
        Self {
            path,
            seen: Rc::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The whole state, or `None` if there is no file yet.
    pub(super) fn read(&self) -> Result<Option<Rc<State>>, Unreadable> {
        let is_same = |(stamp, at, _): &&Seen| {
            let now = fs::metadata(&self.path);
            at.elapsed() < STATE_SEEN && now.is_ok_and(|now| Stamp::from_metadata(&now) == *stamp)
        };
        if let Some((.., state)) = self.seen.borrow().as_ref().filter(is_same) {
            return Ok(Some(state.clone()));
        }
        self.read_anew()
    }

    /// As [`StateFile::read`], from disk without the cache.
    pub(super) fn read_anew(&self) -> Result<Option<Rc<State>>, Unreadable> {
        self.seen.take();
        let at = Instant::now();
        let unreadable = |error: &dyn Display| Unreadable::File(error.to_string());
        let opened = files::unless_missing(&self.path, files::open_with_metadata);
        let Some((file, metadata)) = opened.map_err(|error| unreadable(&error))? else {
            return Ok(None);
        };
        if is_forgeable(&metadata) {
            return Err(unreadable(&"another user could have written it"));
        }
        let bytes = files::read_file_capped(&file, metadata.len(), limits::STATE_FILE);
        let bytes = bytes.map_err(|error| unreadable(&error))?;
        let state: State = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        if state.version != State::VERSION {
            let text = format!("its version {} is not known", state.version);
            return Err(unreadable(&text));
        }
        // No later write could exceed this serial.
        if state.serial == u64::MAX {
            return Err(unreadable(&"its serial cannot be continued"));
        }
        let state = Rc::new(state);
        *self.seen.borrow_mut() = Some((Stamp::from_metadata(&metadata), at, state.clone()));
        Ok(Some(state))
    }

    /// Whether the file belongs to another user, or its directory does and we cannot enter it.
    pub(super) fn is_anothers(&self) -> bool {
        let owner = |path: &Path| Some(fs::metadata(path).ok()?.uid());
        let owner = owner(&self.path).or_else(|| owner(self.path.parent()?));
        owner.is_some_and(|owner| owner != effective_user())
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// When it would be too large to be read again, or cannot be written.
    pub(super) fn write(&self, state: &State) -> Result<()> {
        let json = serde_json::to_vec(state).map_err(|error| {
            Error::caused("the record of active skills cannot be written", error)
        })?;
        if json.len() as u64 > limits::STATE_FILE {
            let text = "the record of active skills would be too large to be read again";
            return Err(Error::new(text).hint("the user can run `agent-skills deactivate`"));
        }
        // The cache is invalid: the new file may get the inode number, size and times of the old
        // one.
        self.seen.take();
        let replace = || files::replace(&self.path, &json, 0o600, Durable::No);
        let written = replace().or_else(|error| {
            // The user's directories may not exist yet.
            let dir = self.path.parent().filter(|dir| !dir.exists());
            dir.filter(|dir| Dir::make_anchor(dir).is_ok())
                .map_or(Err(error), |_| replace())
        });
        written.map_err(|error| {
            let dir = self.path.parent().unwrap_or(&self.path).display();
            error.hint(format!(
                "the user can make room on the disk, and `{dir}` writable"
            ))
        })
    }

    /// Removes the file if possible.
    pub(super) fn remove(&self) {
        self.seen.take();
        let _ = files::remove(&self.path);
    }
}
