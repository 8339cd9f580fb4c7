//! Reads archives (`.zip`, `.skill`, `.tar`, `.tar.gz`) into memory. Nothing is written and no link is
//! followed. Unpacked bytes are counted as they arrive, because the sizes that the archive states
//! cannot be trusted.

use std::io::{Cursor, Read};

use flate2::read::GzDecoder;
use tar::EntryType;

use crate::marketplace::fetch::{InMemoryTree, Node, tree};
use crate::marketplace::prelude::*;

/// How gzip's output begins.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Unpacks an archive; its first bytes determine the format.
///
/// # Errors
/// When it is not an archive, is broken or encrypted, is larger than [`limits::UNPACKED`], has more
/// entries than [`limits::ARCHIVE_FILES`], or contains a path that leaves it.
pub fn read(bytes: &[u8]) -> Result<InMemoryTree> {
    let mut layers = ImageLayers::default();
    if bytes.starts_with(b"PK") {
        layers.zip(bytes)?;
    } else if bytes.trim_ascii_start().starts_with(b"<") {
        return Err(broken(&"it is a web page"));
    } else {
        layers.add(bytes)?;
    }
    layers.memory.unwrapped()
}

/// Several tars and files, the later over the earlier, under the caps of one archive.
#[derive(Default)]
pub struct ImageLayers {
    /// What is unpacked so far.
    pub memory: InMemoryTree,
    bytes: u64,
    entries: usize,
}

impl ImageLayers {
    /// Unpacks a tar, compressed or not.
    ///
    /// # Errors
    /// As [`read`].
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.starts_with(GZIP) {
            // The largest tar with that content. It ends an endless stream.
            let most = limits::UNPACKED + 2048 * limits::ARCHIVE_FILES as u64;
            return self.tar(GzDecoder::new(bytes).take(most));
        }
        self.tar(bytes)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// As [`read`].
    pub fn add_file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.entry()?;
        let bytes = self.unpack(bytes)?;
        self.memory.add_file(&inside(path)?, bytes, false)
    }

    fn tar(&mut self, source: impl Read) -> Result<()> {
        let mut archive = tar::Archive::new(source);
        for entry in archive.entries().map_err(|error| broken(&error))? {
            self.entry()?;
            let mut entry = entry.map_err(|error| broken(&error))?;
            let kind = entry.header().entry_type();
            if matches!(kind, EntryType::Directory | EntryType::XGlobalHeader) {
                continue;
            }
            let path = inside(&String::from_utf8_lossy(&entry.path_bytes()))?;
            let target = entry.link_name_bytes().map(std::borrow::Cow::into_owned);
            match (kind, target) {
                (EntryType::Symlink, Some(target)) => self.memory.add(&path, link(target))?,
                // A hard link to an earlier file.
                (EntryType::Link, Some(target)) => {
                    let target = inside(&String::from_utf8_lossy(&target))?;
                    match self.memory.get(&target).map(<[u8]>::to_vec) {
                        Some(bytes) => {
                            let bytes = self.unpack(&bytes[..])?;
                            self.memory.add_file(&path, bytes, false)?;
                        }
                        None => self.memory.add(&path, Node::Special)?,
                    }
                }
                (EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse, _) => {
                    let mode = entry.header().mode().unwrap_or(0o644);
                    let bytes = self.unpack(&mut entry)?;
                    self.memory.add_file(&path, bytes, mode & 0o100 != 0)?;
                }
                _ => self.memory.add(&path, Node::Special)?,
            }
        }
        Ok(())
    }

    fn zip(&mut self, bytes: &[u8]) -> Result<()> {
        let archive = zip::ZipArchive::new(Cursor::new(bytes));
        let mut archive = archive.map_err(|error| broken(&error))?;
        for index in 0..archive.len() {
            self.entry()?;
            let mut entry = archive.by_index(index).map_err(|error| broken(&error))?;
            // Some programs for Windows write its separators.
            let name = String::from_utf8_lossy(entry.name_raw()).replace('\\', "/");
            let path = inside(&name)?;
            if name.ends_with('/') {
                continue;
            }
            let mode = entry.unix_mode().unwrap_or(0o644);
            let bytes = self.unpack(&mut entry)?;
            match mode & 0o170_000 {
                0 | 0o100_000 => self.memory.add_file(&path, bytes, mode & 0o100 != 0)?,
                0o120_000 => self.memory.add(&path, link(bytes))?,
                _ => self.memory.add(&path, Node::Special)?,
            }
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<()> {
        self.entries += 1;
        if self.entries > limits::ARCHIVE_FILES {
            return Err(too_large());
        }
        Ok(())
    }

    fn unpack(&mut self, source: impl Read) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let left = limits::UNPACKED - self.bytes;
        let read = source.take(left + 1).read_to_end(&mut bytes);
        read.map_err(|error| broken(&error))?;
        if bytes.len() as u64 > left {
            return Err(too_large());
        }
        self.bytes += bytes.len() as u64;
        Ok(bytes)
    }
}

/// Whether bytes are a tar, or compressed.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP) || bytes.get(257..262) == Some(b"ustar")
}

/// The path, if it stays in the archive.
fn inside(path: &str) -> Result<String> {
    let clean = tree::normalize_relative(path).filter(|clean| {
        let is_empty = clean.is_empty() && !path.starts_with('.');
        !is_empty && !path.contains('\0')
    });
    clean.ok_or_else(|| {
        let path = path.escape_debug();
        Error::new(format!(
            "the archive has the path `{path}`, which leaves the archive"
        ))
        .hint("do not use it; tell its author")
    })
}

fn link(target: Vec<u8>) -> Node {
    let to = String::from_utf8(target).unwrap_or_default();
    Node::Link { to }
}

fn broken(error: &dyn std::fmt::Display) -> Error {
    Error::new(format!("the archive cannot be read: {error}"))
        .hint("give a .zip, .skill, .tar or .tar.gz without a password")
}

fn too_large() -> Error {
    let text = format!(
        "the archive has more than {} files or {} bytes when unpacked",
        limits::ARCHIVE_FILES,
        limits::UNPACKED
    );
    Error::new(text).hint("ask its author for an archive of the skill alone")
}
