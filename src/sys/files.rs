//! Files: bounded reads that never hang, and whole replacement.

use std::ffi::CString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Error, Result};

/// Opens a regular file for reading. A FIFO or device is refused without waiting for it.
///
/// # Errors
/// Whatever opening says, or `InvalidInput` for anything that is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_with_metadata(path).map(|(file, _)| file)
}

/// As [`open_regular`], with what the system says of the file.
///
/// # Errors
/// As [`open_regular`].
pub fn open_with_metadata(path: &Path) -> io::Result<(File, Metadata)> {
    open_with(path, 0)
}

fn open_with(path: &Path, flags: i32) -> io::Result<(File, Metadata)> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | flags)
        .open(path)?;
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    Ok((file, metadata))
}

/// Whether it is a regular file.
///
/// # Errors
/// `InvalidInput` for anything else.
pub(super) fn check_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let text = "not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// The whole of a regular file of at most `max` bytes.
///
/// # Errors
/// As [`open_regular`], and `FileTooLarge` beyond `max`.
pub fn read_capped(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = open_with_metadata(path)?;
    read_file_capped(&file, metadata.len(), max)
}

/// The whole of a regular file of at most `max` bytes at `path` itself, not behind a link there,
/// and what the system said of it before it was read.
///
/// # Errors
/// As [`read_capped`], and for a link.
pub fn read_unlinked(path: &Path, max: u64) -> io::Result<(Metadata, Vec<u8>)> {
    let (file, metadata) = open_with(path, libc::O_NOFOLLOW)?;
    let bytes = read_file_capped(&file, metadata.len(), max)?;
    Ok((metadata, bytes))
}

/// The whole of an open regular file that the system says is `size` bytes long, in one read.
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
    // Both say that it ends here. Otherwise it changed meanwhile, or its file system knows no sizes.
    if read == room && read > 0 {
        return Ok(bytes);
    }
    read_into(bytes, file, max)
}

/// Everything `source` has, up to `max` bytes.
///
/// # Errors
/// Whatever reading says, and `FileTooLarge` beyond `max`.
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

/// Replaces `path` with `bytes` as one step: readers see the old file or the new one, whole, and
/// so does whoever looks after a kill, a full disk or a power cut.
///
/// # Errors
/// When the directory cannot be written; the old file is then untouched.
pub fn replace_file(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    replace(&temp_sibling(path), path, bytes, mode, true)
}

/// As [`replace_file`], but not proof against a power cut, which saves the wait for the disk: for
/// files that mean nothing after a reboot.
///
/// # Errors
/// As [`replace_file`].
pub fn replace_scratch_file(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    replace(&temp_sibling(path), path, bytes, mode, false)
}

/// As [`replace_file`], with the new file made at `temp`, which is on the same file system: for
/// writers that clean up after a kill in a place of their own.
///
/// # Errors
/// As [`replace_file`].
pub fn replace_file_through(temp: &Path, path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    replace(temp, path, bytes, mode, true)
}

fn replace(temp: &Path, path: &Path, bytes: &[u8], mode: u32, durable: bool) -> Result<()> {
    let written = (|| {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(mode).open(temp)?;
        file.write_all(bytes)?;
        if durable {
            file.sync_data()?;
        }
        fs::rename(temp, path)
    })();
    written.map_err(|source| {
        // The temporary file is litter now; the error to report is the first one.
        let _ = fs::remove_file(temp);
        Error::io("write", path, &source)
    })
}

/// Whether this process may create files in `dir`.
#[allow(unsafe_code)]
pub fn is_writable(dir: &Path) -> bool {
    let Ok(path) = CString::new(dir.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: `path` is a NUL-terminated string that outlives the call.
    unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) == 0 }
}

/// Swaps two paths of one file system as one step. `false` where the system cannot do that;
/// nothing has changed then.
///
/// # Errors
/// Whatever the system says of the paths themselves.
#[allow(unsafe_code)]
pub fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        let a = CString::new(a.as_os_str().as_bytes())?;
        let b = CString::new(b.as_os_str().as_bytes())?;
        // SAFETY: both are NUL-terminated and outlive the call, which keeps no pointer. The system
        // call is made directly because not every libc has a wrapper for it.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_renameat2,
                libc::AT_FDCWD,
                a.as_ptr(),
                libc::AT_FDCWD,
                b.as_ptr(),
                libc::RENAME_EXCHANGE,
            )
        };
        if answer == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINVAL | libc::ENOSYS | libc::ENOTSUP) => Ok(false),
            _ => Err(error),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (a, b);
        Ok(false)
    }
}

/// A name beside `path` that no other process and no other call of this one uses. It begins with
/// a dot and ends in `.tmp`, which is how litter after a kill is known.
pub fn temp_sibling(path: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        replace_file(&file, b"one", 0o600).unwrap();
        replace_file(&file, b"two", 0o600).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn two_directories_are_exchanged_whole_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("b"));
        fs::create_dir_all(a.join("was-a")).unwrap();
        fs::create_dir_all(b.join("was-b")).unwrap();
        let swapped = exchange(&a, &b).unwrap();
        assert_eq!(b.join("was-a").exists(), swapped);
        assert!(exchange(&a, &root.path().join("missing")).is_err() || !swapped);
        assert_eq!(a.join("was-b").exists(), swapped);
    }

    #[test]
    fn a_failed_replacement_keeps_the_old_file_and_leaves_no_litter() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("f");
        fs::create_dir_all(target.join("full")).unwrap();
        assert!(replace_file(&target, b"x", 0o600).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
