//! Files that only save work: readable only by their user, believed only when nobody else can have
//! written them, complete, and replaced atomically. The oldest give way to new ones.
//!
//! ```text
//! │ magic │ length and checksum of the table │ table, which every call reads │ parts, which few do │
//! ```

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::process::effective_user;
use super::{Dir, Durable, EntryName, files, hash};

/// The length of all before the table.
const HEAD: usize = 32;

/// What is behind the table of an open file.
#[derive(Debug)]
pub struct CachedParts {
    file: File,
    start: u64,
    end: u64,
}

/// Where one part is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedPart {
    start: u64,
    length: u64,
    checksum: u64,
}

impl CachedPart {
    /// The part with these bytes, `start` bytes behind the table.
    pub fn new(start: usize, bytes: &[u8]) -> Self {
        Self {
            start: start as u64,
            length: bytes.len() as u64,
            checksum: hash(bytes),
        }
    }
}

impl CachedParts {
    /// A part, if it is as it was written.
    pub fn read(&self, part: CachedPart) -> Option<Vec<u8>> {
        let start = self.start.checked_add(part.start)?;
        if start.checked_add(part.length)? > self.end {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(part.length).ok()?];
        self.file.read_exact_at(&mut bytes, start).ok()?;
        (hash(&bytes) == part.checksum).then_some(bytes)
    }
}

/// The table that [`replace`] wrote to `path` under the same `magic`, and the parts, if nobody but
/// this user can have written them and they are at most `max` bytes.
pub fn open(path: &Path, magic: &[u8; 16], max: u64) -> Option<(Vec<u8>, CachedParts)> {
    let (file, metadata) = files::open_with_metadata(path).ok()?;
    let is_private = metadata.uid() == effective_user() && metadata.mode() & 0o022 == 0;
    if !is_private || metadata.len() > max {
        return None;
    }
    let mut head = [0; HEAD];
    file.read_exact_at(&mut head, 0).ok()?;
    let (length, checksum) = head.strip_prefix(magic)?.split_first_chunk()?;
    let table = CachedPart {
        start: 0,
        length: u64::from_le_bytes(*length),
        checksum: u64::from_le_bytes(checksum.try_into().ok()?),
    };
    let (start, end) = (HEAD as u64, metadata.len());
    let mut parts = CachedParts { file, start, end };
    let bytes = parts.read(table)?;
    parts.start += table.length;
    Some((bytes, parts))
}

/// Replaces the file at `path`; a new one takes the place of the oldest if its directory has `most`.
/// The directory is created, but not its parents. Best effort.
pub fn replace(path: &Path, magic: &[u8; 16], table: &[u8], parts: &[u8], most: usize) {
    let Some((dir, name)) = place(path) else {
        return;
    };
    if !dir.has(&name) {
        make_room(&dir, most, |_| true);
    }
    let head = [table.len() as u64, hash(table)].map(u64::to_le_bytes);
    let bytes = [&magic[..], head.as_flattened(), table, parts].concat();
    let _ = dir.replace(&name, &bytes, 0o600, Durable::No);
}

/// The directory of the file at `path`, and its name there.
fn place(path: &Path) -> Option<(Dir, EntryName)> {
    let name = |path: &Path| EntryName::parse(path.file_name()?);
    let dir = path.parent()?;
    let above = Dir::anchor(dir.parent()?).ok()?;
    Some((above.make_private_dir(&name(dir)?).ok()?, name(path)?))
}

/// Removes the oldest of these files, so that with another one there are `most`; and so leftovers of
/// killed processes.
pub fn make_room(dir: &Dir, most: usize, is_one: impl Fn(&EntryName) -> bool) {
    let entries = dir.entries().unwrap_or_default().into_iter();
    let changed = |name: &EntryName| dir.open_file(name).ok()?.1.modified().ok();
    let files = entries.filter(|(name, _)| is_one(name));
    let files = files.filter_map(|(name, _)| Some((changed(&name)?, name)));
    let mut files: Vec<_> = files.collect();
    if files.len() >= most {
        files.sort();
        for (_, name) in &files[..=files.len() - most] {
            let _ = dir.remove_file(name);
        }
    }
}
