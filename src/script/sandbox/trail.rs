//! Where a path leads, and what on its way could turn it elsewhere. A path that was followed once is
//! later opened without following anything.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// A path whose links were followed.
#[derive(Debug)]
pub struct Trail {
    /// Where it leads: a path without links. What does not exist is appended as it is.
    pub end: PathBuf,
    /// Where something else than its names decided: the links, and the directories left by `..`.
    turns: Vec<PathBuf>,
}

impl Trail {
    /// Follows an absolute path; `None` if its links are too many.
    pub fn follow(path: &Path) -> Option<Self> {
        if !path.is_absolute() {
            return None;
        }
        let mut end = PathBuf::from("/");
        let mut turns = Vec::new();
        let mut links = 0;
        let mut left = names(path);
        while let Some(name) = left.pop() {
            if name == ".." {
                turns.push(end.clone());
                end.pop();
                continue;
            }
            end.push(name);
            let Ok(target) = end.read_link() else {
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            turns.push(end.clone());
            end.pop();
            if target.is_absolute() {
                end = PathBuf::from("/");
            }
            left.extend(names(&target));
        }
        Some(Self { end, turns })
    }

    /// Whether something in `place` decided where it leads.
    pub fn turns_in(&self, place: &Path) -> bool {
        let mut turns = self.turns.iter();
        turns.any(|turn| turn != place && turn.starts_with(place))
    }
}

/// The names in a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    names.collect()
}

/// Opens a path to name it to the kernel, and tells whether it is a directory.
///
/// # Errors
/// When it does not exist or cannot be reached, or any of its names is a link.
#[cfg(target_os = "linux")]
pub fn open(path: &Path) -> rustix::io::Result<(std::os::fd::OwnedFd, bool)> {
    use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = openat(CWD, "/", flags, Mode::empty())?;
    let mut left = names(path);
    while let Some(name) = left.pop() {
        file = openat(&file, &name, flags, Mode::empty())?;
    }
    let kind = FileType::from_raw_mode(fstat(&file)?.st_mode);
    if kind.is_symlink() {
        return Err(rustix::io::Errno::LOOP);
    }
    Ok((file, kind.is_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("place/real")).unwrap();
        fs::create_dir_all(root.join("other/below")).unwrap();
        symlink("../other", root.join("place/link")).unwrap();
        symlink(root.join("place/link/below"), root.join("way")).unwrap();
        (dir, root)
    }

    #[test]
    fn a_path_leads_where_the_kernel_leads() {
        let (_dir, root) = tree();
        for (path, end) in [
            ("place/real", "place/real"),
            ("place/link/below", "other/below"),
            ("way", "other/below"),
            ("way/../../place", "place"),
            ("place/missing/x", "place/missing/x"),
        ] {
            let trail = Trail::follow(&root.join(path)).unwrap();
            assert_eq!(trail.end, root.join(end), "{path}");
        }
    }

    #[test]
    fn links_and_dots_inside_a_place_are_its_turns() {
        let (_dir, root) = tree();
        for (path, turns) in [
            ("place/real", false),
            ("place/link", true),
            ("way", true),
            ("place/real/../../other", true),
            ("place/../other", false),
            ("other/below", false),
        ] {
            let trail = Trail::follow(&root.join(path)).unwrap();
            assert_eq!(trail.turns_in(&root.join("place")), turns, "{path}");
        }
    }

    #[test]
    fn endless_links_and_relative_paths_lead_nowhere() {
        let (_dir, root) = tree();
        symlink("loop", root.join("loop")).unwrap();
        assert!(Trail::follow(&root.join("loop")).is_none());
        assert!(Trail::follow(Path::new("usr")).is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_opened_through_a_link() {
        let (_dir, root) = tree();
        for (path, opens) in [
            ("place/real", true),
            ("other/below", true),
            ("place/link", false),
            ("place/link/below", false),
            ("way", false),
        ] {
            assert_eq!(open(&root.join(path)).is_ok(), opens, "{path}");
        }
    }
}
