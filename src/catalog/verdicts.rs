//! Verdicts on signatures, kept until the day ends, since keys expire. A file that is damaged, of
//! another day or not this user's counts as none.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::sys::{Moment, cache_file, limits};

/// Changes with the format, and with what a verdict means.
const MAGIC: &[u8; 16] = b"agent-skills sg1";
/// More verdicts than a machine has skills; when there are more, those of this call stay.
const MOST: usize = 8192;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The verdicts of today.
#[derive(Debug)]
pub struct Verdicts {
    file: PathBuf,
    today: u64,
    known: RefCell<HashMap<String, Verdict>>,
    learned: RefCell<HashMap<String, Verdict>>,
    has_learned: Cell<bool>,
}

/// What was found of the signature of one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Why it may not be used, if so.
    pub unmet: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// Days since 1970, in UTC.
    day: u64,
    /// By everything that it depends on.
    verdicts: HashMap<String, Verdict>,
}

impl Verdicts {
    /// Those that are kept in the directory of states.
    pub fn of_today(state: &Path) -> Self {
        let (file, today) = (file(state), Moment::now().0 / DAY);
        Self {
            known: RefCell::new(read(&file, today)),
            file,
            today,
            learned: RefCell::default(),
            has_learned: Cell::new(false),
        }
    }

    /// The verdict, if it is known.
    pub fn get(&self, key: &str) -> Option<Verdict> {
        let learned = self.learned.borrow().get(key).cloned();
        learned.or_else(|| self.known.borrow().get(key).cloned())
    }

    /// Notes a verdict.
    pub fn learn(&self, key: &str, verdict: Verdict) {
        self.learned.borrow_mut().insert(key.to_owned(), verdict);
        self.has_learned.set(true);
    }

    /// Keeps what was learned, besides what other calls kept meanwhile. Best effort: it can be
    /// checked again.
    pub fn keep(&self) {
        if !self.has_learned.take() {
            return;
        }
        let mut verdicts = read(&self.file, self.today);
        if verdicts.len() + self.learned.borrow().len() > MOST {
            verdicts.clear();
        }
        let learned = self.learned.borrow();
        verdicts.extend(
            learned
                .iter()
                .take(MOST)
                .map(|(key, of)| (key.clone(), of.clone())),
        );
        let day = self.today;
        if let Ok(bytes) = postcard::to_allocvec(&Kept { day, verdicts }) {
            cache_file::replace(&self.file, MAGIC, &bytes, &[], 1);
        }
    }

    /// Removes all that is kept.
    pub fn forget(state: &Path) {
        let none = postcard::to_allocvec(&Kept::default()).unwrap_or_default();
        let file = file(state);
        if file.exists() {
            cache_file::replace(&file, MAGIC, &none, &[], 1);
        }
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("signed").join("verdicts")
}

fn read(file: &Path, today: u64) -> HashMap<String, Verdict> {
    let table = cache_file::open(file, MAGIC, limits::DIGEST_CACHE);
    let kept = table.and_then(|(table, _)| postcard::from_bytes::<Kept>(&table).ok());
    let kept = kept.filter(|kept| kept.day == today);
    kept.map(|kept| kept.verdicts).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Verdict = Verdict { unmet: None };

    #[test]
    fn what_calls_learn_is_kept_until_the_day_ends() {
        let state = tempfile::tempdir().unwrap();
        let (one, other) = (
            Verdicts::of_today(state.path()),
            Verdicts::of_today(state.path()),
        );
        let wrong = Verdict {
            unmet: Some("unsigned".to_owned()),
        };
        one.learn("a", GOOD);
        other.learn("b", wrong.clone());
        one.keep();
        other.keep();
        let both = Verdicts::of_today(state.path());
        assert_eq!(both.get("a"), Some(GOOD));
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
        one.learn("a", GOOD);
        one.keep();
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
