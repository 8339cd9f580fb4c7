//! Lists the directories in a skills directory, and says whether its stamp proves that the list is
//! unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use super::find_skill_file;
use crate::sys::limits;
use crate::sys::stamp::{Stamp, now};

/// The skills in `root`, sorted: directories with a `SKILL.md`, in any spelling.
pub fn skill_directories(root: &Path) -> Vec<PathBuf> {
    let (mut dirs, _) = list(root);
    dirs.retain(|dir| find_skill_file(dir).is_some());
    dirs
}

/// The directories in `root`, sorted, and its stamp, if they are unchanged as long as that is; none if
/// it is missing or unreadable. Only a complete list gets a stamp, because whether the root can be read
/// may change without changing the stamp.
#[expect(
    clippy::disallowed_methods,
    reason = "only names, which may be many: no more than the cap are read"
)]
pub fn list(root: &Path) -> (Vec<PathBuf>, Option<Stamp>) {
    let now = now();
    let stamp = Stamp::of(root);
    let mut names = Vec::new();
    // A link's target may become a directory without changing the root.
    let entries = fs::read_dir(root);
    let mut vouched = entries.is_ok();
    for entry in entries.into_iter().flatten().take(limits::CATALOG_ENTRIES) {
        let Ok(entry) = entry else {
            vouched = false;
            continue;
        };
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().ok();
        if kind.is_some_and(|kind| kind.is_dir()) || root.join(&name).is_dir() {
            names.push(name);
        } else {
            vouched &= kind.is_some_and(|kind| kind.is_file());
        }
    }
    names.sort_unstable();
    let settled = stamp.filter(|stamp| vouched && stamp.is_settled(now));
    let dirs = names.iter().map(|name| root.join(name));
    (dirs.collect(), settled)
}
