//! Files that only save work: readable only by their user, believed only when nobody else can have
//! written them, complete, and replaced atomically. The oldest give way to new ones.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use super::process::effective_user;
use super::{Dir, Durable, EntryName, files, hash};

/// Opens the cache file at `path`, of at most `max` bytes, if nobody but this user can have written
/// it; with its length.
pub fn open(path: &Path, max: u64) -> Option<(File, u64)> {
    let (file, metadata) = files::open_with_metadata(path).ok()?;
    let is_private = metadata.uid() == effective_user() && metadata.mode() & 0o022 == 0;
    (is_private && metadata.len() <= max).then_some((file, metadata.len()))
}

/// What [`replace`] wrote to `path` under the same `magic`.
pub fn read(path: &Path, magic: &[u8; 16], max: u64) -> Option<Vec<u8>> {
    let (file, length) = open(path, max)?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let (checksum, content) = bytes.strip_prefix(magic)?.split_first_chunk()?;
    (u64::from_le_bytes(*checksum) == hash(content)).then(|| content.to_vec())
}

/// Replaces the file at `path` by `magic`, a checksum and `content`. Best effort.
pub fn replace(path: &Path, magic: &[u8; 16], content: &[u8], most: usize) {
    let checksum = hash(content).to_le_bytes();
    replace_raw(path, &[magic, &checksum[..], content].concat(), most);
}

/// Replaces the file at `path`; a new one takes the place of the oldest if its directory has `most`.
/// The directory is created, but not its parents. Best effort.
pub fn replace_raw(path: &Path, bytes: &[u8], most: usize) {
    let Some((dir, name)) = place(path) else {
        return;
    };
    if !dir.has(&name) {
        make_room(&dir, most);
    }
    let _ = dir.replace(&name, bytes, 0o600, Durable::No);
}

/// The directory of the file at `path`, and its name there.
fn place(path: &Path) -> Option<(Dir, EntryName)> {
    let name = |path: &Path| EntryName::parse(path.file_name()?);
    let dir = path.parent()?;
    let above = Dir::anchor(dir.parent()?).ok()?;
    Some((above.make_private_dir(&name(dir)?).ok()?, name(path)?))
}

/// Removes the oldest files, and leftovers of killed processes.
fn make_room(dir: &Dir, most: usize) {
    let entries = dir.entries().unwrap_or_default().into_iter();
    let changed = |name: &EntryName| dir.open_file(name).ok()?.1.modified().ok();
    let mut files: Vec<_> = entries
        .filter_map(|(name, _)| Some((changed(&name)?, name)))
        .collect();
    if files.len() >= most {
        files.sort();
        for (_, name) in &files[..=files.len() - most] {
            let _ = dir.remove_file(name);
        }
    }
}
