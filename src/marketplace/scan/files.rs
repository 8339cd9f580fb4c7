//! Scans files as they are read: the type of each, and its text.

use std::io::{self, Read};
use std::path::Path;

use super::Severity::High;
use super::finding::{Finding, Kind};
use super::{bytes, text};
use crate::skill::Runner;
use crate::sys::limits;

/// Text files meant for readers.
const PROSE: [&str; 8] = ["md", "mdx", "txt", "rst", "adoc", "html", "json", "csv"];

const NUL: Kind = (
    High,
    "nul-bytes",
    "has NUL bytes in a text, at which a reader stops and a program does not",
);

const LONG: Kind = (
    High,
    "long-text",
    "is longer than what is scanned: read it before you trust it",
);

/// A file of a skill, as it is scanned.
#[derive(Debug)]
pub struct ScannedFile {
    /// Relative to the skill's directory.
    path: String,
    /// At most [`limits::SCANNED_FILE`].
    bytes: Vec<u8>,
    is_longer: bool,
    is_executable: bool,
}

impl ScannedFile {
    /// Reads a file of `size` bytes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(
        path: &str,
        from: &mut dyn Read,
        size: u64,
        is_executable: bool,
    ) -> io::Result<Self> {
        let most = size.min(limits::SCANNED_FILE);
        let mut bytes = Vec::with_capacity(usize::try_from(most).unwrap_or_default());
        from.take(limits::SCANNED_FILE).read_to_end(&mut bytes)?;
        Ok(Self {
            path: path.to_owned(),
            bytes,
            is_longer: size > limits::SCANNED_FILE,
            is_executable,
        })
    }

    /// Adds what is found in it.
    pub fn inspect(&self, found: &mut Vec<Finding>) {
        let Self { path, bytes, .. } = self;
        if let Some(what) = bytes::inspect(path, &bytes[..bytes.len().min(bytes::HEAD)]) {
            found.push(Finding::new(what, path, 0, ""));
        }
        let named = Path::new(path);
        let is_meant = is_meant_as_text(named, bytes);
        let is_run = self.is_executable || Runner::of(named, false, bytes).is_some();
        let utf16 = bytes::utf16(bytes).filter(|_| !is_run);
        let has_nul = utf16.is_none() && bytes.contains(&0);
        let (text, is_binary) = match utf16 {
            Some(text) => (text.into(), false),
            None => bytes::text(bytes, is_meant),
        };
        let is_text = is_meant || self.is_executable && !is_binary;
        for (kind, has) in [(NUL, has_nul), (LONG, self.is_longer)] {
            if has && is_text {
                found.push(Finding::new(kind, path, 0, ""));
            }
        }
        let mut told = text::inspect(path, &text, !is_prose(named));
        // Other bytes look like words by chance, and programs name what they may do. What seems to be
        // a picture may be run by a shell, though.
        let is_run = |code| code == "pipe-to-shell" && !bytes::is_program(bytes);
        told.retain(|finding| !is_binary || finding.severity >= High || is_run(finding.code));
        found.extend(told);
    }
}

fn is_prose(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    PROSE
        .iter()
        .any(|prose| extension.eq_ignore_ascii_case(prose))
}

fn is_meant_as_text(path: &Path, bytes: &[u8]) -> bool {
    is_prose(path) || Runner::of(path, false, bytes).is_some()
}

/// Whether the file `path` with this content is neither a text nor meant to be one.
pub fn is_binary(path: &Path, bytes: &[u8]) -> bool {
    !is_meant_as_text(path, bytes) && bytes::text(bytes, false).1
}
