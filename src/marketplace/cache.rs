//! Where what was fetched from a repository is kept between commands: one bare repository and the
//! last list of its refs. One command at a time fetches into it; reading needs no turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::address::RepoUrl;
use super::failure::Failure;
use super::git::{Call, Git};
use crate::error::{Error, Result};
use crate::skill::SkillName;
use crate::sys::{FileLock, files, limits};

/// The place of one repository in the cache.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The bare repository.
    pub dir: PathBuf,
    refs: PathBuf,
    lock: PathBuf,
}

impl Slot {
    /// The place for `url`, as git is given it.
    pub fn of(cache: &Path, url: &RepoUrl) -> Self {
        let digest = format!("{:x}", Sha256::digest(url.as_str()));
        let name = SkillName::from_written(url.repo_name());
        let name = name.as_ref().map_or("repository", SkillName::as_str);
        let stem = cache
            .join("repositories")
            .join(format!("{name}-{}", &digest[..12]));
        Self {
            dir: stem.with_extension("git"),
            refs: stem.with_extension("refs"),
            lock: stem.with_extension("lock"),
        }
    }

    /// Waits for the turn to fetch.
    ///
    /// # Errors
    /// When another command fetches for longer than `wait`, or the cache cannot be written.
    pub fn turn(&self, wait: Duration) -> Result<FileLock> {
        if let Some(dir) = self.lock.parent() {
            fs::create_dir_all(dir).map_err(|error| Error::io("make directory", dir, &error))?;
        }
        FileLock::exclusive(&self.lock, wait)
    }

    /// Makes the repository, or frees it of what a killed git left. The caller has the turn.
    pub fn prepare(&self, git: &Git, commit: &str) -> Result<(), Failure> {
        let long = commit.len() == 64;
        let object_format = self.dir.join("objects/long");
        if self.dir.exists() && (object_format.exists() != long || self.is_too_large()) {
            fs::remove_dir_all(&self.dir).map_err(|e| git.0.local(&e))?;
        }
        if self.dir.exists() {
            remove_litter(&self.dir, ".lock");
            remove_litter(&self.dir.join("objects/pack"), "tmp_");
            return Ok(());
        }
        // Made elsewhere and moved here whole, so that it is never half a repository.
        let new = git.0.scratch.join("new.git");
        let format = if long { "sha256" } else { "sha1" };
        let format = format!("--object-format={format}");
        let call = Call {
            repo: Some(&new),
            args: &["init", "--quiet", "--bare", "--template=", &format],
            ..Call::default()
        };
        git.run(&call, 4096)?;
        let moved = if long {
            fs::write(new.join("objects/long"), "")
        } else {
            Ok(())
        };
        moved
            .and_then(|()| fs::rename(&new, &self.dir))
            .map_err(|e| git.0.local(&e))
    }

    /// The list of refs as it was last seen.
    pub fn refs(&self) -> Option<String> {
        let bytes = files::read_capped(&self.refs, limits::GIT_LISTING).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Keeps the list of refs. What cannot be kept is asked for again.
    pub fn keep_refs(&self, refs: &str, scratch: &Path) {
        if let Some(dir) = self.refs.parent()
            && fs::create_dir_all(dir).is_ok()
        {
            let temp = files::temp_sibling(&scratch.join("refs"));
            let _ = files::replace_file_through(&temp, &self.refs, refs.as_bytes(), 0o644);
        }
    }

    /// Whether what has gathered here costs more than fetching anew.
    fn is_too_large(&self) -> bool {
        let packs = fs::read_dir(self.dir.join("objects/pack"));
        let sizes = packs.into_iter().flatten().flatten();
        let sizes = sizes.filter_map(|entry| Some(entry.metadata().ok()?.len()));
        sizes.sum::<u64>() > limits::REPOSITORY_CACHE
    }
}

/// Removes the files of `dir` whose names have `mark` at either end.
fn remove_litter(dir: &Path, mark: &str) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(mark) || name.starts_with(mark) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::testing::World;

    #[test]
    fn locks_and_half_packs_of_a_killed_git_are_removed() {
        let world = World::new();
        let url = RepoUrl::github("o", "r").unwrap();
        let slot = Slot::of(&world.path("cache"), &url);
        world.with_git(|git| {
            let _turn = slot.turn(Duration::ZERO).unwrap();
            slot.prepare(&git, &"a".repeat(40)).unwrap();
            let pack = slot.dir.join("objects/pack");
            let litter = [slot.dir.join("shallow.lock"), pack.join("tmp_pack_x")];
            for path in &litter {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            slot.prepare(&git, &"b".repeat(40)).unwrap();
            assert!(litter.iter().all(|path| !path.exists()));
            assert!(slot.dir.join("HEAD").exists());
        });
    }
}
