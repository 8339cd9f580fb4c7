//! The index on disk: a header and three parts, whose lengths and checksums are in the header, so
//! that a call reads only what it needs. Written atomically, readable only by its user.
//!
//! The parts: key and entries; the entries' skills; the answers. Numbers are little-endian, and
//! every text is preceded by its length.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::sys::process::effective_user;
use crate::sys::stamp::Stamp;
use crate::sys::{Dir, Durable, EntryName, files, hash, limits};

/// Indexes kept. Each set of skill directories has one, so each project with skills has one.
pub const CATALOG_INDEXES: usize = 50;

/// Changes with the format.
const MAGIC: &[u8; 16] = b"agent-skills ix2";
/// No file has this stamp.
const NO_STAMP: Stamp = Stamp([0; 7]);
const PARTS: usize = 3;
const HEAD: usize = MAGIC.len() + PARTS * 12;

/// Everything that was found.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// In the order of the roots.
    pub roots: Vec<KnownRoot>,
    /// The stored skills, concatenated.
    pub kept: Vec<u8>,
}

/// What is known of a root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownRoot {
    /// The entries are valid while this stamp is unchanged.
    pub stamp: Option<Stamp>,
    /// Sorted by directory.
    pub entries: Vec<Known>,
}

/// What is known of one directory in a root.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Its name.
    pub dir: OsString,
    /// The rest is valid while this stamp is unchanged.
    pub stamp: Option<Stamp>,
    /// The skill's name; empty if there is none.
    pub name: String,
    /// Where the stored bytes hold the skill, or the reason why it does not load.
    pub kept: Range<usize>,
}

/// An answer derived from the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The key: the request, and everything besides the skills that the answer depends on.
    pub name: Vec<u8>,
    /// The text for the host.
    pub text: Vec<u8>,
    /// The text for the user.
    pub remarks: Vec<u8>,
    /// The number of skills offered to the model.
    pub offered: usize,
}

/// An index that was read from disk.
#[derive(Debug)]
pub struct Stored {
    file: File,
    parts: [Part; PARTS],
    /// In the order of the roots in the index's key.
    pub roots: Vec<KnownRoot>,
    kept: OnceCell<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Part {
    start: u64,
    length: usize,
    checksum: u64,
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
    /// Opens the index at `path` if it is valid, complete, and was written by this user under
    /// `key`.
    pub fn open(path: &Path, key: &[u8]) -> Option<Self> {
        let (file, metadata) = files::open_with_metadata(path).ok()?;
        let is_private = metadata.uid() == effective_user() && metadata.mode() & 0o022 == 0;
        if !is_private || metadata.len() > limits::CATALOG_INDEX {
            return None;
        }
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        let mut reader = Reader(head.strip_prefix(MAGIC)?);
        let mut start = HEAD as u64;
        let mut parts = [Part::default(); PARTS];
        for part in &mut parts {
            let length = reader.length()?;
            let checksum = reader.u64()?;
            *part = Part {
                start,
                length,
                checksum,
            };
            start = start.checked_add(length as u64)?;
        }
        if start != metadata.len() {
            return None;
        }
        let table = parts[0].read(&file)?;
        let mut reader = Reader(&table);
        if reader.bytes()? != key {
            return None;
        }
        let roots = reader.roots(parts[1].length)?;
        Some(Self {
            file,
            parts,
            roots,
            kept: OnceCell::new(),
        })
    }

    /// The stored skills; empty if they cannot be read.
    pub fn kept(&self) -> &[u8] {
        let read = || self.parts[1].read(&self.file).unwrap_or_default();
        self.kept.get_or_init(read)
    }

    /// The answers.
    pub fn answers(&self) -> Option<Vec<Answer>> {
        let bytes = self.parts[2].read(&self.file)?;
        let mut reader = Reader(&bytes);
        let mut answers = Vec::new();
        while !reader.0.is_empty() && answers.len() < limits::CATALOG_ANSWERS {
            answers.push(Answer {
                name: reader.bytes()?.to_vec(),
                text: reader.bytes()?.to_vec(),
                remarks: reader.bytes()?.to_vec(),
                offered: reader.length()?,
            });
        }
        Some(answers)
    }
}

impl Part {
    fn read(self, file: &File) -> Option<Vec<u8>> {
        let mut bytes = vec![0; self.length];
        file.read_exact_at(&mut bytes, self.start).ok()?;
        (hash(&bytes) == self.checksum).then_some(bytes)
    }
}

/// Replaces the index at `path`. Best effort: it can be rebuilt.
pub fn write(path: &Path, key: &[u8], found: &Found, answers: &[Answer]) {
    let mut table = Vec::new();
    put(&mut table, key);
    put_number(&mut table, found.roots.len());
    for root in &found.roots {
        put_stamp(&mut table, root.stamp);
        put_number(&mut table, root.entries.len());
        for entry in &root.entries {
            put(&mut table, entry.dir.as_bytes());
            put_stamp(&mut table, entry.stamp);
            put(&mut table, entry.name.as_bytes());
            put_number(&mut table, entry.kept.len());
        }
    }
    let mut last = Vec::new();
    for answer in answers {
        for text in [&answer.name, &answer.text, &answer.remarks] {
            put(&mut last, text);
        }
        put_number(&mut last, answer.offered);
    }
    let parts = [table.as_slice(), &found.kept, &last];
    let mut bytes = MAGIC.to_vec();
    for part in parts {
        put_number(&mut bytes, part.len());
        bytes.extend(hash(part).to_le_bytes());
    }
    bytes.extend(parts.concat());
    let name = path.file_name().and_then(EntryName::parse);
    if let Some((dir, name)) = path.parent().and_then(place).zip(name) {
        if !dir.has(&name) {
            make_room(&dir);
        }
        let _ = dir.replace(&name, &bytes, 0o600, Durable::No);
    }
}

/// The directory of indexes. It is created, but not its parents.
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
    if files.len() >= CATALOG_INDEXES {
        files.sort();
        for (_, name) in &files[..=files.len() - CATALOG_INDEXES] {
            let _ = dir.remove_file(name);
        }
    }
}

fn put_number(bytes: &mut Vec<u8>, number: usize) {
    // A number this large means that the file exceeds its limit and will not be read.
    bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn put(bytes: &mut Vec<u8>, text: &[u8]) {
    put_number(bytes, text.len());
    bytes.extend(text);
}

fn put_stamp(bytes: &mut Vec<u8>, stamp: Option<Stamp>) {
    let Stamp(numbers) = stamp.unwrap_or(NO_STAMP);
    bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
}

/// The unread rest of a part. Any inconsistency ends the reading.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(u64::from(u32::from_le_bytes(bytes)))
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    fn stamp(&mut self) -> Option<Stamp> {
        let mut numbers = [0; 7];
        for number in &mut numbers {
            *number = self.u64()?;
        }
        Some(Stamp(numbers))
    }

    /// Every root. The lengths of their entries' stored bytes must add up to `kept`.
    fn roots(&mut self, kept: usize) -> Option<Vec<KnownRoot>> {
        let mut roots = Vec::new();
        let mut at = 0_usize;
        for _ in 0..self.number()? {
            let stamp = Some(self.stamp()?).filter(|stamp| *stamp != NO_STAMP);
            let mut entries = Vec::new();
            for _ in 0..self.number()? {
                let dir = OsStr::from_bytes(self.bytes()?).to_owned();
                let stamp = Some(self.stamp()?).filter(|stamp| *stamp != NO_STAMP);
                let name = std::str::from_utf8(self.bytes()?).ok()?.to_owned();
                let end = at.checked_add(self.length()?)?;
                entries.push(Known {
                    dir,
                    stamp,
                    name,
                    kept: at..end,
                });
                at = end;
            }
            roots.push(KnownRoot { stamp, entries });
        }
        (at == kept && self.0.is_empty()).then_some(roots)
    }
}
