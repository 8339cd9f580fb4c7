//! The cache of fetched repositories: for each a bare repository and the last list of its refs. One
//! command at a time may fetch into a repository; reading needs no lock.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::marketplace::fetch::{Failure, Git};
use crate::marketplace::reference::{CommitId, RepoUrl};
use crate::skill::SkillName;
use crate::sys::{Base, Dir, Durable, EntryKind, EntryName, FileLock, limits};

/// What is kept of one repository; fetching a larger one again costs less than keeping it.
const REPOSITORY_CACHE: u64 = 1024 * 1024 * 1024;

const CACHE: EntryName = EntryName::from_static("cache");
const REPOSITORIES: EntryName = EntryName::from_static("repositories");
const OBJECTS: EntryName = EntryName::from_static("objects");
const PACK: EntryName = EntryName::from_static("pack");
const GIT: EntryName = EntryName::from_static(".git");
const REFS: EntryName = EntryName::from_static(".refs");
const LOCK: EntryName = EntryName::from_static(".lock");
pub const NEW: EntryName = EntryName::from_static("new.git");

/// The directory `name` in the cache of the plugin directory `home`, created if missing.
///
/// # Errors
/// When it cannot be created, or is a link.
pub fn cache(home: &Path, name: &EntryName) -> Result<Dir> {
    let home = Base::own(home.to_owned()).make()?;
    let made = home.make_dir(&CACHE).and_then(|cache| cache.make_dir(name));
    made.map_err(|error| home.error("make directory", &CACHE, &error))
}

/// The name of a cached file or directory, a single path component: what people call it, or
/// `otherwise`, and the digest of what identifies it.
pub fn file_name(written: &str, otherwise: EntryName, identity: &str, end: &str) -> EntryName {
    let name = SkillName::from_written(written);
    let name = name.and_then(|name| EntryName::parse(name.as_str()));
    let digest = format!("{:x}", Sha256::digest(identity));
    let end = EntryName::parse(format!("-{}{end}", &digest[..12]));
    name.unwrap_or(otherwise)
        .with_end(&end.unwrap_or(EntryName::from_static("-")))
}

/// One repository's place in the cache.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The bare repository.
    pub dir: PathBuf,
    home: PathBuf,
    stem: EntryName,
}

impl Slot {
    /// The place in the cache of the plugin directory `home` for what git fetches for `url` from
    /// `address`.
    pub fn new(home: &Path, url: &RepoUrl, address: &str) -> Self {
        let otherwise = EntryName::from_static("repository");
        let stem = file_name(url.repo_name(), otherwise, address, "");
        let repositories = home.join(CACHE.as_os_str()).join(REPOSITORIES.as_os_str());
        Self {
            dir: repositories.join(stem.with_end(&GIT).as_os_str()),
            home: home.to_owned(),
            stem,
        }
    }

    fn repositories(&self) -> Result<Dir> {
        cache(&self.home, &REPOSITORIES)
    }

    /// Waits for the lock that allows fetching.
    ///
    /// # Errors
    /// When another command fetches for longer than `wait`, or the cache cannot be written.
    pub fn turn(&self, wait: Duration) -> Result<FileLock> {
        self.repositories()?.lock(&self.stem.with_end(&LOCK), wait)
    }

    /// Creates the repository, or cleans up after a killed git. The caller holds the lock.
    pub fn prepare(&self, git: &Git, commit: &CommitId) -> Result<(), Failure> {
        let repositories = self.repositories()?;
        let name = self.stem.with_end(&GIT);
        if tidy(&repositories, &name).map_err(|e| git.0.local(&e))? {
            return Ok(());
        }
        // It is created elsewhere and renamed into place, so that it is never incomplete.
        let scratch = git.0.scratch;
        git.init(&scratch.path_of(&NEW), commit)?;
        let moved = (|| {
            let new = scratch.open_dir(&NEW)?;
            new.mark()?;
            scratch.rename(&NEW, &repositories, &name)
        })();
        moved.map_err(|e| git.0.local(&e))
    }

    /// Removes what a failed fetch has left behind. The caller holds the lock.
    pub fn tidy(&self) {
        if let Ok(repositories) = self.repositories()
            && let Ok(repository) = repositories.open_dir(&self.stem.with_end(&GIT))
        {
            let _ = tidy_files(&repository);
        }
    }

    /// The last known list of refs.
    pub fn refs(&self) -> Option<String> {
        let repositories = self.repositories().ok()?;
        let bytes = repositories.read(&self.stem.with_end(&REFS), limits::GIT_LISTING);
        String::from_utf8(bytes.ok()?).ok()
    }

    /// Saves the list of refs. On failure they are only queried again next time.
    pub fn cache_refs(&self, refs: &str, scratch: &Dir) {
        if let Ok(dir) = self.repositories() {
            let (name, bytes) = (self.stem.with_end(&REFS), refs.as_bytes());
            let _ = dir.replace_through(scratch, &name, bytes, 0o644, Durable::Yes);
        }
    }
}

/// Removes the leftovers of a killed git; returns whether the repository exists and can be used. It
/// is deleted if fetching it again costs less than keeping it.
fn tidy(repositories: &Dir, name: &EntryName) -> io::Result<bool> {
    let Some(repository) = repositories.find_dir(name)? else {
        return Ok(false);
    };
    let packs = repository.open_dir(&OBJECTS)?.find_dir(&PACK)?;
    if packs.as_ref().map_or(Ok(0), size)? > REPOSITORY_CACHE {
        repositories.remove_ours(name)?;
        return Ok(false);
    }
    tidy_files(&repository)?;
    Ok(true)
}

fn tidy_files(repository: &Dir) -> io::Result<()> {
    remove_litter(repository, |name| name.ends_with(b".lock"));
    if let Some(packs) = repository.open_dir(&OBJECTS)?.find_dir(&PACK)? {
        remove_litter(&packs, |name| name.starts_with(b"tmp_"));
    }
    Ok(())
}

fn size(dir: &Dir) -> io::Result<u64> {
    let files = dir.entries()?.into_iter();
    let files = files.filter(|(_, kind)| *kind == EntryKind::File);
    let sizes = files.filter_map(|(name, _)| Some(dir.open_file(&name).ok()?.1.len()));
    Ok(sizes.sum())
}

/// Removes the files of `dir` whose names mark them as unfinished.
fn remove_litter(dir: &Dir, is_litter: impl Fn(&[u8]) -> bool) {
    for (name, _) in dir.entries().unwrap_or_default() {
        if is_litter(name.as_os_str().as_bytes()) {
            let _ = dir.remove_file(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::testing::World;
    use std::fs;

    #[test]
    fn locks_and_half_packs_of_a_killed_git_are_removed() {
        let world = World::new();
        let url = RepoUrl::github("o", "r").unwrap();
        let slot = Slot::new(&world.path("home"), &url, url.as_str());
        world.with_git(|git| {
            let _turn = slot.turn(Duration::ZERO).unwrap();
            let commit = CommitId::parse(&"a".repeat(40)).unwrap();
            slot.prepare(&git, &commit).unwrap();
            let pack = slot.dir.join("objects/pack");
            let litter = [slot.dir.join("shallow.lock"), pack.join("tmp_pack_x")];
            for path in &litter {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            slot.prepare(&git, &commit).unwrap();
            assert!(litter.iter().all(|path| !path.exists()));
            assert!(slot.dir.join("HEAD").exists());
        });
    }
}
