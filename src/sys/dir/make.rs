//! Creating, replacing and moving entries.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{
    AtFlags, OFlags, RenameFlags, fchmod, mkdirat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use super::{Dir, EntryKind, EntryName, EntryPath, mode_of, open};

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
}
