//! Verdicts on signatures, kept until the day ends, since keys expire. A file that is damaged, of
//! another day or not this user's counts as none.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::sys::{Moment, cache_file, limits};

/// Changes with the format, and with what a verdict means.
const MAGIC: &[u8; 16] = b"agent-skills sg3";
/// More verdicts than a machine has skills; when there are more, the newest stay.
const MOST: usize = 8192;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Why a skill may not be used, if so, by everything that this depends on.
type Known = HashMap<String, Option<String>>;

/// The verdicts of today.
#[derive(Debug)]
pub struct Verdicts {
    file: PathBuf,
    today: u64,
    known: RefCell<Known>,
    has_learned: Cell<bool>,
}

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// Days since 1970, in UTC.
    day: u64,
    verdicts: Known,
}

impl Verdicts {
    /// Those that are kept in the directory of states.
    pub fn of_today(state: &Path) -> Self {
        let (file, today) = (file(state), Moment::now().0 / DAY);
        Self {
            known: RefCell::new(read(&file, today)),
            file,
            today,
            has_learned: Cell::new(false),
        }
    }

    /// The verdict, if it is known.
    pub fn get(&self, key: &str) -> Option<Option<String>> {
        self.known.borrow().get(key).cloned()
    }

    /// Notes a verdict.
    pub fn learn(&self, key: &str, unmet: Option<String>) {
        let mut known = self.known.borrow_mut();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key.to_owned(), unmet);
        self.has_learned.set(true);
    }

    /// Removes all that is kept.
    pub fn forget(state: &Path) {
        let file = file(state);
        if file.exists() {
            let none = postcard::to_allocvec(&Kept::default()).unwrap_or_default();
            cache_file::replace(&file, MAGIC, &none, &[], 1);
        }
    }
}

/// Keeps what was learned, besides what other calls kept meanwhile. Best effort: it can be checked
/// again.
impl Drop for Verdicts {
    fn drop(&mut self) {
        if !self.has_learned.get() {
            return;
        }
        let mut verdicts = self.known.take();
        let others = read(&self.file, self.today);
        if verdicts.len() + others.len() <= 2 * MOST {
            verdicts.extend(others);
        }
        let day = self.today;
        if let Ok(bytes) = postcard::to_allocvec(&Kept { day, verdicts }) {
            cache_file::replace(&self.file, MAGIC, &bytes, &[], 1);
        }
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("signed").join("verdicts")
}

fn read(file: &Path, today: u64) -> Known {
    let table = cache_file::open(file, MAGIC, limits::DIGEST_CACHE);
    let kept = table.and_then(|(table, _)| postcard::from_bytes::<Kept>(&table).ok());
    let kept = kept.filter(|kept| kept.day == today);
    kept.map(|kept| kept.verdicts).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_learn_is_kept_until_the_day_ends() {
        let state = tempfile::tempdir().unwrap();
        let (one, other) = (
            Verdicts::of_today(state.path()),
            Verdicts::of_today(state.path()),
        );
        let wrong = Some("unsigned".to_owned());
        one.learn("a", None);
        other.learn("b", wrong.clone());
        drop(one);
        drop(other);
        let both = Verdicts::of_today(state.path());
        assert_eq!(both.get("a"), Some(None));
        assert_eq!(both.get("b"), Some(wrong));
        assert_eq!(both.get("c"), None);
        assert!(read(&file(state.path()), both.today + 1).is_empty());
        Verdicts::forget(state.path());
        assert_eq!(Verdicts::of_today(state.path()).get("a"), None);
    }

    #[test]
    fn a_damaged_file_has_no_verdict() {
        let state = tempfile::tempdir().unwrap();
        let one = Verdicts::of_today(state.path());
        one.learn("a", None);
        drop(one);
        let path = file(state.path());
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Verdicts::of_today(state.path()).get("a"), None, "{at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(Verdicts::of_today(state.path()).get("a"), None, "{at}");
        }
    }
}
