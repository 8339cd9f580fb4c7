//! One stream of a job's output in one bounded file: the beginning, then a ring buffer with the
//! end. The supervisor writes it; readers need no lock. It knows neither jobs nor what the bytes
//! mean.
//!
//! ```text
//! 0       8                    8+HEAD                     8+HEAD+RING
//! │ total │ the first HEAD bytes │ the last bytes, in a ring │
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::capture::Captured;
use super::stream::Sink;
use crate::sys::text::without_split_end;

/// One stream of a job's output on disk, of which the beginning and the end are kept.
const JOB_OUTPUT: u64 = 1024 * 1024;

/// Bytes that are never overwritten.
const HEAD: u64 = JOB_OUTPUT / 2;
/// Bytes of the ring.
const RING: u64 = JOB_OUTPUT - HEAD;
/// Offset of the first byte, after the total length.
const START: u64 = 8;
/// The maximum for one write; this much of the ring may change while it is read.
pub const CHUNK: usize = 16 * 1024;

/// The file offset of the byte at `position` of the stream, and how many bytes are contiguous from
/// there.
fn place(position: u64) -> (u64, u64) {
    if position < HEAD {
        return (START + position, HEAD - position);
    }
    let within = (position - HEAD) % RING;
    (START + HEAD + within, RING - within)
}

/// The writing side.
#[derive(Debug)]
pub struct Writer {
    file: File,
    total: u64,
}

impl Writer {
    /// Continues after what the file already holds.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn resume(file: File) -> io::Result<Self> {
        let total = read_total(&file)?;
        Ok(Self { file, total })
    }
}

impl Sink for Writer {
    /// Appends at most [`CHUNK`] bytes. What does not fit on the disk is dropped, so that the
    /// writer never blocks.
    fn push(&mut self, mut bytes: &[u8]) {
        let mut total = self.total;
        while !bytes.is_empty() {
            let (offset, room) = place(total);
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(bytes.len().min(room));
            if self.file.write_all_at(now, offset).is_err() {
                return;
            }
            total += now.len() as u64;
            bytes = later;
        }
        if self.file.write_all_at(&total.to_le_bytes(), 0).is_ok() {
            self.total = total;
        }
    }
}

/// Initialises a spool in an empty file with the stream so far.
///
/// # Errors
/// When the file cannot be written.
pub fn begin(file: &File, so_far: &[u8]) -> io::Result<u64> {
    // A call keeps less of an output than a spool holds.
    let length = so_far.len() as u64;
    file.write_all_at(so_far, START)?;
    file.write_all_at(&length.to_le_bytes(), 0)?;
    Ok(length)
}

/// A stream's content from one position on.
#[derive(Debug, Default)]
pub struct News {
    /// The text, without its middle if the spool no longer has that or it is too long.
    pub text: Captured,
    /// The position for the next read.
    pub next: u64,
}

/// Reads from `position` on. While the stream may continue (`open`), an incomplete character is
/// left for the next read.
///
/// # Errors
/// When the file cannot be read.
pub fn read(file: &File, position: u64, open: bool) -> io::Result<News> {
    let total = read_total(file)?;
    let mut text = Captured::default();
    let mut bytes = read_range(file, position, total.min(HEAD))?;
    let ring_from = position.max(HEAD).max(total.saturating_sub(RING));
    if ring_from < total {
        let ring = read_range(file, ring_from, total)?;
        // Bytes that may have been overwritten meanwhile are dropped.
        let margin = if open { CHUNK as u64 } else { 0 };
        let oldest = (read_total(file)? + margin).saturating_sub(RING);
        let valid_from = ring_from.max(oldest.min(total));
        let skipped = usize::try_from(valid_from - ring_from).unwrap_or(usize::MAX);
        text.push(&bytes);
        text.skip(valid_from.saturating_sub(position.max(HEAD)));
        bytes = ring[skipped.min(ring.len())..].to_vec();
    }
    let whole = if open {
        without_split_end(&bytes)
    } else {
        &bytes
    };
    text.push(whole);
    Ok(News {
        text,
        next: total.max(position) - (bytes.len() - whole.len()) as u64,
    })
}

fn read_total(file: &File) -> io::Result<u64> {
    let mut total = [0; 8];
    file.read_exact_at(&mut total, 0)?;
    Ok(u64::from_le_bytes(total))
}

fn read_range(file: &File, mut from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    while from < to {
        let (offset, room) = place(from);
        let length = room.min(to - from);
        let mut part = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut part, offset)?;
        all.extend(part);
        from += length;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool() -> (File, Writer) {
        let file = tempfile::tempfile().unwrap();
        begin(&file, b"").unwrap();
        let writer = Writer::resume(file.try_clone().unwrap()).unwrap();
        (file, writer)
    }

    fn stream(length: usize) -> Vec<u8> {
        let word = |n: usize| format!("{n:07}\n").into_bytes();
        (0..length.div_ceil(8))
            .flat_map(word)
            .take(length)
            .collect()
    }

    #[test]
    fn a_short_stream_is_read_in_pieces() {
        let (file, mut writer) = spool();
        writer.push(b"one ");
        let first = read(&file, 0, true).unwrap();
        assert_eq!((first.text.text().as_str(), first.next), ("one ", 4));
        writer.push(b"two");
        let second = read(&file, first.next, true).unwrap();
        assert_eq!((second.text.text().as_str(), second.next), ("two", 7));
        let third = read(&file, second.next, false).unwrap();
        assert_eq!((third.text.total(), third.next), (0, 7));
    }

    #[test]
    fn a_long_stream_keeps_its_end_in_a_bounded_file() {
        let (file, mut writer) = spool();
        let bytes = stream(5_000_000);
        for chunk in bytes.chunks(50_001) {
            writer.push(chunk);
        }
        assert!(file.metadata().unwrap().len() <= START + JOB_OUTPUT);
        for from in [0, 10, 600_000, 4_000_000] {
            let news = read(&file, from, false).unwrap();
            assert_eq!(news.next, 5_000_000);
            assert_eq!(news.text.total(), 5_000_000 - from);
            let text = news.text.text();
            assert!(
                text.as_bytes().ends_with(&bytes[bytes.len() - 30_000..]),
                "{from}"
            );
        }
        let last = read(&file, 4_999_990, true).unwrap();
        assert_eq!(last.text.text().into_bytes(), bytes[4_999_990..]);
        assert!(!last.text.is_truncated());
    }

    #[test]
    fn a_character_that_is_not_whole_yet_waits() {
        let (file, mut writer) = spool();
        writer.push(&"a\u{fc}".as_bytes()[..2]);
        let news = read(&file, 0, true).unwrap();
        assert_eq!((news.text.text().as_str(), news.next), ("a", 1));
        writer.push(&"\u{fc}".as_bytes()[1..]);
        assert_eq!(read(&file, 1, true).unwrap().text.text(), "\u{fc}");
        assert_eq!(read(&file, 2, false).unwrap().text.text(), "\u{fffd}");
    }

    #[test]
    fn what_was_captured_before_is_the_beginning() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(begin(&file, b"before ").unwrap(), 7);
        Writer::resume(file.try_clone().unwrap())
            .unwrap()
            .push(b"after");
        assert_eq!(read(&file, 0, false).unwrap().text.text(), "before after");
    }

    #[test]
    fn a_full_disk_drops_and_goes_on() {
        let Ok(full) = File::options().write(true).open("/dev/full") else {
            return;
        };
        let mut writer = Writer {
            file: full,
            total: 0,
        };
        writer.push(b"x");
        assert_eq!(writer.total, 0);
    }
}
