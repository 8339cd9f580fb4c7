//! Scans files as they are read: the type of each, and its text.

use std::io::{self, Read};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

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

/// The most threads that scan at once.
const THREADS: usize = 4;
/// So many files make it worth to start a thread.
const FILES_A_THREAD: usize = 16;

/// So many threads may scan here.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, |cores| NonZero::get(cores).min(THREADS))
}

/// What `read` returns, and the findings, in no order, in the files that it hands over, which are
/// `count`. For each of the `threads` at most two files are in memory, and one that is read.
pub fn each_of<R>(
    count: usize,
    threads: usize,
    read: impl FnOnce(&mut dyn FnMut(ScannedFile)) -> R,
) -> (R, Vec<Finding>) {
    let threads = (count / FILES_A_THREAD).clamp(1, threads);
    let (sender, files) = sync_channel::<ScannedFile>(threads);
    let files = Mutex::new(files);
    let next = || {
        files
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv()
            .ok()
    };
    let work = || {
        let mut found = Vec::new();
        while let Some(file) = next() {
            file.inspect(&mut found);
        }
        found
    };
    thread::scope(|scope| {
        // Without further threads this one does all.
        let spawned = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(spawned).collect();
        let mut found = Vec::new();
        let read = read(&mut |file| match sender.try_send(file) {
            Ok(()) => {}
            // The others have enough to do.
            Err(TrySendError::Full(file) | TrySendError::Disconnected(file)) => {
                file.inspect(&mut found);
            }
        });
        drop(sender);
        found.extend(work());
        for other in others {
            // A file that cannot be judged must not pass for one without findings.
            found.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        (read, found)
    })
}

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

    fn inspect(&self, found: &mut Vec<Finding>) {
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
