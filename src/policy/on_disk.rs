//! Answers what a decision about paths needs to know about the file system.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::sys::{EntryKind, files, limits};
use skill_permission::PathResolver;

/// This machine's current file system.
#[derive(Debug)]
pub struct OnDisk;

/// Links after which a path counts as a loop, as in the kernel.
const MAX_LINKS: usize = 40;

/// Below a path of fewer bytes every system has room for a name of greatest length.
const ROOM: usize = 1024 - 256;

impl PathResolver for OnDisk {
    /// Reads each component once, so the cost is linear.
    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        followed(PathBuf::from("/"), steps(path).collect())
    }

    fn canonical_in(&self, dir: &Path, name: &OsStr) -> Option<PathBuf> {
        followed(dir.to_owned(), VecDeque::from([name.to_owned()]))
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_repository(&self, dir: &Path) -> bool {
        let git = dir.join(".git");
        let is_dir = |path: &Path| fs::symlink_metadata(path).is_ok_and(|file| file.is_dir());
        let read = |name| files::read_capped(&git.join(name), limits::CONFIG_FILE).ok();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        // If one of these is missing, git searches the parent directories.
        let head = read("HEAD").map(text);
        let is_commit = |head: &str| {
            let hex = head.trim_end();
            hex.len() >= 40 && hex.chars().all(|c| c.is_ascii_hexdigit())
        };
        let is_whole = head.is_some_and(|head| head.starts_with("ref: refs/") || is_commit(&head))
            && [&git, &git.join("objects"), &git.join("refs")]
                .iter()
                .all(|path| is_dir(path));
        let here = |text: String| !text.contains("worktree") && !text.contains("include");
        is_whole
            && read("config").map(text).is_some_and(here)
            && !git.join("config.worktree").exists()
            && !git.join("commondir").exists()
    }

    fn links_in(&self, dir: &Path) -> Vec<PathBuf> {
        let entries = files::entries(dir).into_iter().flatten();
        let links = entries.filter(|(_, kind)| *kind == EntryKind::Link);
        links.map(|(name, _)| dir.join(name.as_os_str())).collect()
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn is_same_file(&self, one: &Path, other: &Path) -> bool {
        let identity = |path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
        identity(one).is_some_and(|one| Some(one) == identity(other))
    }
}

/// Where the steps ahead lead from a directory without links.
fn followed(mut done: PathBuf, mut ahead: VecDeque<OsString>) -> Option<PathBuf> {
    // How many names at the end of `done` do not exist.
    let mut missing = 0_usize;
    let mut links = 0;
    while let Some(step) = ahead.pop_front() {
        if step == ".." {
            // The kernel refuses what stands behind a file.
            if missing == 0 && !done.is_dir() {
                return None;
            }
            done.pop();
            missing = missing.saturating_sub(1);
            continue;
        }
        let has_room = done.as_os_str().len() < ROOM;
        done.push(step);
        if missing > 0 {
            missing += 1;
            continue;
        }
        match fs::read_link(&done) {
            Ok(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                done.pop();
                if target.is_absolute() {
                    done = PathBuf::from("/");
                }
                ahead = steps(&target).chain(ahead).collect();
            }
            Err(error) => match error.kind() {
                // It exists and is not a link.
                ErrorKind::InvalidInput => {}
                // Whatever makes it makes a directory, or it is the last name.
                ErrorKind::NotFound | ErrorKind::NotADirectory => missing = 1,
                // The name is too long to exist, not the path.
                ErrorKind::InvalidFilename if has_room => missing = 1,
                _ => return None,
            },
        }
    }
    Some(done)
}

/// The names in a path, and `..`.
fn steps(path: &Path) -> impl Iterator<Item = OsString> {
    let is_step = |part: &Component| matches!(part, Component::Normal(_) | Component::ParentDir);
    let parts = path.components().filter(is_step);
    parts.map(|part| part.as_os_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_is_resolved_as_far_as_it_exists() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir(at("a")).unwrap();
        symlink("a", at("link")).unwrap();
        symlink("not/yet", at("dangling")).unwrap();
        let resolved = |path: &str| OnDisk.canonical(&at(path));
        for (path, expected) in [
            ("link/new/file", "a/new/file"),
            ("link/../a", "a"),
            ("dangling/x", "not/yet/x"),
            ("dangling/../x", "not/x"),
        ] {
            assert_eq!(resolved(path), Some(real.join(expected)), "{path}");
        }
        assert_eq!(OnDisk.canonical(Path::new("/")), Some("/".into()));
    }

    #[test]
    fn a_missing_name_is_a_directory_that_will_be_made() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.path().join("docs")).unwrap();
        symlink("../.ssh", root.path().join("docs/l")).unwrap();
        let too_long = format!("docs/{}/../l/k", "n".repeat(5000));
        for path in [
            "docs/new/../l/k",
            "docs/new/and/newer/../../../l/k",
            "docs/new/../new/../l/k",
            "docs/l/../docs/l/k",
            &too_long,
        ] {
            let resolved = OnDisk.canonical(&root.path().join(path));
            assert_eq!(resolved, Some(real.join(".ssh/k")), "{path}");
        }
        let nowhere = Path::new("/no-such/../x");
        assert_eq!(OnDisk.canonical(nowhere), Some("/x".into()));
    }

    #[test]
    fn what_the_kernel_would_not_open_is_not_resolved() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::write(at("file"), "").unwrap();
        symlink("round", at("round")).unwrap();
        for n in 1..=41 {
            symlink(format!("{}", n - 1), at(&n.to_string())).unwrap();
        }
        for path in [
            "round",
            "round/x",
            "round/../x",
            "41",
            "file/..",
            "file/../x",
        ] {
            assert_eq!(OnDisk.canonical(&at(path)), None, "{path}");
        }
        assert!(OnDisk.canonical(&at("40")).is_some());
        let deep = at(&"d/".repeat(400));
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(OnDisk.canonical(&deep.join("n".repeat(5000))), None);
    }

    #[test]
    fn a_repository_that_git_may_look_past_is_none() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        let write = |name: &str, text: &str| fs::write(git.join(name), text).unwrap();
        for dir in ["objects", "refs"] {
            fs::create_dir_all(git.join(dir)).unwrap();
        }
        write("config", "[core]\n\tbare = false\n");
        assert!(!OnDisk.is_repository(root.path()));
        write("HEAD", &"0a".repeat(20));
        assert!(OnDisk.is_repository(root.path()));
        write("HEAD", "ref: refs/heads/main\n");
        assert!(OnDisk.is_repository(root.path()));
        for (name, hostile) in [
            ("config", "[core]\n\tWorkTree = /\n"),
            ("config", "[include]\n\tpath = x\n"),
            ("HEAD", "x\n"),
            ("config.worktree", ""),
            ("commondir", "../x\n"),
        ] {
            let before = fs::read(git.join(name)).ok();
            write(name, hostile);
            assert!(!OnDisk.is_repository(root.path()), "{name}: {hostile}");
            match before {
                Some(before) => fs::write(git.join(name), before).unwrap(),
                None => fs::remove_file(git.join(name)).unwrap(),
            }
        }
        let other = tempfile::tempdir().unwrap();
        symlink(&git, other.path().join(".git")).unwrap();
        assert!(!OnDisk.is_repository(other.path()) && OnDisk.is_repository(root.path()));
    }

    #[test]
    fn a_file_is_the_same_under_every_name() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::write(at("file"), "").unwrap();
        fs::hard_link(at("file"), at("hard")).unwrap();
        symlink("file", at("soft")).unwrap();
        fs::write(at("other"), "").unwrap();
        assert!(OnDisk.is_same_file(&at("file"), &at("hard")));
        assert!(OnDisk.is_same_file(&at("soft"), &at("file")));
        assert!(!OnDisk.is_same_file(&at("file"), &at("other")));
        assert!(!OnDisk.is_same_file(&at("none"), &at("none")));
    }
}
