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
const MAGIC: &[u8; 16] = b"agent-skills ix3";
/// No file has this stamp.
const NO_STAMP: Stamp = Stamp([0; 7]);
const PARTS: usize = 3;
const HEAD: usize = MAGIC.len() + PARTS * 16;

/// Everything that was found.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// In the order of the roots.
    pub roots: Vec<KnownRoot>,
    /// The stored skills, concatenated.
    pub cached: Vec<u8>,
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
    pub cached: Range<usize>,
}

/// Output derived from the catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// For the host.
    pub text: String,
    /// For the user, in lines.
    pub remarks: String,
    /// Whether it depends on more than skills, configuration, policies and trust in projects. Such
    /// output is never stored.
    pub passes: bool,
}

/// Stored output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The key: the request, and everything besides the skills that the output depends on.
    pub name: Vec<u8>,
    /// The output.
    pub rendered: Rendered,
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
    cached: OnceCell<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Part {
    start: u64,
    length: usize,
    checksum: u64,
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
            *part = Part {
                start,
                length: reader.length()?,
                checksum: reader.u64()?,
            };
            start = start.checked_add(part.length as u64)?;
        }
        if start != metadata.len() {
            return None;
        }
        let table = parts[0].read(&file)?;
        let mut reader = Reader(&table);
        if reader.bytes()? != key {
            return None;
        }
        Some(Self {
            roots: reader.roots(parts[1].length)?,
            file,
            parts,
            cached: OnceCell::new(),
        })
    }

    /// The stored skills; empty if they cannot be read.
    pub fn cached(&self) -> &[u8] {
        let read = || self.parts[1].read(&self.file).unwrap_or_default();
        self.cached.get_or_init(read)
    }

    /// The answer of this name.
    pub fn answer(&self, name: &[u8]) -> Option<Answer> {
        let mut answers = self.answers()?.into_iter();
        answers.find(|answer| answer.name == name)
    }

    /// The answers.
    pub fn answers(&self) -> Option<Vec<Answer>> {
        let bytes = self.parts[2].read(&self.file)?;
        let mut reader = Reader(&bytes);
        let mut answers = Vec::new();
        while !reader.0.is_empty() && answers.len() < limits::CATALOG_ANSWERS {
            answers.push(Answer {
                name: reader.bytes()?.to_vec(),
                rendered: Rendered {
                    text: reader.text()?,
                    remarks: reader.text()?,
                    passes: false,
                },
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
            put_number(&mut table, entry.cached.len());
        }
    }
    let mut last = Vec::new();
    for answer in answers {
        put(&mut last, &answer.name);
        put(&mut last, answer.rendered.text.as_bytes());
        put(&mut last, answer.rendered.remarks.as_bytes());
        put_number(&mut last, answer.offered);
    }
    let parts = [table.as_slice(), &found.cached, &last];
    let mut bytes = MAGIC.to_vec();
    for part in parts {
        put_number(&mut bytes, part.len());
        bytes.extend(hash(part).to_le_bytes());
    }
    bytes.extend(parts.concat());
    if let Some((dir, name)) = place(path) {
        if !dir.has(&name) {
            make_room(&dir);
        }
        let _ = dir.replace(&name, &bytes, 0o600, Durable::No);
    }
}

/// The directory of the index at `path`, and its name there. The directory is created, but not its
/// parents.
fn place(path: &Path) -> Option<(Dir, EntryName)> {
    let name = |path: &Path| EntryName::parse(path.file_name()?);
    let dir = path.parent()?;
    let above = Dir::anchor(dir.parent()?).ok()?;
    Some((above.make_private_dir(&name(dir)?).ok()?, name(path)?))
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
    bytes.extend((number as u64).to_le_bytes());
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
    fn u64(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    fn stamp(&mut self) -> Option<Stamp> {
        let mut numbers = [0; 7];
        for number in &mut numbers {
            *number = self.u64()?;
        }
        Some(Stamp(numbers))
    }

    /// Every root. The lengths of their entries' stored bytes must add up to `cached`.
    fn roots(&mut self, cached: usize) -> Option<Vec<KnownRoot>> {
        let is_stamp = |stamp: &Stamp| *stamp != NO_STAMP;
        let mut roots = Vec::new();
        let mut at = 0_usize;
        for _ in 0..self.u64()? {
            let stamp = Some(self.stamp()?).filter(is_stamp);
            let mut entries = Vec::new();
            for _ in 0..self.u64()? {
                let dir = OsStr::from_bytes(self.bytes()?).to_owned();
                let stamp = Some(self.stamp()?).filter(is_stamp);
                let name = self.text()?;
                let end = at.checked_add(self.length()?)?;
                entries.push(Known {
                    dir,
                    stamp,
                    name,
                    cached: at..end,
                });
                at = end;
            }
            roots.push(KnownRoot { stamp, entries });
        }
        (at == cached && self.0.is_empty()).then_some(roots)
    }
}
