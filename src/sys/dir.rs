//! A directory that others may write to (a project, a skill, a cache, a staging area), held open by
//! its descriptor. Everything below it is reached by entry names without following links, so no
//! content of a repository decides where we write.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use crate::error::Error;

mod make;
#[cfg(test)]
pub mod swapping;
#[cfg(test)]
mod tests;

pub use make::Durable;

/// An open directory.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    /// Its path, for messages and for other programs.
    path: PathBuf,
    /// Whether someone other than the user provides its content ([`Dir::shared`]).
    is_shared: bool,
}

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Dir,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Other,
}

impl Dir {
    /// Opens the directory at a path that the user chose. Links on the way are followed once.
    ///
    /// # Errors
    /// When there is no directory, or it cannot be read.
    #[expect(clippy::disallowed_methods, reason = "the user chose the path")]
    pub fn anchor(path: &Path) -> io::Result<Self> {
        let flags = DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self {
            fd,
            path: path.to_owned(),
            is_shared: false,
        })
    }

    /// As [`Dir::anchor`], but creates the directory if it is missing.
    ///
    /// # Errors
    /// When it cannot be created or opened.
    #[allow(clippy::disallowed_methods, reason = "the user chose the path")]
    pub fn make_anchor(path: &Path) -> io::Result<Self> {
        if let Some(there) = if_there(Self::anchor(path))? {
            return Ok(there);
        }
        std::fs::create_dir_all(path)?;
        Self::anchor(path)
    }

    /// Marks the content as possibly provided by others: a mark below it then counts only if it was
    /// made here ([`Dir::is_ours`]).
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    /// Its path when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of an entry, for messages and for other programs.
    pub fn path_of(&self, name: &EntryName) -> PathBuf {
        self.path.join(name.as_os_str())
    }

    /// An error that names an entry.
    pub fn error(&self, action: &str, name: &EntryName, source: &io::Error) -> Error {
        Error::io(action, &self.path_of(name), source)
    }

    /// Opens a directory in this one.
    ///
    /// # Errors
    /// When it does not exist, or is a link (`ELOOP`).
    pub fn open_dir(&self, name: &EntryName) -> io::Result<Self> {
        Ok(Self {
            fd: open(&self.fd, name, DIRECTORY, 0)?,
            path: self.path_of(name),
            is_shared: self.is_shared,
        })
    }

    /// The directory to which `names` lead, each opened by `step`.
    fn through(
        &self,
        names: &[EntryName],
        step: fn(&Self, &EntryName) -> io::Result<Self>,
    ) -> io::Result<Self> {
        let this = Self {
            fd: self.fd.try_clone()?,
            path: self.path.clone(),
            is_shared: self.is_shared,
        };
        names.iter().try_fold(this, |dir, name| step(&dir, name))
    }

    /// As [`Dir::open_dir`]; `None` if the entry does not exist.
    ///
    /// # Errors
    /// As [`Dir::open_dir`].
    pub fn find_dir(&self, name: &EntryName) -> io::Result<Option<Self>> {
        if_there(self.open_dir(name))
    }

    /// As [`Dir::open_dir`], for a directory any number of directories below this one, or itself.
    ///
    /// # Errors
    /// As [`Dir::open_dir`], also when a directory on the way is a link; `InvalidInput` for a path
    /// that does not only descend.
    pub fn open_dir_below(&self, path: &Path) -> io::Result<Self> {
        if path.as_os_str().is_empty() {
            return self.through(&[], Self::open_dir);
        }
        let path = EntryPath::parse(path).ok_or(io::ErrorKind::InvalidInput)?;
        let (through, last) = path.split();
        self.through(through, Self::open_dir)?.open_dir(last)
    }

    /// Opens a regular file in this directory for reading, with its metadata.
    ///
    /// # Errors
    /// When it does not exist, or is a link (`ELOOP`); `InvalidInput` for anything but a regular
    /// file. Never blocks on a FIFO.
    pub fn open_file(&self, name: &EntryName) -> io::Result<(File, Metadata)> {
        self.regular(name, OFlags::RDONLY, 0)
    }

    /// As [`Dir::open_file`], for a file any number of directories below this one.
    ///
    /// # Errors
    /// As [`Dir::open_file`], also when a directory on the way is a link.
    pub fn open_below(&self, path: &EntryPath) -> io::Result<(File, Metadata)> {
        let (through, last) = path.split();
        self.through(through, Self::open_dir)?.open_file(last)
    }

    fn regular(&self, name: &EntryName, flags: OFlags, mode: u32) -> io::Result<(File, Metadata)> {
        let file = File::from(open(&self.fd, name, flags, mode)?);
        let metadata = file.metadata()?;
        check_regular(&metadata)?;
        Ok((file, metadata))
    }

    /// Reads a whole regular file of at most `max` bytes.
    ///
    /// # Errors
    /// As [`Dir::open_file`], and `FileTooLarge` beyond `max`.
    pub fn read(&self, name: &EntryName, max: u64) -> io::Result<Vec<u8>> {
        let (file, metadata) = self.open_file(name)?;
        read_file_capped(&file, metadata.len(), max)
    }

    /// As [`Dir::read`], for a file any number of directories below this one.
    ///
    /// # Errors
    /// As [`Dir::open_below`], and `FileTooLarge` beyond `max`.
    pub fn read_below(&self, path: &EntryPath, max: u64) -> io::Result<Vec<u8>> {
        let (file, metadata) = self.open_below(path)?;
        read_file_capped(&file, metadata.len(), max)
    }

    /// The target of a link.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn read_link(&self, name: &EntryName) -> io::Result<PathBuf> {
        let to = rustix::fs::readlinkat(&self.fd, name.as_os_str(), Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(to.as_bytes())))
    }

    /// What the system knows of an entry, without following a link.
    ///
    /// # Errors
    /// When there is no such entry.
    pub fn stat(&self, name: &EntryName) -> io::Result<Stat> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        Ok(statat(&self.fd, name.as_os_str(), flags)?)
    }

    /// The type of an entry, without following a link; `None` if it does not exist.
    ///
    /// # Errors
    /// Whatever the system reports.
    pub fn kind(&self, name: &EntryName) -> io::Result<Option<EntryKind>> {
        let stat = if_there(self.stat(name))?;
        Ok(stat.map(|stat| kind_of(FileType::from_raw_mode(stat.st_mode))))
    }

    /// Whether an entry of this name exists, including a dangling link.
    pub fn has(&self, name: &EntryName) -> bool {
        // An entry that cannot be examined exists.
        !matches!(self.kind(name), Ok(None))
    }

    /// The entries, in no particular order.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn entries(&self) -> io::Result<Vec<(EntryName, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            // What cannot be named must not be missing in a digest.
            let name = EntryName::parse(OsStr::from_bytes(name));
            let name = name.ok_or(io::ErrorKind::InvalidFilename)?;
            let kind = match entry.file_type() {
                // Some file systems do not report the type.
                FileType::Unknown => self.kind(&name)?,
                known => Some(kind_of(known)),
            };
            // `None` if it was removed meanwhile.
            entries.extend(kind.map(|kind| (name, kind)));
        }
        Ok(entries)
    }

    pub(super) fn open_lock(&self, name: &EntryName) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        Ok(self.regular(name, flags, 0o600)?.0)
    }
}

fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::Directory => EntryKind::Dir,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

/// Flags of every open. With them, no open waits for the other end of a FIFO.
const ALWAYS: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);
/// For directories.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Permission bits in the type that the system uses.
#[allow(
    clippy::useless_conversion,
    reason = "their type is not the same on every system"
)]
fn mode_of(bits: u32) -> Mode {
    Mode::from_raw_mode((bits & 0o7777).try_into().unwrap_or_default())
}

/// Opens one name. For a path of one component, `O_NOFOLLOW` is enough on every kernel.
///
/// # Errors
/// `ELOOP` if it is a link, and any other error of opening.
fn open(dir: &OwnedFd, name: &EntryName, flags: OFlags, mode: u32) -> io::Result<OwnedFd> {
    let mode = mode_of(mode);
    openat(dir, name.as_os_str(), flags | ALWAYS, mode).map_err(|error| {
        // For a link opened as a directory, the error says only that it is not a directory.
        let is_link = || {
            statat(dir, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
        };
        match error {
            Errno::NOTDIR if is_link() => Errno::LOOP.into(),
            // BSD reports a link that was not followed in this way.
            Errno::MLINK => Errno::LOOP.into(),
            error => error.into(),
        }
    })
}

/// The result of an operation on a file; `None` if the file does not exist.
///
/// # Errors
/// Any other error of the operation.
pub fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Checks that a file is a regular one.
///
/// # Errors
/// `InvalidInput` for anything else.
pub fn check_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let text = "not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// Reads a whole open regular file, whose reported size is `size` bytes, in one read.
///
/// # Errors
/// As [`read_all_capped`].
pub fn read_file_capped(file: &File, size: u64, max: u64) -> io::Result<Vec<u8>> {
    let room = usize::try_from(size.min(max)).unwrap_or_default();
    let mut bytes = vec![0; room + 1];
    let read = match (&*file).read(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    bytes.truncate(read);
    // Size and read agree. Otherwise the file has changed, or its file system reports no sizes.
    if read == room && read > 0 {
        return Ok(bytes);
    }
    read_into(bytes, file, max)
}

/// Reads all of `source`, up to `max` bytes.
///
/// # Errors
/// Any error of the reader, and `FileTooLarge` beyond `max`.
pub fn read_all_capped(source: impl Read, max: u64) -> io::Result<Vec<u8>> {
    read_into(Vec::new(), source, max)
}

fn read_into(mut bytes: Vec<u8>, source: impl Read, max: u64) -> io::Result<Vec<u8>> {
    let left = (max + 1).saturating_sub(bytes.len() as u64);
    source.take(left).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let text = format!("larger than {max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// The maximum length of a file name in bytes, on most file systems.
const LONGEST: usize = 255;

/// The name of one directory entry: not empty, no `/`, no NUL, neither `.` nor `..`. It cannot lead
/// out of the directory in which it is looked up.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryName(Cow<'static, [u8]>);

impl EntryName {
    /// A constant name, checked at compile time.
    ///
    /// # Panics
    /// When it is not the name of one entry.
    pub const fn from_static(name: &'static str) -> Self {
        assert!(is_one(name.as_bytes()), "not the name of one entry");
        Self(Cow::Borrowed(name.as_bytes()))
    }

    /// Parses a name; `None` if it is not a single path component.
    pub fn parse(name: impl AsRef<OsStr>) -> Option<Self> {
        let bytes = name.as_ref().as_bytes();
        is_one(bytes).then(|| Self(Cow::Owned(bytes.to_owned())))
    }

    /// A variant of this name that no other process or call uses. It starts with a dot and ends in
    /// `.tmp`, by which it is recognised if a kill leaves it behind.
    #[must_use]
    pub fn temporary(&self) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let begin = &self.0[..self.0.len().min(LONGEST / 2)];
        let end = format!(".{}-{count}.tmp", std::process::id());
        Self(Cow::Owned([b".", begin, end.as_bytes()].concat()))
    }

    /// This name, shortened if necessary, with `end` appended.
    #[must_use]
    pub fn with_end(&self, end: &Self) -> Self {
        let room = (LONGEST - end.0.len()).min(self.0.len());
        Self(Cow::Owned([&self.0[..room], &end.0].concat()))
    }

    /// The name as an OS string.
    pub fn as_os_str(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }

    /// The name as text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl fmt::Debug for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_os_str().fmt(f)
    }
}

const fn is_one(name: &[u8]) -> bool {
    if name.is_empty() || name.len() > LONGEST || matches!(name, b"." | b"..") {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if matches!(name[at], b'/' | 0) {
            return false;
        }
        at += 1;
    }
    true
}

/// A relative path that only descends: one or more names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPath {
    through: Vec<EntryName>,
    last: EntryName,
}

impl EntryPath {
    /// Parses a path; `None` if it is empty, absolute or contains `..`.
    pub fn parse(path: impl AsRef<Path>) -> Option<Self> {
        let names = path.as_ref().components().filter_map(|part| match part {
            Component::CurDir => None,
            Component::Normal(name) => Some(EntryName::parse(name)),
            _ => Some(None),
        });
        let mut through: Vec<_> = names.collect::<Option<_>>()?;
        let last = through.pop()?;
        Some(Self { through, last })
    }

    /// The names up to the last one, and the last one.
    pub(super) fn split(&self) -> (&[EntryName], &EntryName) {
        (&self.through, &self.last)
    }
}

impl From<EntryName> for EntryPath {
    fn from(last: EntryName) -> Self {
        let through = Vec::new();
        Self { through, last }
    }
}

#[cfg(test)]
mod name_tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_single_name_is_none() {
        for bad in ["", ".", "..", "/", "a/b", "a/", "a\0", &"x".repeat(256)] {
            assert_eq!(EntryName::parse(bad), None, "{bad:?}");
        }
        for good in ["a", "...", ".a", "a b", "-", "\u{202e}", &"x".repeat(255)] {
            assert!(EntryName::parse(good).is_some(), "{good:?}");
        }
        for bad in ["", ".", "..", "/a", "a/../b", "a/..", "a\0"] {
            assert_eq!(EntryPath::parse(bad), None, "{bad:?}");
        }
        assert_eq!(EntryPath::parse("./a//b/"), EntryPath::parse("a/b"));
    }

    proptest! {
        #[test]
        fn a_name_is_one_component_and_what_is_made_of_it_too(text in any::<String>()) {
            if let Some(name) = EntryName::parse(&text) {
                for name in [name.temporary(), name.with_end(&EntryName::from_static(".lock")), name] {
                    let path = Path::new(name.as_os_str());
                    prop_assert!(matches!(path.components().collect::<Vec<_>>()[..], [Component::Normal(_)]));
                    prop_assert_eq!(EntryName::parse(name.as_os_str()), Some(name));
                }
            }
        }
    }
}
