//! Directories in `<plugin>/staging/` in which a command prepares what it will move into place.
//! Each is locked as long as its command lives, which is how litter after a kill is known.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::swap;
use crate::error::{Error, Result};
use crate::sys::FileLock;

/// How often removing a directory that somebody still writes to is tried, and the time between.
const RETRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// A staging directory of our own, removed when dropped.
#[derive(Debug)]
pub struct Staging {
    dir: PathBuf,
    _lock: FileLock,
}

impl Staging {
    /// Makes one, waiting at most `wait` for others that do the same.
    ///
    /// # Errors
    /// When the plugin directory cannot be written.
    pub fn new(plugin_dir: &Path, wait: Duration) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let root = plugin_dir.join("staging");
        let failed = |path: &Path, error| {
            Error::io("make directory", path, &error)
                .hint("check the permissions of the plugin directory")
        };
        fs::create_dir_all(plugin_dir).map_err(|error| failed(plugin_dir, error))?;
        // Between its making and its locking a directory would look like litter.
        let _making = FileLock::exclusive(&mutex(plugin_dir), wait)?;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let dir = root.join(format!("{}-{count}", std::process::id()));
            fs::create_dir_all(&root).map_err(|error| failed(&root, error))?;
            match fs::create_dir(&dir) {
                Ok(()) => {
                    let lock = FileLock::exclusive(&dir.join("lock"), Duration::ZERO)?;
                    return Ok(Self { dir, _lock: lock });
                }
                // A process of the same id left it behind, or the last one to finish has removed
                // the directory around it.
                Err(error)
                    if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                Err(error) => return Err(failed(&dir, error)),
            }
        }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A journal means that a change was left half done; the next command sees to it.
        if !swap::has_journal(&self.dir) {
            remove(&self.dir);
        }
    }
}

/// Finishes or undoes what killed commands left half done, and removes their directories. Those
/// of running commands are not touched. Failure is silent: the next command tries again.
pub fn clean(plugin_dir: &Path) {
    let root = plugin_dir.join("staging");
    if !root.exists() {
        return;
    }
    let Ok(making) = FileLock::exclusive(&mutex(plugin_dir), Duration::ZERO) else {
        return;
    };
    let left = abandoned(&root);
    drop(making);
    for (dir, _lock) in left {
        if swap::recover(plugin_dir, &dir).is_ok() {
            remove(&dir);
        }
    }
}

/// How many directories there are that no running command has locked.
pub fn litter(plugin_dir: &Path) -> usize {
    let making = FileLock::exclusive(&mutex(plugin_dir), Duration::ZERO);
    making.map_or(0, |_making| abandoned(&plugin_dir.join("staging")).len())
}

fn abandoned(root: &Path) -> Vec<(PathBuf, FileLock)> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let locked = entries.filter_map(|entry| {
        let lock = FileLock::exclusive(&entry.path().join("lock"), Duration::ZERO).ok()?;
        Some((entry.path(), lock))
    });
    locked.collect()
}

fn mutex(plugin_dir: &Path) -> PathBuf {
    plugin_dir.join(".staging.lock")
}

fn remove(dir: &Path) {
    // A killed command's git dies with it, but what that git had started writes on for some
    // milliseconds, until it finds nobody to talk to.
    for _ in 0..RETRIES {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(PAUSE);
            }
            // What cannot be removed at all is litter, and found again by the next command.
            _ => break,
        }
    }
    // The directory around it goes with the last one in it.
    if let Some(root) = dir.parent() {
        let _ = fs::remove_dir(root);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn litter_is_removed_and_running_commands_are_not_disturbed() {
        let plugin = tempfile::tempdir().unwrap();
        let running = Staging::new(plugin.path(), Duration::ZERO).unwrap();
        let litter = plugin.path().join("staging/1-0/new/x");
        fs::create_dir_all(&litter).unwrap();
        clean(plugin.path());
        assert!(!plugin.path().join("staging/1-0").exists());
        assert!(running.dir().exists());
        drop(running);
        assert!(!plugin.path().join("staging").exists());
    }
}
