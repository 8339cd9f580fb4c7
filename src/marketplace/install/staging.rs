//! Directories in `staging/` in which commands prepare what they move into place. Each is marked as
//! ours and locked while its command runs; an unlocked one was left by a killed command. Nothing
//! else in `staging/` is touched.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::marketplace::lock::InstalledName;
use crate::marketplace::prelude::*;

/// How often to retry removing a directory that is still written to, and the delay between.
const RETRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

pub const STAGING: EntryName = EntryName::from_static("staging");
const LOCK: EntryName = EntryName::from_static("lock");
pub const MUTEX: EntryName = EntryName::from_static(".staging.lock");
/// What a change intends, which exists only while the change is unfinished.
pub const INTENDED: EntryName = EntryName::from_static("intended.json");
/// The subdirectory of the homes.
pub const NEW: EntryName = EntryName::from_static("new");

/// A staging directory of our own, removed when dropped.
#[derive(Debug)]
pub struct Staging {
    base: Dir,
    name: EntryName,
    dir: Dir,
    /// Another one for temporary files, if they are not to be in this.
    pub scratch: Option<Box<Self>>,
    _lock: FileLock,
}

/// The home of the skill `name` in a staging directory: a directory of ours in which it is alone,
/// under its name.
///
/// # Errors
/// When it cannot be made.
pub fn home(staging: &Dir, name: &InstalledName) -> Result<Dir> {
    let homes = staging.make_dir(&NEW);
    let homes = homes.map_err(|error| staging.error("make directory", &NEW, &error))?;
    let home = homes.find_dir(name.entry()).transpose();
    let home = home.unwrap_or_else(|| homes.new_of_ours(name.entry()));
    home.map_err(|error| homes.error("make directory", name.entry(), &error))
}

impl Staging {
    /// Creates a staging directory, waiting at most `wait` for other commands that are creating
    /// one.
    ///
    /// # Errors
    /// When the plugin directory cannot be written.
    pub fn new(base: &Base, wait: Duration) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = base.make()?;
        let failed = |dir: &Dir, name: &EntryName, error| dir.error("make directory", name, &error);
        // Until it is locked, a new directory would look like a leftover.
        let _making = base.lock(&MUTEX, wait)?;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let root = base.make_dir(&STAGING);
            let root = root.map_err(|error| failed(&base, &STAGING, error))?;
            let number = format!("{}-{count}", std::process::id());
            let Some(name) = EntryName::parse(&number) else {
                continue;
            };
            match root.new_of_ours(&name) {
                Ok(dir) => {
                    let lock = dir.lock(&LOCK, Duration::ZERO)?;
                    return Ok(Self {
                        base,
                        name,
                        dir,
                        scratch: None,
                        _lock: lock,
                    });
                }
                // It was left by an earlier process with the same id, or the command that finished
                // last has removed the parent directory.
                Err(error)
                    if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                Err(error) => return Err(failed(&root, &name, error)),
            }
        }
    }

    /// The directory for other programs, and for files that are never moved into place.
    pub fn scratch(&self) -> &Dir {
        &self.scratch.as_deref().unwrap_or(self).dir
    }

    /// The directory.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// An empty directory in which to prepare the skill `name`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn prepare(&self, name: &InstalledName) -> Result<Dir> {
        let home = home(&self.dir, name)?;
        let dir = home.new_dir(name.entry());
        dir.map_err(|error| home.error("make directory", name.entry(), &error))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The next command recovers an unfinished change.
        if !self.dir.has(&INTENDED)
            && let Ok(root) = self.base.open_dir(&STAGING)
        {
            remove(&self.base, &root, &self.name);
        }
    }
}

/// The directories below `root` whose commands are gone, each now locked by us.
pub fn abandoned(root: &Dir) -> Vec<(EntryName, Dir, FileLock)> {
    let entries = root.entries().unwrap_or_default().into_iter();
    let dirs = entries.filter(|(_, kind)| *kind == EntryKind::Dir);
    let locked = dirs.filter_map(|(name, _)| {
        let dir = root.open_dir(&name).ok().filter(Dir::is_ours)?;
        let lock = dir.lock(&LOCK, Duration::ZERO).ok()?;
        Some((name, dir, lock))
    });
    locked.collect()
}

/// Removes one of our directories.
pub fn remove(base: &Dir, root: &Dir, name: &EntryName) {
    // The git of a killed command dies with it, but git's own children write for a few more
    // milliseconds, until their pipes break.
    for _ in 0..RETRIES {
        match root.remove_ours(name) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(PAUSE);
            }
            // Otherwise the next command tries again.
            _ => break,
        }
    }
    // This removes the parent directory if it is empty now.
    let _ = base.remove_empty(&STAGING);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::install::clean;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn litter_is_removed_and_running_commands_are_not_disturbed() {
        let plugin = tempfile::tempdir().unwrap();
        let base = Base::own(plugin.path().to_owned());
        let running = Staging::new(&base, Duration::ZERO).unwrap();
        let root = base.make().unwrap().make_dir(&STAGING).unwrap();
        root.new_of_ours(&EntryName::from_static("1-0")).unwrap();
        fs::create_dir_all(plugin.path().join("staging/1-0/new/x")).unwrap();
        clean(&base, false);
        assert!(!plugin.path().join("staging/1-0").exists());
        assert!(running.dir().path().exists());
        drop(running);
        assert!(!plugin.path().join("staging").exists());
    }

    #[test]
    fn a_directory_half_made_by_a_killed_process_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let own = Base::own(place.path().join("own"));
        let shared = Base::shared(place.path().to_owned(), EntryName::from_static(".chibi"));
        for base in [own, shared] {
            let running = Staging::new(&base, Duration::ZERO).unwrap();
            let root = base.make().unwrap().make_dir(&STAGING).unwrap();
            let at = |path: &str| base.path().join("staging").join(path);
            fs::create_dir(at("1-0")).unwrap();
            fs::create_dir(at("1-1")).unwrap();
            fs::write(at("1-1/.agent-skills"), "").unwrap();
            let marked = root.new_of_ours(&EntryName::from_static("1-2")).unwrap();
            let locked = root.new_of_ours(&EntryName::from_static("1-3")).unwrap();
            drop(locked.lock(&LOCK, Duration::ZERO).unwrap());
            assert!(marked.is_ours() && locked.is_ours());
            // A directory of the user's that contains a file of that name.
            fs::create_dir(at("theirs")).unwrap();
            fs::write(at("theirs/.agent-skills"), "text").unwrap();
            fs::create_dir(at("more")).unwrap();
            fs::write(at("more/.agent-skills"), "").unwrap();
            fs::write(at("more/file"), "text").unwrap();
            clean(&base, false);
            for name in ["1-0", "1-1", "1-2", "1-3"] {
                assert!(!at(name).exists(), "{name}");
            }
            // Where nobody else supplies files, whatever has the mark is ours.
            assert_eq!(
                at("theirs").exists() && at("more/file").exists(),
                base.is_shared()
            );
            assert!(running.dir().path().exists());
        }
    }

    #[test]
    fn what_a_dying_git_makes_anew_is_removed_among_our_own_files() {
        let place = tempfile::tempdir().unwrap();
        let base = Base::own(place.path().join("own"));
        let at = |path: &str| base.path().join("staging").join(path);
        for file in [
            "11-0/history.git/objects/pack/tmp_rev_x",
            "11-1/new.git/config",
            "theirs/history.git/x",
            "11-x/history.git/x",
            "2024-11/thesis/a.txt",
            "2024-12/a.txt",
            "12-0/history.git/x",
            "12-0/thesis/a.txt",
            "12-1/intended.json",
            "12-2/new.git",
        ] {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "x").unwrap();
        }
        clean(&base, true);
        let left = fs::read_dir(base.path().join("staging")).unwrap();
        let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<_> = left.collect();
        left.sort_unstable();
        let theirs = [
            "11-x", "12-0", "12-1", "12-2", "2024-11", "2024-12", "theirs",
        ];
        assert_eq!(left, theirs);
    }

    #[test]
    fn what_a_repository_brings_as_staging_is_not_ours() {
        let project = tempfile::tempdir().unwrap();
        let at = |path: &str| project.path().join(path);
        let base = Base::shared(project.path().to_owned(), EntryName::from_static(".chibi"));
        for dir in ["mine/lock", "mine/.agent-skills"] {
            fs::create_dir_all(at(&format!(".chibi/staging/{dir}"))).unwrap();
        }
        fs::create_dir_all(at(".chibi/staging/1-0/old")).unwrap();
        fs::create_dir_all(at(".chibi/skills")).unwrap();
        for (name, text) in [
            ("lock", ""),
            (".agent-skills", "1\n"),
            ("intended.json", r#"{"name":"x"}"#),
            ("old/SKILL.md", "x"),
        ] {
            fs::write(at(".chibi/staging/1-0").join(name), text).unwrap();
        }
        clean(&base, false);
        drop(Staging::new(&base, Duration::ZERO).unwrap());
        assert!(at(".chibi/staging/1-0/old/SKILL.md").exists());
        assert!(at(".chibi/staging/mine/lock").exists() && !at(".chibi/skills/x").exists());
        // A link in its place is not our staging directory.
        fs::rename(at(".chibi/staging"), at("elsewhere")).unwrap();
        symlink("../elsewhere", at(".chibi/staging")).unwrap();
        clean(&base, false);
        let error = Staging::new(&base, Duration::ZERO).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("staging`: it is a symbolic link"),
            "{error}"
        );
        assert!(at("elsewhere/1-0/old/SKILL.md").exists());
    }
}
