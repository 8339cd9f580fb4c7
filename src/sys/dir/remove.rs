//! Removes directories with their content: only those that carry our mark, and by descriptor, so
//! that no link and no concurrent move can redirect the removal.

use std::io::{self, ErrorKind, Write};

use rustix::fs::{AtFlags, fstat, unlinkat};

use super::{Dir, EntryKind, EntryName, if_there};

/// The file that marks a directory as made by us. It contains the directory's inode number, which
/// the author of a repository cannot predict.
pub const MARK: EntryName = EntryName::from_static(".agent-skills");
/// The maximum number of nested directories that are open while they are emptied.
const DEPTH: usize = 64;

impl Dir {
    /// Creates a directory that only this user can enter, and marks it as ours.
    ///
    /// # Errors
    /// `AlreadyExists`, and whatever the system reports.
    pub fn new_of_ours(&self, name: &EntryName) -> io::Result<Self> {
        let dir = self.new_dir_with(name, 0o700)?;
        dir.mark()?;
        Ok(dir)
    }

    /// Marks this directory as made by us.
    ///
    /// # Errors
    /// When it has a mark already, or it cannot be written.
    pub fn mark(&self) -> io::Result<()> {
        let mut file = self.create(&MARK, 0o600)?;
        file.write_all(self.number()?.as_bytes())
    }

    /// Whether we made this directory. If others provide its content, the mark must have been made
    /// for this very directory; otherwise a copied mark, as in a backup, is enough.
    pub fn is_ours(&self) -> bool {
        let Ok(mark) = self.read(&MARK, 64) else {
            return false;
        };
        !self.is_shared || self.number().is_ok_and(|number| number.as_bytes() == mark)
    }

    fn number(&self) -> io::Result<String> {
        Ok(format!("{}\n", fstat(&self.fd)?.st_ino))
    }

    /// Whether it is empty or contains only an empty mark, as after a kill while it was being
    /// marked or removed.
    fn is_blank(&self) -> bool {
        let is_empty_mark = |(name, kind): &(EntryName, EntryKind)| {
            let is_empty = || self.read(&MARK, 0).is_ok();
            *name == MARK && *kind == EntryKind::File && is_empty()
        };
        self.entries()
            .is_ok_and(|entries| entries.iter().all(is_empty_mark))
    }

    /// Removes a directory in which a kill left no mark or half a mark, and nothing else.
    ///
    /// # Errors
    /// `DirectoryNotEmpty` for any other; whatever the system reports.
    pub fn remove_blank(&self, name: &EntryName) -> io::Result<()> {
        let dir = self.open_dir(name)?;
        if !dir.is_blank() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        dir.remove_mark()?;
        self.remove_empty(name)
    }

    fn remove_mark(&self) -> io::Result<()> {
        if_there(self.remove_file(&MARK)).map(drop)
    }

    /// Removes a directory with its content if it carries our mark, lies in one that does, or is
    /// empty. A link in it is removed, not followed. A missing directory is not an error.
    ///
    /// # Errors
    /// `PermissionDenied` for a directory that is not ours, which stays unchanged; whatever the
    /// system reports.
    pub fn remove_ours(&self, name: &EntryName) -> io::Result<()> {
        let Some(dir) = self.find_dir(name)? else {
            return Ok(());
        };
        if !dir.is_ours() && !self.is_ours() {
            if dir.is_blank() {
                return self.remove_blank(name);
            }
            let text = "it was not made by agent-skills";
            return Err(io::Error::new(ErrorKind::PermissionDenied, text));
        }
        // The mark goes last, so that after a kill the rest is still recognised as ours.
        while dir.empty(&dir, 0)? {}
        dir.remove_mark()?;
        self.remove_empty(name).inspect_err(|_| {
            // Something was written into it meanwhile. The mark lets the removal be retried.
            let _ = dir.mark();
        })
    }

    /// Removes every entry except the mark of `top`. Directories deeper than [`DEPTH`] are moved up
    /// to `top`; returns whether there were any.
    fn empty(&self, top: &Self, depth: usize) -> io::Result<bool> {
        let mut again = false;
        for (name, kind) in self.entries()? {
            if depth == 0 && name == MARK {
                continue;
            }
            if_there(match kind {
                EntryKind::Dir if depth == DEPTH => {
                    again = true;
                    self.rename(&name, top, &name.temporary())
                }
                EntryKind::Dir => {
                    again |= self.open_dir(&name)?.empty(top, depth + 1)?;
                    Ok(unlinkat(&self.fd, name.as_os_str(), AtFlags::REMOVEDIR)?)
                }
                _ => self.remove_file(&name),
            })?;
        }
        Ok(again)
    }
}
