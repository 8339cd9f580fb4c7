//! An advisory file lock with a deadline, released on drop or when the process dies.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// An exclusive lock on a file that exists only for this.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Takes the lock on `file`, the result of opening `path`.
    pub(super) fn acquire(file: io::Result<File>, path: &Path, wait: Duration) -> Result<Self> {
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
            std::thread::sleep(pause_after(began.elapsed()));
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

/// The pause shrinks with the time waited. If it grew, newcomers would overtake those that wait.
fn pause_after(waited: Duration) -> Duration {
    match waited.as_millis() {
        0..100 => Duration::from_millis(3),
        100..300 => Duration::from_millis(1),
        _ => Duration::from_micros(100),
    }
}

#[cfg(test)]
mod tests {
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
