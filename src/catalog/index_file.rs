//! The index on disk: the mark of its format, a checksum, and the contents. Written atomically,
//! private to its user.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_bytes::{ByteBuf, Bytes};

use crate::sys::process::effective_user;
use crate::sys::stamp::Stamp;
use crate::sys::{Dir, Durable, EntryName, files, hash, limits};

/// Changes with the format.
const MAGIC: &[u8; 16] = b"agent-skills ix3";

/// Everything that was found.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// In the order of the roots.
    pub roots: Vec<KnownRoot>,
    /// The stored skills, concatenated.
    #[serde(with = "serde_bytes")]
    pub kept: Vec<u8>,
}

/// What is known of a root.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownRoot {
    /// While it is unchanged, the entries are valid.
    pub stamp: Option<Stamp>,
    /// Sorted by directory.
    pub entries: Vec<Known>,
}

/// What is known of one directory in a root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Its name.
    pub dir: OsString,
    /// While it is unchanged, the rest is valid.
    pub stamp: Option<Stamp>,
    /// The skill's name; empty if there is none.
    pub name: String,
    /// The range of the skill, or of the reason for its absence, in the stored bytes.
    pub kept: Range<usize>,
}

/// An answer derived from the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The request, and everything besides the skills that it depends on.
    #[serde(with = "serde_bytes")]
    pub name: Vec<u8>,
    /// The text for the host.
    #[serde(with = "serde_bytes")]
    pub text: Vec<u8>,
    /// The text for the user.
    #[serde(with = "serde_bytes")]
    pub remarks: Vec<u8>,
    /// The number of skills offered to the model.
    pub offered: usize,
}

/// An index that was read from disk.
#[derive(Debug)]
pub struct Stored {
    /// In the order of the roots in the key.
    pub found: Found,
    /// Latest first.
    pub answers: Vec<Answer>,
}

impl KnownRoot {
    /// The entry of this name.
    pub fn entry(&self, dir: &OsStr) -> Option<&Known> {
        let found = self
            .entries
            .binary_search_by(|entry| entry.dir.as_os_str().cmp(dir));
        found.ok().map(|at| &self.entries[at])
    }
}

impl Stored {
    /// Opens the index at `path`, if it is valid, complete and written by this user under `key`.
    pub fn open(path: &Path, key: &[u8]) -> Option<Self> {
        let (mut file, metadata) = files::open_with_metadata(path).ok()?;
        let is_private = metadata.uid() == effective_user() && metadata.mode() & 0o022 == 0;
        if !is_private || metadata.len() > limits::CATALOG_INDEX {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(metadata.len()).ok()?];
        file.read_exact(&mut bytes).ok()?;
        let (checksum, contents) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        if u64::from_le_bytes(*checksum) != hash(contents) {
            return None;
        }
        let (stored_key, found, answers): (ByteBuf, _, _) = postcard::from_bytes(contents).ok()?;
        (stored_key == key).then_some(Self { found, answers })
    }
}

/// Replaces the index at `path`, best effort: it can be rebuilt.
pub fn write(path: &Path, key: &[u8], found: &Found, answers: &[Answer]) {
    let Ok(contents) = postcard::to_allocvec(&(Bytes::new(key), found, answers)) else {
        return;
    };
    let checksum = hash(&contents).to_le_bytes();
    let bytes = [MAGIC.as_slice(), &checksum, &contents].concat();
    let name = path.file_name().and_then(EntryName::parse);
    if let Some((dir, name)) = path.parent().and_then(place).zip(name) {
        if !dir.has(&name) {
            make_room(&dir);
        }
        let _ = dir.replace(&name, &bytes, 0o600, Durable::No);
    }
}

/// The directory of indexes, created if only it is missing.
fn place(dir: &Path) -> Option<Dir> {
    let name = dir.file_name().and_then(EntryName::parse)?;
    Dir::anchor(dir.parent()?)
        .ok()?
        .make_private_dir(&name)
        .ok()
}

/// Removes the oldest indexes, and leftovers of killed processes.
fn make_room(dir: &Dir) {
    let entries = dir.entries().unwrap_or_default().into_iter();
    let changed = |name: &EntryName| dir.open_file(name).ok()?.1.modified().ok();
    let mut files: Vec<_> = entries
        .filter_map(|(name, _)| Some((changed(&name)?, name)))
        .collect();
    if files.len() >= limits::CATALOG_INDEXES {
        files.sort();
        for (_, name) in &files[..=files.len() - limits::CATALOG_INDEXES] {
            let _ = dir.remove_file(name);
        }
    }
}
