//! One output stream in bounded memory: beginning and end are stored, the middle is only counted.
//! It knows neither processes nor what the bytes mean.

use super::stream::Sink;
use crate::sys::text::without_split_end;

/// One stream of a script's output; the middle of anything longer is dropped.
const SCRIPT_OUTPUT: usize = 64 * 1024;

/// A stream of at most [`SCRIPT_OUTPUT`] bytes, or the head and the tail of a longer one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    /// Part of the middle was never read: all further bytes belong to the tail.
    skipped: bool,
}

/// Bytes kept on each side of the cut.
const HALF: usize = SCRIPT_OUTPUT / 2;

impl Sink for Captured {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = if self.skipped {
            0
        } else {
            HALF - self.head.len()
        };
        let (head, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(HALF)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(HALF);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }
}

impl Captured {
    /// Counts bytes of the stream that are no longer available.
    pub fn skip(&mut self, count: u64) {
        if count > 0 {
            self.total += count;
            self.skipped = true;
            self.tail.clear();
        }
    }

    /// Length of the whole stream in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether the middle is missing.
    pub fn is_truncated(&self) -> bool {
        self.total > (self.head.len() + self.tail.len()) as u64
    }

    /// The text, with bytes that are not UTF-8 replaced by U+FFFD. If the middle is missing, a line
    /// in its place says how much.
    pub fn text(&self) -> String {
        if !self.is_truncated() {
            let whole = [&self.head[..], &self.tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = without_split_end(&self.head);
        let tail = without_split_start(&self.tail);
        let dropped = self.total - (head.len() + tail.len()) as u64;
        format!(
            "{}\n[truncated: {dropped} of {} bytes left out here]\n{}",
            String::from_utf8_lossy(head),
            self.total,
            String::from_utf8_lossy(tail)
        )
    }
}

/// Drops the rest of a character that began before the cut.
fn without_split_start(bytes: &[u8]) -> &[u8] {
    let continues = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let rest = bytes.iter().take(4).take_while(continues).count();
    if rest < 4 { &bytes[rest..] } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alphabet(length: usize) -> Vec<u8> {
        (b'a'..=b'z').cycle().take(length).collect()
    }

    fn captured(bytes: &[u8], step: usize) -> Captured {
        let mut captured = Captured::default();
        for chunk in bytes.chunks(step) {
            captured.push(chunk);
        }
        captured
    }

    #[test]
    fn a_stream_up_to_the_cap_is_kept_whole_however_it_arrives() {
        let bytes = alphabet(SCRIPT_OUTPUT);
        for step in [1, 1000, HALF, SCRIPT_OUTPUT] {
            let captured = captured(&bytes, step);
            assert!(!captured.is_truncated());
            assert_eq!(captured.text().into_bytes(), bytes);
        }
    }

    #[test]
    fn a_longer_stream_keeps_head_and_tail_and_counts_the_gap() {
        let bytes = alphabet(300_000);
        for step in [1, 7777, 300_000] {
            let text = captured(&bytes, step).text();
            let (head, rest) = text.split_once("\n[truncated: ").unwrap();
            let (notice, tail) = rest.split_once("]\n").unwrap();
            assert_eq!(head.as_bytes(), &bytes[..HALF]);
            assert_eq!(tail.as_bytes(), &bytes[bytes.len() - HALF..]);
            assert_eq!(notice, "234464 of 300000 bytes left out here");
        }
    }

    #[test]
    fn what_was_skipped_is_counted_and_what_follows_is_the_tail() {
        let mut captured = captured(b"begin", 5);
        captured.skip(1000);
        captured.push(b"end");
        let expected = "begin\n[truncated: 1000 of 1008 bytes left out here]\nend";
        assert_eq!(captured.text(), expected);
    }

    #[test]
    fn a_cut_inside_a_character_leaves_no_replacement_character() {
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), "\u{1f980}".repeat(50_000));
            let shown = captured(text.as_bytes(), 4096).text();
            assert!(!shown.contains('\u{fffd}'), "shift {shift}");
        }
    }

    #[test]
    fn binary_output_is_replaced_and_never_refused() {
        let shown = captured(&[b'a', 0xff, 0, b'b'], 10).text();
        assert_eq!(shown, "a\u{fffd}\0b");
        assert!(
            captured(&vec![0x80; 100_000], 4096)
                .text()
                .contains("truncated")
        );
    }

    #[test]
    fn memory_stays_bounded() {
        let mut captured = Captured::default();
        let chunk = alphabet(65_536);
        for _ in 0..1000 {
            captured.push(&chunk);
        }
        assert!(captured.head.capacity() + captured.tail.capacity() <= 4 * SCRIPT_OUTPUT);
        assert_eq!(captured.total(), 65_536_000);
    }
}
