//! The index on disk: a table of what was found and the answers, which most calls read alone, then the
//! stored skills as one part.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::sys::cache_file::{self, Part, Parts};
use crate::sys::limits;
use crate::sys::stamp::Stamp;

/// Indexes kept. Each set of skill directories has one, so each project with skills has one.
pub const CATALOG_INDEXES: usize = 50;

/// Changes with the format, and with how a skill is read.
const MAGIC: &[u8; 16] = b"agent-skills ix6";
/// Everything that was found.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// In the order of the roots.
    pub roots: Vec<KnownRoot>,
    /// The stored skills, concatenated.
    pub cached: Vec<u8>,
}

/// What is known of a root.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownRoot {
    /// The entries are valid while this stamp is unchanged.
    pub stamp: Option<Stamp>,
    /// Sorted by directory.
    pub entries: Vec<Known>,
}

/// What is known of one directory in a root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Its name.
    pub dir: OsString,
    /// The rest is valid while this stamp is unchanged.
    pub stamp: Option<Stamp>,
    /// The skill's name; empty if there is none.
    pub name: String,
    /// Where the stored bytes hold the skill, or the reason why it does not load.
    pub cached: Range<usize>,
}

/// Output derived from the catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// For the host.
    pub text: String,
    /// For the user, in lines.
    pub remarks: String,
    /// Whether it depends on more than skills, configuration, policies and trust in projects. Such
    /// output is never stored.
    #[serde(skip)]
    pub passes: bool,
}

/// Stored output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The key: the request, and everything besides the skills that the output depends on.
    pub name: String,
    /// The output.
    pub rendered: Rendered,
    /// The number of skills offered to the model.
    pub offered: usize,
}

/// What every call reads: the key, the roots, the answers, and where the stored skills are.
type Table<K, R, A> = (K, R, A, Part);

/// An index that was read from disk.
#[derive(Debug)]
pub struct Stored {
    parts: Parts,
    skills: Part,
    cached: OnceCell<Vec<u8>>,
    /// In the order of the roots in the index's key.
    pub roots: Vec<KnownRoot>,
    /// The latest first.
    pub answers: Vec<Answer>,
}

impl KnownRoot {
    /// Whether the entries of `root` are certainly the same.
    pub fn is_unchanged(&self, root: &Path) -> bool {
        self.stamp.is_some() && self.stamp == Stamp::of(root)
    }

    /// The entry of this name.
    pub fn entry(&self, dir: &OsStr) -> Option<&Known> {
        let found = self
            .entries
            .binary_search_by(|entry| entry.dir.as_os_str().cmp(dir));
        found.ok().map(|at| &self.entries[at])
    }
}

impl Stored {
    /// Opens the index at `path` if it is valid, complete, and was written by this user under
    /// `key`.
    pub fn open(path: &Path, key: &str) -> Option<Self> {
        let (table, parts) = cache_file::open(path, MAGIC, limits::CATALOG_INDEX)?;
        let table: Table<String, _, _> = postcard::from_bytes(&table).ok()?;
        let (its_key, roots, answers, skills) = table;
        (its_key == key).then(|| Self {
            parts,
            skills,
            cached: OnceCell::new(),
            roots,
            answers,
        })
    }

    /// The stored skills; empty if they cannot be read.
    pub fn cached(&self) -> &[u8] {
        let read = || self.parts.read(self.skills).unwrap_or_default();
        self.cached.get_or_init(read)
    }

    /// The answer of this name.
    pub fn answer(&self, name: &str) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.name == name)
    }
}

/// Replaces the index at `path`. Best effort: it can be rebuilt.
pub fn write(path: &Path, key: &str, found: &Found, answers: &[Answer]) {
    let table: Table<_, _, _> = (key, &found.roots, answers, Part::new(0, &found.cached));
    if let Ok(table) = postcard::to_allocvec(&table) {
        cache_file::replace(path, MAGIC, &table, &found.cached, CATALOG_INDEXES);
    }
}
