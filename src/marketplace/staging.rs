//! Directories in `staging/` in which a command prepares what it will move into place. Each is
//! marked as ours and locked as long as its command lives, which is how litter after a kill is
//! known. Nothing else in `staging/` is touched, whoever put it there.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::installed_name::InstalledName;
use super::swap;
use crate::error::Result;
use crate::sys::{Base, Dir, EntryKind, EntryName, FileLock};

/// How often removing a directory that somebody still writes to is tried, and the time between.
const RETRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

const STAGING: EntryName = EntryName::of("staging");
const LOCK: EntryName = EntryName::of("lock");
const MUTEX: EntryName = EntryName::of(".staging.lock");
/// Where skills are prepared in it.
pub const NEW: EntryName = EntryName::of("new");

/// A staging directory of our own, removed when dropped.
#[derive(Debug)]
pub struct Staging {
    base: Dir,
    name: EntryName,
    dir: Rc<Dir>,
    scratch: Option<Box<Self>>,
    _lock: FileLock,
}

/// Something in a staging directory that is to be moved into place.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The directory that it is in.
    pub within: Rc<Dir>,
    /// Its name there.
    pub name: EntryName,
}

impl Prepared {
    /// Where it is, for reading.
    pub fn path(&self) -> PathBuf {
        self.within.path_of(&self.name)
    }

    /// Makes it, as a directory.
    ///
    /// # Errors
    /// When something is there, or it cannot be made.
    pub fn make(&self) -> Result<Dir> {
        let failed = |error| self.within.error("make directory", &self.name, &error);
        self.within.new_dir(&self.name).map_err(failed)
    }
}

impl Staging {
    /// Makes one, waiting at most `wait` for others that do the same.
    ///
    /// # Errors
    /// When the plugin directory cannot be written.
    pub fn new(base: &Base, wait: Duration) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = base.make()?;
        let failed = |dir: &Dir, name: &EntryName, error| dir.error("make directory", name, &error);
        // Between its making and its locking a directory would look like litter.
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
                        dir: Rc::new(dir),
                        scratch: None,
                        _lock: lock,
                    });
                }
                // A process of the same id left it behind, or the last one to finish has removed
                // the directory around it.
                Err(error)
                    if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                Err(error) => return Err(failed(&root, &name, error)),
            }
        }
    }

    /// The same, with another one for what is only needed on the way.
    #[must_use]
    pub fn with_scratch(mut self, scratch: Self) -> Self {
        self.scratch = Some(Box::new(scratch));
        self
    }

    /// Where other programs work, and where what is never moved into place is made.
    pub fn scratch(&self) -> &Dir {
        self.scratch
            .as_ref()
            .map_or(&self.dir, |scratch| &scratch.dir)
    }

    /// The directory.
    pub fn dir(&self) -> &Rc<Dir> {
        &self.dir
    }

    /// The place to prepare the skill `name` in.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn place_for(&self, name: &InstalledName) -> Result<Prepared> {
        let within = self.dir.make_dir(&NEW);
        let within = within.map_err(|error| self.dir.error("make directory", &NEW, &error))?;
        Ok(Prepared {
            within: Rc::new(within),
            name: name.entry().clone(),
        })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A journal means that a change was left half done; the next command sees to it.
        if !swap::has_journal(&self.dir)
            && let Ok(root) = self.base.open_dir(&STAGING)
        {
            remove(&self.base, &root, &self.name);
        }
    }
}

/// Finishes or undoes what killed commands left half done, and removes their directories. Those
/// of running commands are not touched. Failure is silent: the next command tries again.
pub fn clean(base: &Base) {
    let Ok(Some(dir)) = base.open() else {
        return;
    };
    let Ok(root) = dir.open_dir(&STAGING) else {
        return;
    };
    let Ok(making) = dir.lock(&MUTEX, Duration::ZERO) else {
        return;
    };
    let left = abandoned(&root);
    // A kill beside the making or the removing of a mark leaves a directory that has none, or an
    // empty one, and nothing else either.
    for (name, _) in root.entries().unwrap_or_default() {
        let _ = root.remove_blank(&name);
    }
    drop(making);
    for (name, staging, _lock) in left {
        if swap::recover(base, &staging).is_ok() {
            remove(&dir, &root, &name);
        }
    }
}

/// How many directories of ours there are that no running command has locked.
pub fn litter(base: &Base) -> usize {
    let Ok(Some(dir)) = base.open() else {
        return 0;
    };
    let Ok(root) = dir.open_dir(&STAGING) else {
        return 0;
    };
    let making = dir.lock(&MUTEX, Duration::ZERO);
    making.map_or(0, |_making| abandoned(&root).len())
}

fn abandoned(root: &Dir) -> Vec<(EntryName, Dir, FileLock)> {
    let entries = root.entries().unwrap_or_default().into_iter();
    let dirs = entries.filter(|(_, kind)| *kind == EntryKind::Dir);
    let locked = dirs.filter_map(|(name, _)| {
        let dir = root.open_dir(&name).ok().filter(Dir::is_ours)?;
        let lock = dir.lock(&LOCK, Duration::ZERO).ok()?;
        Some((name, dir, lock))
    });
    locked.collect()
}

fn remove(base: &Dir, root: &Dir, name: &EntryName) {
    // A killed command's git dies with it, but what that git had started writes on for some
    // milliseconds, until it finds nobody to talk to.
    for _ in 0..RETRIES {
        match root.remove_ours(name) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(PAUSE);
            }
            // What cannot be removed at all is litter, and found again by the next command.
            _ => break,
        }
    }
    // The directory around it goes with the last one in it.
    let _ = base.remove_empty(&STAGING);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn litter_is_removed_and_running_commands_are_not_disturbed() {
        let plugin = tempfile::tempdir().unwrap();
        let base = Base::own(plugin.path().to_owned());
        let running = Staging::new(&base, Duration::ZERO).unwrap();
        let root = base.make().unwrap().make_dir(&STAGING).unwrap();
        root.new_of_ours(&EntryName::of("1-0")).unwrap();
        fs::create_dir_all(plugin.path().join("staging/1-0/new/x")).unwrap();
        assert_eq!(litter(&base), 1);
        clean(&base);
        assert!(!plugin.path().join("staging/1-0").exists());
        assert!(running.dir().path().exists());
        drop(running);
        assert!(!plugin.path().join("staging").exists());
    }

    #[test]
    fn a_kill_at_any_step_of_making_a_directory_is_cleaned_up_after_in_a_project_too() {
        let place = tempfile::tempdir().unwrap();
        let own = Base::own(place.path().join("own"));
        let shared = Base::shared(place.path().to_owned(), EntryName::of(".chibi"));
        for base in [own, shared] {
            let running = Staging::new(&base, Duration::ZERO).unwrap();
            let root = base.make().unwrap().make_dir(&STAGING).unwrap();
            let at = |path: &str| base.path().join("staging").join(path);
            fs::create_dir(at("1-0")).unwrap();
            fs::create_dir(at("1-1")).unwrap();
            fs::write(at("1-1/.agent-skills"), "").unwrap();
            let marked = root.new_of_ours(&EntryName::of("1-2")).unwrap();
            let locked = root.new_of_ours(&EntryName::of("1-3")).unwrap();
            drop(locked.lock(&LOCK, Duration::ZERO).unwrap());
            assert!(marked.is_ours() && locked.is_ours());
            // Somebody's own, which has a file of that name.
            fs::create_dir(at("theirs")).unwrap();
            fs::write(at("theirs/.agent-skills"), "text").unwrap();
            fs::create_dir(at("more")).unwrap();
            fs::write(at("more/.agent-skills"), "").unwrap();
            fs::write(at("more/file"), "text").unwrap();
            clean(&base);
            for name in ["1-0", "1-1", "1-2", "1-3"] {
                assert!(!at(name).exists(), "{name}");
            }
            // Where nobody else brings files, whatever has the mark is ours.
            assert_eq!(
                at("theirs").exists() && at("more/file").exists(),
                base.is_shared()
            );
            assert!(running.dir().path().exists());
        }
    }

    #[test]
    fn what_a_repository_brings_as_staging_is_not_ours() {
        let project = tempfile::tempdir().unwrap();
        let at = |path: &str| project.path().join(path);
        let base = Base::shared(project.path().to_owned(), EntryName::of(".chibi"));
        for dir in ["mine/lock", "mine/.agent-skills"] {
            fs::create_dir_all(at(&format!(".chibi/staging/{dir}"))).unwrap();
        }
        fs::create_dir_all(at(".chibi/staging/1-0/old")).unwrap();
        fs::create_dir_all(at(".chibi/skills")).unwrap();
        for (name, text) in [
            ("lock", ""),
            (".agent-skills", "1\n"),
            ("journal.json", r#"{"name":"x"}"#),
            ("old/SKILL.md", "x"),
        ] {
            fs::write(at(".chibi/staging/1-0").join(name), text).unwrap();
        }
        assert_eq!(litter(&base), 0);
        clean(&base);
        drop(Staging::new(&base, Duration::ZERO).unwrap());
        assert!(at(".chibi/staging/1-0/old/SKILL.md").exists());
        assert!(at(".chibi/staging/mine/lock").exists() && !at(".chibi/skills/x").exists());
        // A link in its place is nobody's staging.
        fs::rename(at(".chibi/staging"), at("elsewhere")).unwrap();
        symlink("../elsewhere", at(".chibi/staging")).unwrap();
        clean(&base);
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
