//! Files by path: bounded reads that never block, and atomic replacement.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Access, CWD, Mode, OFlags, openat};

use super::dir::check_regular;
use super::{Dir, Durable, EntryKind, EntryName};
use crate::error::{Error, Result};

#[cfg(target_os = "linux")]
use rustix::fs::{ResolveFlags, openat2};
#[cfg(target_os = "linux")]
use rustix::io::Errno;

pub use super::dir::{if_there, read_all_capped, read_file_capped};

/// Opens a regular file for reading. Refuses a FIFO or device without blocking on it.
///
/// # Errors
/// Any error of opening, and `InvalidInput` for anything but a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_with_metadata(path).map(|(file, _)| file)
}

/// As [`open_regular`], with the file's metadata.
///
/// # Errors
/// As [`open_regular`].
pub fn open_with_metadata(path: &Path) -> io::Result<(File, Metadata)> {
    open_with(path, OFlags::empty())
}

fn open_with(path: &Path, flags: OFlags) -> io::Result<(File, Metadata)> {
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    Ok((file, metadata))
}

/// Reads a whole regular file of at most `max` bytes.
///
/// # Errors
/// As [`open_regular`], and `FileTooLarge` beyond `max`.
pub fn read_capped(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = open_with_metadata(path)?;
    read_file_capped(&file, metadata.len(), max)
}

/// Reads a whole regular file of at most `max` bytes. A link at `path` is not followed. Also
/// returns the metadata from before the read.
///
/// # Errors
/// As [`read_capped`], and for a link.
pub fn read_unlinked(path: &Path, max: u64) -> io::Result<(Metadata, Vec<u8>)> {
    let (file, metadata) = open_with(path, OFlags::NOFOLLOW)?;
    let bytes = read_file_capped(&file, metadata.len(), max)?;
    Ok((metadata, bytes))
}

/// What `read` finds at `path`, following links; `None` only if nothing is there.
///
/// # Errors
/// Those of `read`, and for a link, also on the way there, that leads nowhere: something was meant
/// to be read.
pub fn unless_missing<T>(
    path: &Path,
    read: impl FnOnce(&Path) -> io::Result<T>,
) -> io::Result<Option<T>> {
    let found = if_there(read(path))?;
    let dangles = |path: &&Path| path.is_symlink() && !path.exists();
    if found.is_none()
        && !is_missing_without_links(path)
        && let Some(link) = path.ancestors().find(dangles)
    {
        let which = if link == path {
            "it".to_owned()
        } else {
            format!("`{}`", link.display())
        };
        let text = format!("{which} is a dangling link");
        return Err(io::Error::other(text));
    }
    Ok(found)
}

/// Whether nothing is at `path`, and no link on the way, as far as one question can tell.
#[cfg(target_os = "linux")]
fn is_missing_without_links(path: &Path) -> bool {
    let (flags, none) = (OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    openat2(CWD, path, flags, none, ResolveFlags::NO_SYMLINKS).is_err_and(|why| why == Errno::NOENT)
}

#[cfg(not(target_os = "linux"))]
fn is_missing_without_links(_: &Path) -> bool {
    false
}

/// The entries of the directory at `path`, as [`Dir::entries`]. Links on the way are followed, so
/// what the entries hold is read through a [`Dir`] where others may write.
///
/// # Errors
/// When there is no directory, or it cannot be read.
pub fn entries(path: &Path) -> io::Result<Vec<(EntryName, EntryKind)>> {
    Dir::anchor(path)?.entries()
}

/// A file without a name, in memory where the system has that: nobody else sees it, and it disappears
/// when it is closed.
///
/// # Errors
/// When it cannot be created.
pub fn unnamed() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if let Ok(file) = rustix::fs::memfd_create("agent-skills", rustix::fs::MemfdFlags::CLOEXEC) {
        return Ok(file.into());
    }
    Dir::anchor(&std::env::temp_dir())?.create_unseen()
}

/// What the kernel says in a file of `/proc` or `/sys`, or nothing.
#[expect(clippy::disallowed_methods, reason = "no file system of others")]
pub fn kernel_text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Replaces the file `path` as [`Dir::replace`] does.
///
/// # Errors
/// When the directory cannot be written; the old file is then untouched.
pub fn replace(path: &Path, bytes: &[u8], mode: u32, durable: Durable) -> Result<()> {
    let written = split(path).and_then(|(dir, name)| dir.replace(&name, bytes, mode, durable));
    written.map_err(|source| Error::io("write", path, &source))
}

impl Dir {
    /// Takes the lock in the file `name`, creating the file if it is missing, and waits at most
    /// `wait`.
    ///
    /// # Errors
    /// When the file cannot be opened, or another process still holds the lock after `wait`.
    pub fn lock(&self, name: &EntryName, wait: Duration) -> Result<FileLock> {
        FileLock::acquire(self.open_lock(name), &self.path_of(name), wait)
    }
}

/// Removes a file of ours. A link of that name is removed, not its target.
///
/// # Errors
/// When it does not exist, or cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    split(path).and_then(|(dir, name)| dir.remove_file(&name))
}

/// The directory of a file, which the user chose, and the file's name in it.
pub(super) fn split(path: &Path) -> io::Result<(Dir, EntryName)> {
    let name = path.file_name().and_then(EntryName::parse);
    let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    Ok((Dir::anchor(dir.unwrap_or(Path::new(".")))?, name))
}

/// Whether this process may create files in `dir`.
pub fn is_writable(dir: &Path) -> bool {
    rustix::fs::access(dir, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// An exclusive lock on a file that exists only for this.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Takes the lock, waiting at most `wait`, and creates the file if it is missing. Never blocks
    /// on a FIFO and never follows a link at `path`.
    ///
    /// # Errors
    /// When the file cannot be opened, or another process still holds the lock after `wait`.
    pub fn exclusive(path: &Path, wait: Duration) -> Result<Self> {
        let file = split(path).and_then(|(dir, name)| dir.open_lock(&name));
        Self::acquire(file, path, wait)
    }

    /// Takes the lock on `file`, the result of opening `path`.
    fn acquire(file: io::Result<File>, path: &Path, wait: Duration) -> Result<Self> {
        let file = file.map_err(|source| {
            Error::io("open lock", path, &source)
                .or_hint("check that its directory can be written to, or remove the file")
        })?;
        let began = Instant::now();
        // Locks are held for about a millisecond. Unlike a blocking `flock`, polling keeps our
        // deadline.
        loop {
            // The trait is named because `File` has a method of that name with another result.
            match fs2::FileExt::try_lock_exclusive(&file) {
                Ok(()) => return Ok(Self { file }),
                Err(error)
                    if error.raw_os_error() == fs2::lock_contended_error().raw_os_error() => {}
                Err(error) => return Err(Error::io("lock", path, &error)),
            }
            if began.elapsed() >= wait {
                let text = format!("`{}` is locked by another process", path.display());
                return Err(Error::new(text).hint("try again when that command has finished"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for FileLock {
    /// Closing our descriptor is not enough: a child that another thread starts right now has a
    /// copy of it until its exec, and with it the lock.
    fn drop(&mut self) {
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_missing_only_if_nothing_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "x").unwrap();
        for (link, target) in [
            ("good", "file"),
            ("dangling", "mnt/file"),
            ("mnt-link", "mnt"),
        ] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        for (name, expected) in [
            ("file", Some(true)),
            ("good", Some(true)),
            ("none", Some(false)),
            ("none/file", Some(false)),
            ("dangling", None),
            ("mnt-link/file", None),
            ("file/below", None),
        ] {
            let read = unless_missing(&at(name), |path| read_capped(path, 10));
            assert_eq!(read.ok().map(|read| read.is_some()), expected, "{name}");
        }
    }

    #[test]
    fn a_fifo_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        assert!(read_capped(&fifo, 10).is_err());
    }

    #[test]
    fn a_file_over_the_cap_is_refused_and_one_at_the_cap_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        fs::write(&file, [7; 10]).unwrap();
        assert_eq!(read_capped(&file, 10).unwrap(), [7; 10]);
        assert_eq!(
            read_capped(&file, 9).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
    }

    #[test]
    fn replacing_leaves_one_file_with_the_mode_asked_for() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        replace(&file, b"one", 0o600, Durable::Yes).unwrap();
        replace(&file, b"two", 0o600, Durable::Yes).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_replacement_keeps_the_old_file_and_no_litter() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("f");
        fs::create_dir_all(target.join("full")).unwrap();
        assert!(replace(&target, b"x", 0o600, Durable::Yes).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

#[cfg(test)]
mod lock_tests {
    use super::*;

    #[test]
    fn a_held_lock_times_out_and_is_had_after_release() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = FileLock::exclusive(&path, Duration::ZERO).unwrap();
        let error = FileLock::exclusive(&path, Duration::from_millis(5)).unwrap_err();
        assert!(
            error.to_string().contains("locked by another process"),
            "{error}"
        );
        // As a child that is being started has it.
        let _copy = held.file.try_clone().unwrap();
        drop(held);
        FileLock::exclusive(&path, Duration::ZERO).unwrap();
    }
}
