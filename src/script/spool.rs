//! One stream of a script's output in one bounded file: the beginning, then a ring buffer with the
//! end. The supervisor writes it; readers need no lock. It knows neither jobs nor what the bytes
//! mean.
//!
//! ```text
//! 0       8                    8+HEAD                     8+HEAD+RING
//! │ total │ the first HEAD bytes │ the last bytes, in a ring │
//! ```

use super::prelude::*;
use std::io::{PipeReader, PipeWriter};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// One stream of a job's output on disk, of which the beginning and the end are kept.
const JOB_OUTPUT: u64 = 1024 * 1024;
/// One stream of a script's output as it is told; the middle of anything longer is left out.
const SCRIPT_OUTPUT: u64 = 64 * 1024;

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

/// A stream on its way from the script's pipe to its file.
#[derive(Debug)]
pub struct Spool {
    /// It does not block; `None` before the start and after the end of the stream.
    pipe: Option<PipeReader>,
    file: File,
    total: u64,
}

impl Spool {
    /// A stream that has not begun, for an empty file.
    pub fn new(file: File) -> Self {
        Self {
            pipe: None,
            file,
            total: 0,
        }
    }

    /// The end of a new pipe into which the script writes.
    ///
    /// # Errors
    /// When the system refuses a pipe.
    pub fn open(&mut self) -> io::Result<PipeWriter> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        self.pipe = Some(reader);
        Ok(writer)
    }

    /// What to wait for.
    pub fn poll_target(&self) -> Interest<'_> {
        let pipe = self.pipe.as_ref();
        pipe.map(|pipe| (pipe.as_fd(), PollFlags::IN))
    }

    /// Moves what is available; `false` if there was nothing.
    pub fn pump(&mut self, buffer: &mut [u8; CHUNK]) -> bool {
        match self.pipe.as_mut().map(|pipe| pipe.read(buffer)) {
            Some(Ok(length)) if length > 0 => {
                self.push(&buffer[..length]);
                return true;
            }
            Some(Err(error)) if not_now(&error) => {}
            _ => self.pipe = None,
        }
        false
    }

    /// Moves what is left after the end of the script. A survivor that holds the pipe open is not
    /// waited for; one that keeps writing is cut off.
    pub fn drain(&mut self, buffer: &mut [u8; CHUNK]) {
        for _ in 0..limits::SCRIPT_REST / CHUNK {
            if !self.pump(buffer) {
                break;
            }
        }
    }

    /// Appends at most [`CHUNK`] bytes. What does not fit on the disk is dropped, so that the
    /// writer never blocks.
    pub fn push(&mut self, mut bytes: &[u8]) {
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

    /// Continues in an empty file, to which the stream so far is copied.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn continue_in(&mut self, file: File) -> io::Result<()> {
        io::copy(&mut &self.file, &mut &file)?;
        self.file = file;
        Ok(())
    }
}

/// What is told of a stream from one position on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The text, with bytes that are not UTF-8 replaced by U+FFFD. If the middle is missing, a line
    /// in its place says how much.
    pub text: String,
    /// Length in bytes, with the middle.
    pub total: u64,
    /// Whether the middle is missing: the file no longer has it, or it is too long.
    pub is_truncated: bool,
    /// The position for the next read.
    pub next: u64,
}

/// Reads from `position` on. While the stream may continue (`open`), an incomplete character is
/// left for the next read.
///
/// # Errors
/// When the file cannot be read.
pub fn read(file: &File, position: u64, open: bool) -> io::Result<CapturedOutput> {
    let end = read_total(file)?.max(position);
    let (head_end, tail_start) = if end - position <= SCRIPT_OUTPUT {
        (position, position)
    } else {
        (position + SCRIPT_OUTPUT / 2, end - SCRIPT_OUTPUT / 2)
    };
    let mut head = read_range(file, position..head_end)?;
    let mut tail = read_range(file, tail_start..end)?;
    // What may have been overwritten, also meanwhile, is dropped.
    let margin = if open { CHUNK as u64 } else { 0 };
    let oldest = (read_total(file)? + margin).saturating_sub(RING);
    if oldest > position.max(HEAD) {
        head.truncate(size(HEAD.saturating_sub(position)));
    }
    if oldest > tail_start.max(HEAD) {
        tail.drain(..size(oldest - tail_start).min(tail.len()));
    }
    let mut next = end;
    if open {
        let whole = without_split_end(&tail).len();
        next -= (tail.len() - whole) as u64;
        tail.truncate(whole);
    }
    let total = next - position;
    let is_truncated = total > (head.len() + tail.len()) as u64;
    let text = if is_truncated {
        let (head, tail) = (without_split_end(&head), without_split_start(&tail));
        let dropped = total - (head.len() + tail.len()) as u64;
        format!(
            "{}\n[truncated: {dropped} of {total} bytes left out here]\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(tail)
        )
    } else {
        String::from_utf8_lossy(&[head, tail].concat()).into_owned()
    };
    Ok(CapturedOutput {
        text,
        total,
        is_truncated,
        next,
    })
}

/// Drops the rest of a character that began before the cut.
fn without_split_start(bytes: &[u8]) -> &[u8] {
    let continues = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let rest = bytes.iter().take(4).take_while(continues).count();
    if rest < 4 { &bytes[rest..] } else { bytes }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The length of the whole stream: 0 before its first byte.
fn read_total(file: &File) -> io::Result<u64> {
    let mut total = [0; 8];
    let read = file.read_at(&mut total, 0)?;
    Ok(if read == 8 {
        u64::from_le_bytes(total)
    } else {
        0
    })
}

fn read_range(file: &File, mut range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    while !range.is_empty() {
        let (offset, room) = place(range.start);
        let length = room.min(range.end - range.start);
        let mut part = vec![0; size(length)];
        file.read_exact_at(&mut part, offset)?;
        all.extend(part);
        range.start += length;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool() -> (File, Spool) {
        let file = tempfile::tempfile().unwrap();
        let spool = Spool::new(file.try_clone().unwrap());
        (file, spool)
    }

    fn stream(length: usize) -> Vec<u8> {
        let word = |n: usize| format!("{n:07}\n").into_bytes();
        (0..length.div_ceil(8))
            .flat_map(word)
            .take(length)
            .collect()
    }

    fn captured(bytes: &[u8], step: usize) -> CapturedOutput {
        let (file, mut spool) = spool();
        for chunk in bytes.chunks(step) {
            spool.push(chunk);
        }
        read(&file, 0, false).unwrap()
    }

    #[test]
    fn a_short_stream_is_read_in_pieces() {
        let (file, mut spool) = spool();
        assert_eq!(read(&file, 0, true).unwrap(), CapturedOutput::default());
        spool.push(b"one ");
        let first = read(&file, 0, true).unwrap();
        assert_eq!((first.text.as_str(), first.next), ("one ", 4));
        spool.push(b"two");
        let second = read(&file, first.next, true).unwrap();
        assert_eq!((second.text.as_str(), second.next), ("two", 7));
        let third = read(&file, second.next, false).unwrap();
        assert_eq!((third.total, third.next), (0, 7));
    }

    #[test]
    fn a_long_stream_keeps_its_end_in_a_bounded_file() {
        let (file, mut spool) = spool();
        let bytes = stream(5_000_000);
        for chunk in bytes.chunks(50_001) {
            spool.push(chunk);
        }
        assert!(file.metadata().unwrap().len() <= START + JOB_OUTPUT);
        for from in [0, 10, 600_000, 4_000_000] {
            let read = read(&file, from, false).unwrap();
            assert_eq!((read.next, read.total), (5_000_000, 5_000_000 - from));
            assert!(read.is_truncated);
            assert!(
                read.text
                    .as_bytes()
                    .ends_with(&bytes[bytes.len() - 30_000..]),
                "{from}"
            );
        }
        let last = read(&file, 4_999_990, true).unwrap();
        assert_eq!(last.text.into_bytes(), bytes[4_999_990..]);
        assert!(!last.is_truncated);
    }

    #[test]
    fn a_stream_up_to_the_cap_is_whole_and_a_longer_one_has_a_gap() {
        let bytes = stream(300_000);
        let (most, half) = (size(SCRIPT_OUTPUT), size(SCRIPT_OUTPUT / 2));
        for step in [1000, 7777, most] {
            let whole = captured(&bytes[..most], step);
            assert!(!whole.is_truncated);
            assert_eq!(whole.text.into_bytes(), bytes[..most]);
            let text = captured(&bytes, step).text;
            let (head, rest) = text.split_once("\n[truncated: ").unwrap();
            let (notice, tail) = rest.split_once("]\n").unwrap();
            assert_eq!(head.as_bytes(), &bytes[..half]);
            assert_eq!(tail.as_bytes(), &bytes[bytes.len() - half..]);
            assert_eq!(notice, "234464 of 300000 bytes left out here");
        }
    }

    #[test]
    fn a_cut_inside_a_character_leaves_no_replacement_character() {
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), "\u{1f980}".repeat(50_000));
            let shown = captured(text.as_bytes(), 4096).text;
            assert!(!shown.contains('\u{fffd}'), "shift {shift}");
        }
        let binary = captured(&vec![0x80; 100_000], 4096).text;
        assert!(binary.contains("truncated"));
    }

    #[test]
    fn a_character_that_is_not_whole_yet_waits() {
        let (file, mut spool) = spool();
        spool.push(&"a\u{fc}".as_bytes()[..2]);
        let begun = read(&file, 0, true).unwrap();
        assert_eq!((begun.text.as_str(), begun.next), ("a", 1));
        spool.push(&"\u{fc}".as_bytes()[1..]);
        assert_eq!(read(&file, 1, true).unwrap().text, "\u{fc}");
        assert_eq!(read(&file, 2, false).unwrap().text, "\u{fffd}");
    }

    #[test]
    fn what_was_captured_before_is_the_beginning() {
        let (_, mut spool) = spool();
        spool.push(b"before ");
        let file = tempfile::tempfile().unwrap();
        spool.continue_in(file.try_clone().unwrap()).unwrap();
        spool.push(b"after");
        assert_eq!(read(&file, 0, false).unwrap().text, "before after");
    }

    #[test]
    fn a_full_disk_drops_and_goes_on() {
        let Ok(full) = File::options().write(true).open("/dev/full") else {
            return;
        };
        let mut spool = Spool::new(full);
        spool.push(b"x");
        assert_eq!(spool.total, 0);
    }
}
