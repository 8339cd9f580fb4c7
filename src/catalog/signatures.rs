//! Whether a skill is signed as the policies and the configuration require. What git, ssh-keygen,
//! gpg said is kept for the rest of the day, by everything that it depends on, so that
//! a hook seldom runs them.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::entry::Entry;
use super::installed::Installed;
use super::roots::base_at;
use super::signing::{market_at, signing, signing_files, signing_in_force};
use crate::error::Result;
use crate::facts::Facts;
use crate::marketplace::{Checked, KnownSigners, Market, Present};
use crate::policy::{Asks, DigestCache, SigningInForce, approval_content, approval_digest};
use crate::signing::{Requirement, Signature, SourceRequirement};
use crate::skill::Skill;
use crate::sys::{Base, UnixMillis, cache_file, files, limits, time_running};

/// How long after its start a host's call, be it `--schema`, still begins to check signatures: its user waits for it.
const CALL: Duration = Duration::from_millis(1500);
/// Changes with the format, and with what a verdict means.
const MAGIC: &[u8; 16] = b"agent-skills sg4";
/// More verdicts than a machine has skills; when there are more, the newest stay.
const MOST: usize = 8192;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The answers of one run.
#[derive(Debug, Default)]
pub struct Signatures {
    rules: OnceCell<SigningInForce>,
    /// All that every verdict depends on.
    keys: OnceCell<String>,
    verdicts: OnceCell<Verdicts>,
    /// By the skill's directory, why it may not be used.
    answers: RefCell<HashMap<PathBuf, Option<String>>>,
}

/// What is known of the skills besides.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub facts: &'a Facts,
    pub digests: &'a DigestCache,
    pub installed: &'a RefCell<Installed>,
}

impl Signatures {
    /// Why a skill may not be used; `None` if it is signed as is required.
    pub fn unmet(&self, seen: Seen, entry: &Entry, skill: &Skill) -> Option<String> {
        let known = self.answers.borrow().get(&entry.dir).cloned();
        known.unwrap_or_else(|| {
            let answer = self.ask(seen, entry, skill).unwrap_or_else(Some);
            let mut answers = self.answers.borrow_mut();
            answers.insert(entry.dir.clone(), answer.clone());
            answer
        })
    }

    /// Why a skill may not be used; an error if that is not known.
    fn ask(&self, seen: Seen, entry: &Entry, skill: &Skill) -> Result<Option<String>, String> {
        let Seen { facts, digests, .. } = seen;
        let mut installed = seen.installed.borrow_mut();
        let claimed = installed.is_claimed(facts, entry);
        let said = installed.at(facts, &entry.dir);
        let said = said.map_err(|error| format!("its source is not known: {error}"))?;
        let present = Present::new(&entry.dir, said, claimed);
        let rules = || signing_in_force(facts);
        let rules = self.rules.get_or_init(rules);
        let (source, address) = (present.source.as_deref(), present.address.as_deref());
        let demands = rules.demands(source, address, claimed);
        let required = |demand: &SourceRequirement| demand.require > Requirement::None;
        if !demands.iter().any(required) {
            return Ok(None);
        }
        let content = approval_content(skill, digests);
        let content = content.map_err(|error| format!("its files cannot be read: {error}"))?;
        let (name, keys) = (
            skill.authors_name(),
            self.keys.get_or_init(|| self.keys(facts)),
        );
        // Everything that the verdict depends on, but the programs and the day.
        let key = format!("{name:?} {content} {present:?} {claimed} {keys}");
        let key = format!("{:x}", Sha256::digest(key));
        if let Some(unmet) = self.verdicts(facts).get(&key) {
            return Ok(unmet);
        }
        let is_call = facts.run.protocol.is_some() || digests.asks() == Asks::ToDisclose;
        let deadline = is_call.then(deadline);
        let base = base_of(facts, entry);
        let market = checking(facts, &base, claimed, deadline);
        if !market
            .may_be_signed(&present)
            .map_err(|error| error.to_string())?
        {
            let mut each = demands.iter();
            return Ok(each.find_map(|one| one.unmet(&Signature::Unsigned, &[], false)));
        }
        let is_over = || deadline.is_some_and(|deadline| deadline <= Instant::now());
        let failed = |why: String| {
            let late = "its signature has not been checked yet".to_owned();
            let why = if is_over() { late } else { why };
            format!("{why}: `agent-skills verify` checks it")
        };
        if is_over() {
            return Err(failed(String::new()));
        }
        let checked = market.check_present(&present);
        let checked = checked
            .map_err(|error| failed(format!("its signature could not be checked: {error}")))?;
        if approval_digest(skill).ok().as_ref() != Some(&content) {
            return Err("its files changed while its signature was checked".to_owned());
        }
        // What could not be checked may be at any time: a program may be installed.
        if matches!(
            checked.signature,
            Signature::Good(_) | Signature::Bad { .. }
        ) {
            self.verdicts(facts).learn(&key, checked.unmet.clone());
        }
        Ok(checked.unmet)
    }

    fn verdicts(&self, facts: &Facts) -> &Verdicts {
        let of_today = || Verdicts::of_today(facts.state());
        self.verdicts.get_or_init(of_today)
    }

    /// What is required, whose keys count and who is known.
    fn keys(&self, facts: &Facts) -> String {
        let known = KnownSigners::read(&Base::own(facts.run.dirs.plugin.clone()));
        let mut all = format!("{:?} {known:?}", self.rules.get());
        for file in signing_files(facts).unwrap_or_default() {
            let read = files::read_capped(&file.path, limits::SIGNERS);
            let read = read.map(|bytes| format!("{:x}", Sha256::digest(&bytes)));
            let _ = write!(all, " {read:?}");
        }
        all
    }
}

/// When a host's call begins no check any more.
fn deadline() -> Instant {
    Instant::now() + CALL.saturating_sub(time_running())
}

/// The signature of a skill as it is now.
///
/// # Errors
/// When a program that checks is missing or does not answer, or what proves it cannot be read.
pub fn signature(facts: &Facts, entry: &Entry, installed: &mut Installed) -> Result<Checked> {
    let claimed = installed.is_claimed(facts, entry);
    let present = Present::new(&entry.dir, installed.said(facts, entry), claimed);
    let deadline = facts.run.protocol.map(|_| deadline());
    checking(facts, &base_of(facts, entry), claimed, deadline).check_present(&present)
}

/// The directory into which a skill is installed.
fn base_of(facts: &Facts, entry: &Entry) -> Base {
    let base = entry.dir.parent().and_then(Path::parent);
    base_at(facts, base.unwrap_or(&entry.dir))
}

/// The marketplace that checks what is there.
fn checking<'a>(
    facts: &'a Facts,
    base: &'a Base,
    claimed: bool,
    deadline: Option<Instant>,
) -> Market<'a> {
    Market {
        deadline,
        signing: Rc::new(signing(facts, claimed)),
        ..market_at(facts, base)
    }
}

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
        let (file, today) = (file(state), UnixMillis::now().0 / DAY);
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
