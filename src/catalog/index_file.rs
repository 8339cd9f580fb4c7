//! The index on disk: what was found and the answers, which most calls read alone, then the stored
//! skills. Written atomically, readable only by its user.
//!
//! ```text
//! │ MAGIC │ length and checksum of the table │ table │ the stored skills │
//! ```

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::sys::stamp::Stamp;
use crate::sys::{cache_file, hash, limits};

/// Indexes kept. Each set of skill directories has one, so each project with skills has one.
pub const CATALOG_INDEXES: usize = 50;

/// Changes with the format, and with how a skill is read.
const MAGIC: &[u8; 16] = b"agent-skills ix5";
/// The length of all before the table.
const HEAD: usize = MAGIC.len() + 16;

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

/// What every call reads: the key, the roots, the answers, and the checksum of the stored skills.
type Table<K, R, A> = (K, R, A, u64);

/// An index that was read from disk.
#[derive(Debug)]
pub struct Stored {
    file: File,
    /// Where the stored skills are in the file.
    skills: Range<u64>,
    /// Their checksum.
    checksum: u64,
    cached: OnceCell<Vec<u8>>,
    /// In the order of the roots in the index's key.
    pub roots: Vec<KnownRoot>,
    /// The latest first.
    pub answers: Vec<Answer>,
}

impl KnownRoot {
    /// Whether the entries of `root` are certainly the same.
    pub fn is_unchanged(&self, root: &Path) -> bool {
        let now = || Some(Stamp::from_metadata(&root.metadata().ok()?));
        self.stamp.is_some() && self.stamp == now()
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
        let (file, size) = cache_file::open(path, limits::CATALOG_INDEX)?;
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        let (length, checksum) = head.strip_prefix(MAGIC)?.split_first_chunk()?;
        let start = HEAD as u64;
        let end = start.checked_add(u64::from_le_bytes(*length))?;
        let checksum = u64::from_le_bytes(checksum.try_into().ok()?);
        let skills = end..size;
        let table = read(&file, start..end.min(skills.end), checksum)?;
        let table: Table<String, _, _> = postcard::from_bytes(&table).ok()?;
        let (its_key, roots, answers, checksum) = table;
        (its_key == key).then(|| Self {
            file,
            skills,
            checksum,
            cached: OnceCell::new(),
            roots,
            answers,
        })
    }

    /// The stored skills; empty if they cannot be read.
    pub fn cached(&self) -> &[u8] {
        let read = || read(&self.file, self.skills.clone(), self.checksum);
        self.cached.get_or_init(|| read().unwrap_or_default())
    }

    /// The answer of this name.
    pub fn answer(&self, name: &str) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.name == name)
    }
}

/// A part of the file, if it has this checksum.
fn read(file: &File, part: Range<u64>, checksum: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(part.end.checked_sub(part.start)?).ok()?];
    file.read_exact_at(&mut bytes, part.start).ok()?;
    (hash(&bytes) == checksum).then_some(bytes)
}

/// Replaces the index at `path`. Best effort: it can be rebuilt.
pub fn write(path: &Path, key: &str, found: &Found, answers: &[Answer]) {
    let table: Table<_, _, _> = (key, &found.roots, answers, hash(&found.cached));
    let Ok(table) = postcard::to_allocvec(&table) else {
        return;
    };
    let head = [table.len() as u64, hash(&table)].map(u64::to_le_bytes);
    let bytes = [&MAGIC[..], head.as_flattened(), &table, &found.cached].concat();
    cache_file::replace_raw(path, &bytes, CATALOG_INDEXES);
}
