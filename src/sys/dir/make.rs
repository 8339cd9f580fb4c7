//! Creating, replacing, moving and removing entries. A directory is removed with its content only if it
//! carries our mark, and by descriptor, so that no link and no concurrent move can redirect that.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{
    AtFlags, OFlags, RenameFlags, fchmod, fstat, mkdirat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use super::{Dir, EntryKind, EntryName, EntryPath, if_there, mode_of, open};

/// Whether a new file survives a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// It does; writing waits for the disk.
    Yes,
    /// It may not: for files that mean nothing after a reboot.
    No,
}

impl Dir {
    /// Creates a directory that does not exist yet.
    ///
    /// # Errors
    /// `AlreadyExists`, and whatever the system reports.
    pub fn new_dir(&self, name: &EntryName) -> io::Result<Self> {
        self.new_dir_with(name, 0o777)
    }

    pub(super) fn new_dir_with(&self, name: &EntryName, mode: u32) -> io::Result<Self> {
        mkdirat(&self.fd, name.as_os_str(), mode_of(mode))?;
        self.open_dir(name)
    }

    /// Opens a directory in this one, which is created if it is missing.
    ///
    /// # Errors
    /// When it cannot be created, or its name is that of a link or a file.
    pub fn make_dir(&self, name: &EntryName) -> io::Result<Self> {
        self.make_dir_with(name, 0o777)
    }

    /// As [`Dir::make_dir`], but a new directory is accessible to this user only.
    ///
    /// # Errors
    /// As [`Dir::make_dir`].
    pub fn make_private_dir(&self, name: &EntryName) -> io::Result<Self> {
        self.make_dir_with(name, 0o700)
    }

    fn make_dir_with(&self, name: &EntryName, mode: u32) -> io::Result<Self> {
        match self.new_dir_with(name, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.open_dir(name),
            created => created,
        }
    }

    /// As [`Dir::make_dir`], with the directories on the way to it.
    ///
    /// # Errors
    /// As [`Dir::make_dir`].
    pub fn make_below(&self, path: &EntryPath) -> io::Result<Self> {
        let (through, last) = path.split();
        self.through(through, Self::make_dir)?.make_dir(last)
    }

    /// Creates a new file for writing, with the directories on the way to it.
    ///
    /// # Errors
    /// `AlreadyExists`, and whatever the system reports.
    pub fn create_below(&self, path: &EntryPath, mode: u32) -> io::Result<File> {
        let (through, last) = path.split();
        self.through(through, Self::make_dir)?.create(last, mode)
    }

    /// Overwrites an existing regular file any number of directories below this one, and keeps its
    /// permissions. Not atomic: for files that nobody else reads yet.
    ///
    /// # Errors
    /// When it does not exist, a link is on the way, or it cannot be written.
    pub fn rewrite_below(&self, path: &EntryPath, bytes: &[u8]) -> io::Result<()> {
        let (through, last) = path.split();
        let dir = self.through(through, Self::open_dir)?;
        let (mut file, _) = dir.regular(last, OFlags::WRONLY, 0)?;
        file.set_len(0)?;
        file.write_all(bytes)
    }

    /// Creates a new file for reading and writing.
    ///
    /// # Errors
    /// `AlreadyExists`, and whatever the system reports.
    pub fn create(&self, name: &EntryName, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        Ok(open(&self.fd, name, flags, mode)?.into())
    }

    /// A file without a name: nobody else sees it, and it disappears when it is closed.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create_unseen(&self) -> io::Result<File> {
        const UNSEEN: EntryName = EntryName::from_static("unseen");
        let name = UNSEEN.temporary();
        let file = self.create(&name, 0o600)?;
        self.remove_file(&name)?;
        Ok(file)
    }

    /// Opens a regular file for appending, which is created if it is missing.
    ///
    /// # Errors
    /// When it cannot be opened. A link is not followed.
    pub fn append(&self, name: &EntryName, mode: u32) -> io::Result<(File, Metadata)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND;
        self.regular(name, flags, mode)
    }

    /// Creates a symbolic link, which this type never follows.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn link_to(&self, target: &Path, name: &EntryName) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.fd, name.as_os_str())?)
    }

    /// Replaces the file `name` with `bytes` atomically: readers see the whole old or the whole new
    /// file, even after a kill or on a full disk. A link of that name is replaced, not followed.
    ///
    /// # Errors
    /// When it cannot be written; the old file is then untouched.
    pub fn replace(
        &self,
        name: &EntryName,
        bytes: &[u8],
        mode: u32,
        durable: Durable,
    ) -> io::Result<()> {
        self.replace_through(self, name, bytes, mode, durable)
    }

    /// As [`Dir::replace`], with the temporary file in `scratch`, on the same file system: for
    /// writers that clean up there themselves after a kill.
    ///
    /// # Errors
    /// As [`Dir::replace`].
    pub fn replace_through(
        &self,
        scratch: &Self,
        name: &EntryName,
        bytes: &[u8],
        mode: u32,
        durable: Durable,
    ) -> io::Result<()> {
        self.put(scratch, name, mode, |file| {
            file.write_all(bytes)?;
            match durable {
                Durable::Yes => file.sync_data(),
                Durable::No => Ok(()),
            }
        })
    }

    /// Makes a file in `scratch`, which `write` writes, and moves it into the place of `name`; of one
    /// that cannot be written or moved nothing is left.
    fn put(
        &self,
        scratch: &Self,
        name: &EntryName,
        mode: u32,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let temporary = name.temporary();
        let file = scratch.create(&temporary, mode);
        let written = file.and_then(|mut file| write(&mut file));
        let moved = written.and_then(|()| scratch.rename(&temporary, self, name));
        moved.inspect_err(|_| {
            // Errors here do not matter: the first one is reported.
            let _ = scratch.remove_file(&temporary);
        })
    }

    /// Replaces several files durably, in this order. All of them are written before the first is
    /// replaced: an error changes nothing, unless the system refuses to rename what it has let us
    /// write. A kill meanwhile can leave the first of them new and the others old.
    ///
    /// # Errors
    /// As [`Dir::replace`], and `IsADirectory` for a name that is one's.
    pub fn replace_all(&self, files: &[(EntryName, &[u8])], mode: u32) -> io::Result<()> {
        let mut written = Vec::new();
        let replaced = (|| {
            for (name, bytes) in files {
                if self.kind(name)? == Some(EntryKind::Dir) {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                let temporary = name.temporary();
                let mut file = self.create(&temporary, mode)?;
                written.push((temporary, name));
                file.write_all(bytes)?;
                file.sync_data()?;
            }
            let mut moves = written.iter();
            moves.try_for_each(|(temporary, name)| self.rename(temporary, self, name))
        })();
        if replaced.is_err() {
            for (temporary, _) in written {
                // Errors here do not matter: the first one is reported.
                let _ = self.remove_file(&temporary);
            }
        }
        replaced
    }

    /// As [`Dir::replace`], durably and for a file of somebody else's program: owner, group and
    /// permissions are those of `kept`, whatever the umask says. Where this process may not give it
    /// that group, only its owner may use it.
    ///
    /// # Errors
    /// As [`Dir::replace`], also when this process may not give the file that owner.
    pub fn replace_as(&self, name: &EntryName, bytes: &[u8], kept: &Metadata) -> io::Result<()> {
        self.put(self, name, 0o600, |file| {
            file.write_all(bytes)?;
            let new = file.metadata()?;
            let mut mode = kept.mode() & 0o7777;
            if new.uid() != kept.uid() {
                fchown(&*file, Some(kept.uid()), Some(kept.gid()))?;
            } else if new.gid() != kept.gid() {
                match fchown(&*file, None, Some(kept.gid())) {
                    // Its owner is not in that group.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => mode &= 0o700,
                    changed => changed?,
                }
            }
            file.set_permissions(Permissions::from_mode(mode))?;
            file.sync_data()
        })
    }

    /// Lets everybody read a file, and its owner write it.
    ///
    /// # Errors
    /// As [`Dir::open_file`], and when it is somebody else's.
    pub fn publish(&self, name: &EntryName) -> io::Result<()> {
        let (file, _) = self.open_file(name)?;
        file.set_permissions(Permissions::from_mode(0o644))
    }

    /// Lets everybody read this directory, and its owner write it.
    ///
    /// # Errors
    /// When it is somebody else's.
    pub fn publish_itself(&self) -> io::Result<()> {
        Ok(fchmod(&self.fd, mode_of(0o755))?)
    }

    /// Moves an entry to `to`, where it may replace a file or an empty directory.
    ///
    /// # Errors
    /// Whatever the system reports.
    pub fn rename(&self, name: &EntryName, to: &Self, new: &EntryName) -> io::Result<()> {
        let (name, new) = (name.as_os_str(), new.as_os_str());
        Ok(renameat(&self.fd, name, &to.fd, new)?)
    }

    /// Swaps two entries of one file system atomically. `false`, with nothing changed, if the
    /// system does not support that.
    ///
    /// # Errors
    /// Whatever the system reports about the entries themselves.
    pub fn exchange(&self, name: &EntryName, other: &Self, its: &EntryName) -> io::Result<bool> {
        let (a, b) = (name.as_os_str(), its.as_os_str());
        match renameat_with(&self.fd, a, &other.fd, b, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file of ours. A link of that name is removed, not its target.
    ///
    /// # Errors
    /// When it does not exist, or cannot be removed.
    pub fn remove_file(&self, name: &EntryName) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name.as_os_str(), AtFlags::empty())?)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// When it does not exist, or is not empty.
    pub fn remove_empty(&self, name: &EntryName) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name.as_os_str(), AtFlags::REMOVEDIR)?)
    }

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

/// The file that marks a directory as made by us. It contains the directory's inode number, which
/// the author of a repository cannot predict.
pub const MARK: EntryName = EntryName::from_static(".agent-skills");
/// The maximum number of nested directories that are open while they are emptied.
const DEPTH: usize = 64;
