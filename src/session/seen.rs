//! Remembers what was seen before: refused calls, so that a repeated one gets a firmer answer, and
//! what the user was told. Best effort: it takes no lock and ignores errors.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::sys::{Dir, EntryName, files, hash, limits};

/// A file of fixed-size hashes.
#[derive(Debug, Clone)]
pub struct Seen {
    dir: PathBuf,
    file: EntryName,
}

const HASH: usize = size_of::<u64>();

impl Seen {
    /// The record in this file of `dir`.
    pub fn at(dir: &Path, file: EntryName) -> Self {
        Self {
            dir: dir.to_owned(),
            file,
        }
    }

    /// Whether `text` was seen before; does not record it.
    pub fn has(&self, text: &str) -> bool {
        let wanted = hash(text.as_bytes()).to_le_bytes();
        let known = self.known();
        known.chunks_exact(HASH).any(|earlier| earlier == wanted)
    }

    fn path(&self) -> PathBuf {
        self.dir.join(self.file.as_os_str())
    }

    fn known(&self) -> Vec<u8> {
        files::read_capped(&self.path(), limits::SEEN_FILE).unwrap_or_default()
    }

    /// Whether `text` was seen before; records it.
    pub fn before(&self, text: &str) -> bool {
        let new = hash(text.as_bytes()).to_le_bytes();
        let known = self.known();
        if known.chunks_exact(HASH).any(|earlier| earlier == new) {
            return true;
        }
        let is_full = known.len() as u64 + HASH as u64 > limits::SEEN_FILE;
        if is_full || !known.len().is_multiple_of(HASH) {
            // Most of them are old, or it is not ours: starting over is simpler than sorting it out.
            let _ = files::remove(&self.path());
        }
        let file = Dir::make_anchor(&self.dir).and_then(|dir| dir.append(&self.file, 0o600));
        let _ = file.map(|(mut file, _)| file.write_all(&new));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const FILE: EntryName = EntryName::from_static("refusals");

    #[test]
    fn a_text_is_known_from_the_second_time() {
        let dir = tempfile::tempdir().unwrap();
        let seen = Seen::at(dir.path(), FILE);
        assert!(!seen.before("x"));
        assert!(seen.before("x"));
        assert!(!seen.before("y"));
        let other = Seen::at(dir.path(), EntryName::from_static("told"));
        fs::write(dir.path().join("told"), "lines of an earlier version\n").unwrap();
        assert!(!other.before("x"));
        assert!(other.before("x"));
    }

    #[test]
    fn the_record_stays_small_and_needs_no_place() {
        let dir = tempfile::tempdir().unwrap();
        let seen = Seen::at(dir.path(), FILE);
        for n in 0..10_000 {
            seen.before(&n.to_string());
        }
        let file = dir.path().join("refusals");
        assert!(fs::metadata(&file).unwrap().len() <= limits::SEEN_FILE);
        assert!(!Seen::at(&file.join("x"), FILE).before("x"));
    }
}
