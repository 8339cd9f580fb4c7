//! Digests that consent goes by, kept between calls with the stamps of everything they cover. Where
//! the stamps are unchanged, the digest is known without reading a byte; anything else is digested
//! anew. What stamps cannot show is in docs/decisions.md.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::policy::Ledger;
use crate::run_context::RunContext;
use crate::sys::cache_file;
use crate::sys::stamp::{Stamp, Stamps, all_unchanged, now};
use crate::sys::{Dir, hash, limits};

/// The directory with a file for each project.
const DIGESTS: &str = "digests";
/// Projects whose digests are kept.
const PROJECTS: usize = 50;
/// Changes with the format.
const MAGIC: &[u8; 16] = b"agent-skills dg9";

/// A digest that was just made, with the stamps of all that it covers.
pub type DigestAndStamps = io::Result<(String, Stamps)>;

/// The digests of one project's parts and of the skills that are used in it. The default keeps
/// nothing.
#[derive(Debug, Default)]
pub struct DigestCache {
    /// `None` if nothing is kept.
    file: Option<PathBuf>,
    skill_use: SkillUse,
    /// The record of trust, if a later change to it is certain to show.
    record: Option<Stamp>,
    /// Hashed: with musl, comparing such long keys takes a while.
    known: RefCell<HashMap<String, KnownDigest>>,
    has_learned: Cell<bool>,
}

/// What a call does with a skill, and so which of its stamps have to be unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SkillUse {
    /// Anything: all of them.
    #[default]
    Any,
    /// It names and describes skills to the model: those of the directory and of its `SKILL.md`.
    Disclose,
}

/// The table of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CacheTable {
    /// The record of trust when [`KnownDigest::is_agreed`] was set.
    record: Option<Stamp>,
    known: HashMap<String, KnownDigest>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KnownDigest {
    digest: String,
    /// Whether the record of trust contains this digest for it.
    is_agreed: bool,
    /// Of all that a disclosure shows.
    disclosed: Stamps,
    /// The other stamps, which a disclosure does not need.
    rest: Stamps,
}

impl DigestCache {
    /// The digests that are kept in `state` for the project of this run.
    pub fn of_project(run: &RunContext, state: &Path, skill_use: SkillUse) -> Self {
        let project = run.project_dir();
        let name = hash(project.as_os_str().as_encoded_bytes());
        let file = state.join(DIGESTS).join(format!("{name:016x}"));
        Self::open(file, skill_use, Ledger::trusted(state).stamp())
    }

    /// What the call does.
    pub fn skill_use(&self) -> SkillUse {
        self.skill_use
    }

    /// The cache in `file`; empty if there is none, or if anything about it is not as this program
    /// leaves it.
    fn open(file: PathBuf, skill_use: SkillUse, record: Option<Stamp>) -> Self {
        let read = cache_file::open(&file, MAGIC, limits::DIGEST_CACHE);
        let kept = read.and_then(|(table, _)| postcard::from_bytes(&table).ok());
        let mut kept: CacheTable = kept.unwrap_or_default();
        if record.is_none() || kept.record != record {
            let each = kept.known.values_mut();
            each.for_each(|known| known.is_agreed = false);
        }
        Self {
            file: Some(file),
            skill_use,
            record,
            known: RefCell::new(kept.known),
            has_learned: Cell::new(false),
        }
    }

    /// Whether nothing changed since [`DigestCache::agree`]: neither the record of trust nor what is
    /// at `path`. `of` says what kind of digest it is. To disclose a skill, the fewer stamps suffice.
    pub fn agreed(&self, of: &str, path: &Path) -> bool {
        let known = self.known.borrow();
        let known = key(of, path).and_then(|key| known.get(&key));
        known.is_some_and(|known| {
            known.is_agreed
                && all_unchanged(&known.disclosed)
                && (self.skill_use == SkillUse::Disclose || all_unchanged(&known.rest))
        })
    }

    /// Notes that the record of trust contains the digest that is known of what is at `path`.
    pub fn agree(&self, of: &str, path: &Path) {
        let mut known = self.known.borrow_mut();
        let known = key(of, path).and_then(|key| known.get_mut(&key));
        if let (Some(known), Some(_)) = (known, self.record) {
            known.is_agreed = true;
            self.has_learned.set(true);
        }
    }

    /// The digest of what is at `path`, by `make` unless it is known.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn digested(
        &self,
        of: &str,
        path: &Path,
        make: impl FnOnce() -> DigestAndStamps,
    ) -> io::Result<String> {
        // A path that is not UTF-8 is not kept.
        let (Some(_), Some(key)) = (&self.file, key(of, path)) else {
            return Ok(make()?.0);
        };
        let is_current =
            |known: &&KnownDigest| all_unchanged(&known.disclosed) && all_unchanged(&known.rest);
        if let Some(known) = self.known.borrow().get(&key).filter(is_current) {
            return Ok(known.digest.clone());
        }
        let before = now();
        let (digest, stamps) = make()?;
        let mut known = self.known.borrow_mut();
        if let Some(now) = KnownDigest::new(path, &digest, stamps, before) {
            known.insert(key, now);
            self.has_learned.set(true);
        } else if known.remove(&key).is_some() {
            self.has_learned.set(true);
        }
        Ok(digest)
    }

    /// What was noted of `path` under this name.
    pub fn noted(&self, of: &str, path: &Path) -> Option<String> {
        let known = self.known.borrow();
        Some(known.get(&key(of, path)?)?.digest.clone())
    }

    /// Notes something of `path` that no stamp has to vouch for.
    pub fn note(&self, of: &str, path: &Path, text: &str) {
        let note = KnownDigest::new(path, text, Stamps::new(), now());
        if let (Some(_), Some((key, note))) = (&self.file, key(of, path).zip(note)) {
            self.known.borrow_mut().insert(key, note);
            self.has_learned.set(true);
        }
    }

    /// Forgets all that is kept of any project.
    pub fn forget(state: &Path) {
        if let Ok(dir) = Dir::anchor(&state.join(DIGESTS)) {
            cache_file::make_room(&dir, 1, |_| true);
        }
    }
}

fn key(of: &str, path: &Path) -> Option<String> {
    Some([of, " ", path.to_str()?].concat())
}

impl KnownDigest {
    /// What to keep of the digest of `path`; `None` if a later change might not show in the stamps.
    fn new(path: &Path, digest: &str, stamps: Stamps, before: i128) -> Option<Self> {
        // Any change since `before`, when nothing had been looked at yet, has to show.
        let is_settled = |stamp: &Option<Stamp>| stamp.is_none_or(|it| it.is_settled(before));
        if !stamps.iter().all(|(_, stamp)| is_settled(stamp)) {
            return None;
        }
        let is_disclosed = |(one, _): &(PathBuf, _)| {
            let name = one.file_name().unwrap_or_default();
            // Wherever: the file of a skill may only name another one.
            one == path || name.eq_ignore_ascii_case("SKILL.md")
        };
        let (disclosed, rest): (Stamps, Stamps) = stamps.into_iter().partition(is_disclosed);
        Some(Self {
            digest: digest.to_owned(),
            is_agreed: false,
            disclosed,
            rest,
        })
    }
}

impl Drop for DigestCache {
    /// Keeps what was learned. Best effort: it can be computed again.
    fn drop(&mut self) {
        let (Some(file), true) = (&self.file, self.has_learned.get()) else {
            return;
        };
        let mut known = self.known.take();
        known.retain(|key, _| {
            let path = key.split_once(' ').map(|(_, path)| Path::new(path));
            path.is_some_and(Path::exists)
        });
        let record = self.record;
        if let Ok(table) = postcard::to_allocvec(&CacheTable { record, known }) {
            cache_file::replace(file, MAGIC, &table, &[], PROJECTS);
        }
    }
}

#[cfg(test)]
mod tests;
