//! Remembers refused calls, so that a repeated one gets a firmer answer. Best effort: it takes no
//! lock and ignores errors.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::SessionKey;
use crate::sys::{Dir, EntryName, files, hash, limits};

/// The record of refusals: fixed-size hashes of session and call.
#[derive(Debug, Clone)]
pub struct Refusals {
    file: PathBuf,
}

const FILE: EntryName = EntryName::of("refusals");
const RECORD: usize = size_of::<u64>();

impl Refusals {
    /// The record in `dir`.
    pub fn at(dir: &Path) -> Self {
        Self {
            file: dir.join(FILE.as_os_str()),
        }
    }

    /// Whether `call` was refused in this session before; records it.
    pub fn seen_before(&self, key: &SessionKey, call: &str) -> bool {
        let record = hash(format!("{}\0{call}", key.as_str()).as_bytes()).to_le_bytes();
        let known = files::read_capped(&self.file, limits::REFUSALS_FILE).unwrap_or_default();
        if known.chunks_exact(RECORD).any(|earlier| earlier == record) {
            return true;
        }
        if known.len() as u64 + RECORD as u64 > limits::REFUSALS_FILE {
            // Most of them belong to old sessions, and starting over is simpler than sorting them
            // out.
            let _ = files::remove(&self.file);
        }
        let file = self.file.parent().map(Dir::anchor);
        let file = file.and_then(|dir| dir.ok()?.append(&FILE, 0o600).ok());
        let _ = file.map(|mut file| file.write_all(&record));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Env;
    use std::fs;

    #[test]
    fn a_call_is_known_from_the_second_time_in_its_own_session() {
        let dir = tempfile::tempdir().unwrap();
        let refusals = Refusals::at(dir.path());
        let key =
            |name| SessionKey::of_call(&Env::new([("AGENT_SKILLS_SESSION", name)], Path::new("/")));
        assert!(!refusals.seen_before(&key("a"), "x"));
        assert!(refusals.seen_before(&key("a"), "x"));
        assert!(!refusals.seen_before(&key("a"), "y"));
        assert!(!refusals.seen_before(&key("b"), "x"));
    }

    #[test]
    fn the_record_stays_small_and_may_be_unwritable() {
        let dir = tempfile::tempdir().unwrap();
        let refusals = Refusals::at(dir.path());
        let key = SessionKey::of_call(&Env::default());
        for n in 0..10_000 {
            refusals.seen_before(&key, &n.to_string());
        }
        assert!(fs::metadata(&refusals.file).unwrap().len() <= limits::REFUSALS_FILE);
        assert!(!Refusals::at(Path::new("/no/such/place")).seen_before(&key, "x"));
    }
}
