//! Cleans up after commands that were killed.

use std::time::Duration;

use crate::marketplace::fetch::WORKED_IN;
use crate::marketplace::install::change::recover;
use crate::marketplace::install::staging::{MUTEX, STAGING, abandoned, remove};
use crate::sys::{Base, Dir, EntryKind, EntryName, FileLock};

/// Completes or undoes what killed commands left unfinished, and removes their directories. Those
/// of running commands are not touched. Errors are ignored, because the next command tries again.
/// `adopts` says whether git works there, and nobody else supplies directories.
pub fn clean(base: &Base, adopts: bool) {
    let Some((dir, root, making)) = open(base) else {
        return;
    };
    let names = || root.entries().unwrap_or_default().into_iter();
    if adopts {
        // A dying git makes all directories above the file that it writes anew after we had removed
        // them.
        for made in names().filter_map(|(name, _)| made_by_git(&root, &name)) {
            let _ = made.mark();
        }
    }
    let left = abandoned(&root);
    // A kill while a mark is created or removed leaves a directory that is empty or contains only
    // an empty mark.
    for (name, _) in names() {
        let _ = root.remove_blank(&name);
    }
    drop(making);
    for (name, staging, _lock) in left {
        if recover(base, &staging).is_ok() {
            remove(&dir, &root, &name);
        }
    }
}

/// The directory `name`, if it has the name of one of ours but no mark, and holds nothing but
/// repositories in which git works there.
fn made_by_git(root: &Dir, name: &EntryName) -> Option<Dir> {
    let text = name.as_os_str().to_string_lossy();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_named_by_us = text
        .split_once('-')
        .is_some_and(|(pid, count)| is_number(pid) && is_number(count));
    let dir = root.open_dir(name).ok().filter(|_| is_named_by_us)?;
    let entries = dir.entries().ok()?;
    let is_gits =
        |(name, kind): &(EntryName, EntryKind)| *kind == EntryKind::Dir && WORKED_IN.contains(name);
    (!entries.is_empty() && entries.iter().all(is_gits)).then_some(dir)
}

/// The plugin directory and its `staging/`, if there is one and no command is creating a directory
/// in it.
fn open(base: &Base) -> Option<(Dir, Dir, FileLock)> {
    let dir = base.open().ok()??;
    let root = dir.open_dir(&STAGING).ok()?;
    let making = dir.lock(&MUTEX, Duration::ZERO).ok()?;
    Some((dir, root, making))
}
