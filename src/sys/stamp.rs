//! Identifies the state of a file without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

const SECOND: i128 = 1_000_000_000;
/// Twice the 10 ms of the coarsest clock that Linux uses for file times.
const TICK: i128 = SECOND / 50;

/// A file's identity, size and times, including the inode's change time, which nobody can set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp(pub [u64; 7]);

impl Stamp {
    /// The stamp of a file's metadata.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self([
            metadata.dev(),
            metadata.ino(),
            metadata.size(),
            metadata.mtime().cast_unsigned(),
            metadata.mtime_nsec().cast_unsigned(),
            metadata.ctime().cast_unsigned(),
            metadata.ctime_nsec().cast_unsigned(),
        ])
    }

    /// The stamp of what `path` leads to, links followed; `None` where it leads nowhere.
    pub fn of(path: &Path) -> Option<Self> {
        Some(Self::from_metadata(&path.metadata().ok()?))
    }

    /// Whether any change after `now`, the time of the check, is certain to change the stamp. A
    /// change within the same tick of the file system's clock might not.
    pub fn is_settled(&self, now: i128) -> bool {
        let [_, _, _, mtime, mtime_ns, ctime, ctime_ns] = self.0;
        let at = |seconds: u64, nanos: u64| {
            i128::from(seconds.cast_signed()) * SECOND + i128::from(nanos.cast_signed())
        };
        let newest = at(mtime, mtime_ns).max(at(ctime, ctime_ns));
        // Whole seconds indicate a file system without a finer clock; some count in steps of two.
        let tick = if mtime_ns == 0 && ctime_ns == 0 {
            2 * SECOND
        } else {
            TICK
        };
        newest + tick < now
    }
}

/// Paths with the stamp of what each leads to, links followed; `None` where it leads nowhere.
pub type Stamps = Vec<(PathBuf, Option<Stamp>)>;

/// Whether every path still leads to what has this stamp.
pub fn all_unchanged(stamps: &Stamps) -> bool {
    let mut each = stamps.iter();
    each.all(|(path, stamp)| Stamp::of(path) == *stamp)
}

/// Nanoseconds since 1970.
pub fn now() -> i128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos().cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_within_a_tick_may_change_unseen() {
        let stamp = |ns| Stamp([1, 2, 3, 100, ns, 100, ns]);
        let now = 100 * SECOND + 500_000_000;
        assert!(stamp(400_000_000).is_settled(now));
        assert!(!stamp(495_000_000).is_settled(now));
        assert!(!stamp(600_000_000).is_settled(now), "from the future");
        assert!(!stamp(0).is_settled(now), "whole seconds");
        assert!(stamp(0).is_settled(now + 2 * SECOND));
    }
}
