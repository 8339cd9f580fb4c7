//! The only way text reaches a person's terminal. Most output contains text by strangers, so
//! characters that control the terminal, are invisible or reorder text are made visible here, even
//! if an earlier step forgot to.

use std::cell::{Cell, RefCell};
use std::fmt::{Arguments, Write as _};
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use skill_text::{visible, with_hidden_flag, written_out};

use super::text::{shorten, without_split_end};
use super::wrap::{error_size, lines_shown, wrapped};

/// The escape sequences of our colours. They neither move the cursor nor erase anything, so a
/// stranger who uses them gains nothing.
const COLOURS: [&str; 7] = [
    "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[4m",
];

/// As [`visible`], for several lines. With `colour`, our own colours stay.
pub fn shown(text: impl Into<String>, colour: bool) -> String {
    let text = text.into();
    // Few texts hide anything, and long ones are not to be in memory twice.
    if !with_hidden_flag(&text).any(|(c, hides)| hides && c != '\n') {
        return text;
    }
    let is_colour = |rest: &str| colour && COLOURS.iter().any(|code| rest.starts_with(code));
    written_out(&text, |c, rest| c == '\n' || c == '\x1b' && is_colour(rest))
}

/// A writer that passes text through [`shown`].
#[derive(Debug)]
pub struct Shown<W> {
    to: W,
    /// The bytes of an incomplete character.
    begun: Vec<u8>,
}

impl<W: Write> Shown<W> {
    /// A writer to `to`.
    pub fn new(to: W) -> Self {
        let begun = Vec::new();
        Self { to, begun }
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = without_split_end(&self.begun).len();
        let whole: Vec<u8> = self.begun.drain(..whole).collect();
        let text = String::from_utf8_lossy(&whole);
        self.to.write_all(shown(text, false).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes to standard error through [`shown`], [`wrapped`] at a terminal, and ignores failures. The
/// standard macros would panic if it is full or closed, and a hook that panics gives the wrong answer.
pub fn eprint(text: Arguments) {
    let mut text = shown(text.to_string(), false);
    if let Some((width, _)) = error_size() {
        text = wrapped(&text, width);
        LINES.fetch_add(lines_shown(&text, width), Ordering::Relaxed);
    }
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The lines of a terminal that [`eprint`] wrote since [`scrolled_lines`].
static LINES: AtomicUsize = AtomicUsize::new(0);

/// How many lines [`eprint`] wrote since the last call, if the terminal shows fewer at once.
pub fn scrolled_lines() -> Option<usize> {
    let lines = LINES.swap(0, Ordering::Relaxed);
    let (_, rows) = error_size()?;
    (lines >= rows).then_some(lines)
}

/// Whether a person asked for errors and answers only.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// From now on [`tell`] is silent, or no longer.
pub fn be_quiet(quiet: bool) {
    IS_QUIET.store(quiet, Ordering::Relaxed);
}

/// As [`eprint`], for what is neither an error nor a question: nothing if that is not wanted, and
/// kept for the answer if [`keep_messages`] was called.
pub fn tell(text: Arguments) {
    if !is_quiet() {
        keep_or_print(text);
    }
}

fn keep_or_print(text: Arguments) {
    let is_kept = KEPT.with_borrow_mut(|take_kept_messages| match take_kept_messages {
        Some(take_kept_messages) => take_kept_messages.write_fmt(text).is_ok(),
        None => false,
    });
    if !is_kept {
        eprint(text);
    }
}

thread_local! {
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on what is told or warned of is kept: the caller sees standard output only.
pub fn keep_messages() {
    KEPT.set(Some(String::new()));
}

/// What was kept, which ends here.
pub fn take_kept_messages() -> String {
    KEPT.take().unwrap_or_default()
}

/// Whether [`tell`] is silent.
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Shows progress to a person at a terminal, overwriting one line.
pub fn progress(line: &str) {
    // A line that wraps could not be overwritten.
    let room = error_size().map_or(usize::MAX, |(width, _)| width - 1);
    let line = shorten(&visible(line), room);
    let _ = write!(std::io::stderr().lock(), "\r{line}\x1b[K\r");
}

/// Since when the command runs: one that takes longer than a second shows its progress.
pub fn time_running() -> Duration {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed()
}

/// How far a command has come that takes longer than a second, for a person who watches it.
#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    of: usize,
    show: Option<fn(&str)>,
    /// When the next line is due; in between, lines would only cost time.
    due: Cell<Instant>,
    is_shown: Cell<bool>,
}

impl Progress {
    /// Progress of doing `what` to so many things. Nothing is shown without `show`.
    pub fn new(what: &'static str, of: usize, show: Option<fn(&str)>) -> Self {
        Self {
            what,
            of,
            show,
            due: Cell::new(Instant::now() + Duration::from_secs(1).saturating_sub(time_running())),
            is_shown: Cell::new(false),
        }
    }

    /// So many of the things are done.
    pub fn at(&self, done: usize) {
        let now = Instant::now();
        if let Some(show) = self.show
            && now >= self.due.get()
        {
            show(&format!("{}: {done} of {}", self.what, self.of));
            self.due.set(now + Duration::from_millis(100));
            self.is_shown.set(true);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(show) = self.show
            && self.is_shown.get()
        {
            show("");
        }
    }
}

/// Writes one line with the program's name to standard error, or keeps it as [`tell`] does.
pub fn warn(text: Arguments) {
    keep_or_print(format_args!("agent-skills: {text}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_colours_stay_of_escape_sequences() {
        let text = "\x1b[31mred\x1b[0m\x1b[2J\x1b]0;title\x07\x1b[38;5;1m\x1b[8m";
        let kept = shown(text, true);
        assert!(
            kept.starts_with("\x1b[31mred\x1b[0m<U+001B>[2J<U+001B>]0;"),
            "{kept}"
        );
        assert_eq!(kept.matches('\x1b').count(), 2);
        assert!(!shown(text, false).contains('\x1b'));
    }

    #[test]
    fn a_character_that_comes_in_parts_is_one() {
        let text = "技\u{1b}[2J能\u{202e}\n";
        for size in 1..5 {
            let mut written = Vec::new();
            let mut to = Shown::new(&mut written);
            for part in text.as_bytes().chunks(size) {
                to.write_all(part).unwrap();
            }
            assert_eq!(String::from_utf8(written).unwrap(), shown(text, false));
        }
    }
}
