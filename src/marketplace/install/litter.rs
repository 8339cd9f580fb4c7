//! Cleans up after commands that were killed.

use std::time::Duration;

use crate::marketplace::install::staging::{MUTEX, STAGING, abandoned, remove};
use crate::marketplace::install::swap::recover;
use crate::sys::Base;

/// Completes or undoes what killed commands left unfinished, and removes their directories. Those
/// of running commands are not touched. Errors are ignored, because the next command tries again.
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
    // A kill while a mark is created or removed leaves a directory that is empty or contains only
    // an empty mark.
    for (name, _) in root.entries().unwrap_or_default() {
        let _ = root.remove_blank(&name);
    }
    drop(making);
    for (name, staging, _lock) in left {
        if recover(base, &staging).is_ok() {
            remove(&dir, &root, &name);
        }
    }
}
