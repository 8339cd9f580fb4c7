//! Remembers what was seen before: refused calls, so that a repeated one gets a firmer answer, and
//! what the user was told. Best effort: it takes no lock and ignores errors.

use std::io::Write;
use std::path::Path;

use crate::sys::{Dir, EntryName, files, hash, limits};

/// The size of one hash.
const HASH: usize = size_of::<u64>();

/// Whether `text` was seen before, by the hashes in this file of `dir`; does not record it.
pub fn has(dir: &Path, file: &EntryName, text: &str) -> bool {
    is_among(&known(dir, file), text)
}

/// Whether `text` was seen before; records it.
pub fn before(dir: &Path, file: &EntryName, text: &str) -> bool {
    let known = known(dir, file);
    if is_among(&known, text) {
        return true;
    }
    let is_full = known.len() as u64 + HASH as u64 > limits::SEEN_FILE;
    if is_full || !known.len().is_multiple_of(HASH) {
        // Most of them are old, or it is not ours: starting over is simpler than sorting it out.
        let _ = files::remove(&dir.join(file.as_os_str()));
    }
    let file = Dir::make_anchor(dir).and_then(|dir| dir.append(file, 0o600));
    let _ = file.map(|(mut file, _)| file.write_all(&hash(text.as_bytes()).to_le_bytes()));
    false
}

fn known(dir: &Path, file: &EntryName) -> Vec<u8> {
    files::read_capped(&dir.join(file.as_os_str()), limits::SEEN_FILE).unwrap_or_default()
}

fn is_among(known: &[u8], text: &str) -> bool {
    let wanted = hash(text.as_bytes()).to_le_bytes();
    known.chunks_exact(HASH).any(|earlier| earlier == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const FILE: EntryName = EntryName::from_static("refusals");

    #[test]
    fn a_text_is_known_from_the_second_time() {
        let dir = tempfile::tempdir().unwrap();
        let seen = |text| before(dir.path(), &FILE, text);
        assert!(!seen("x"));
        assert!(seen("x"));
        assert!(!seen("y"));
        let other = |text| before(dir.path(), &EntryName::from_static("told"), text);
        fs::write(dir.path().join("told"), "lines of an earlier version\n").unwrap();
        assert!(!other("x"));
        assert!(other("x"));
    }

    #[test]
    fn the_record_stays_small_and_needs_no_place() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..10_000 {
            before(dir.path(), &FILE, &n.to_string());
        }
        let file = dir.path().join("refusals");
        assert!(fs::metadata(&file).unwrap().len() <= limits::SEEN_FILE);
        assert!(!before(&file.join("x"), &FILE, "x"));
    }
}
