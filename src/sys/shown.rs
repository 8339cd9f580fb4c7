//! The only way text reaches a person's terminal. Most output contains text by strangers, so
//! characters that control the terminal, are invisible or reorder text are made visible here, even
//! if an earlier step forgot to.

use std::cell::{Cell, RefCell};
use std::fmt::{Arguments, Write as _};
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::text::{shorten, without_split_end};
use super::wrap::{error_size, lines_shown, wrapped};

/// The escape sequences of our colours. They neither move the cursor nor erase anything, so a
/// stranger who uses them gains nothing.
const COLOURS: [&str; 7] = [
    "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[4m",
];

/// The tags that make a black flag that of England, Scotland or Wales.
const FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Blanks other than spaces that may stand in a row, as for an indentation; more push text away.
const BLANKS: usize = 32;

/// Unicode's default-ignorable characters (format characters, fillers, variation selectors, tags),
/// and others that show nothing: joiners of single scripts, the empty notehead, the empty Braille
/// pattern and the place of an object.
pub fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFC | 0x1107F | 0x13430..=0x1343F
        | 0x16FE4 | 0x1BCA0..=0x1BCA3 | 0x1D159 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

/// The characters of `text`, each with whether it hides something: it controls a terminal, reorders
/// text or is invisible, and is no part of an emoji; or it is one of very many blanks.
pub fn with_hidden_flag(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut emoji_ends, mut blanks) = (0, 0);
    text.char_indices().map(move |(at, c)| {
        // Most characters need no further look.
        if blanks == 0 && (c == ' ' || c.is_ascii_alphabetic()) {
            return (c, false);
        }
        let rest = &text[at + c.len_utf8()..];
        let joins = at < emoji_ends;
        match emoji_tail(c, rest) {
            0 => {}
            tail => emoji_ends = at + c.len_utf8() + tail,
        }
        blanks = match c {
            ' ' => blanks,
            _ if c.is_whitespace() && !c.is_ascii() => blanks + 1,
            _ => 0,
        };
        let controls = c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}');
        let hides = controls || is_invisible(c) && !joins || blanks > BLANKS;
        (c, hides)
    })
}

/// How many bytes of invisible characters after `c` make one emoji of it and what follows.
fn emoji_tail(c: char, rest: &str) -> usize {
    let flag = || FLAGS.iter().find(|tags| rest.starts_with(**tags));
    if c == '\u{1f3f4}'
        && let Some(tags) = flag()
    {
        return tags.len();
    }
    if matches!(c, '0'..='9' | '#' | '*') {
        return "\u{fe0f}".len() * usize::from(rest.starts_with("\u{fe0f}\u{20e3}"));
    }
    if !is_pictographic(c) {
        return 0;
    }
    let styled = rest.strip_prefix(['\u{fe0e}', '\u{fe0f}']).unwrap_or(rest);
    let joined = styled.strip_prefix('\u{200d}');
    let joined = joined.filter(|next| next.starts_with(is_pictographic));
    rest.len() - joined.unwrap_or(styled).len()
}

/// Characters that are emoji or can become one by a variation selector.
fn is_pictographic(c: char) -> bool {
    matches!(u32::from(c),
        0x00A9 | 0x00AE | 0x203C | 0x2049 | 0x2122 | 0x2139 | 0x2194..=0x2199 | 0x21A9..=0x21AA
        | 0x231A..=0x231B | 0x2328 | 0x23CF | 0x23E9..=0x23FA | 0x24C2 | 0x25AA..=0x25AB | 0x25B6
        | 0x25C0 | 0x25FB..=0x25FE | 0x2600..=0x27BF | 0x2934..=0x2935 | 0x2B05..=0x2B07
        | 0x2B1B..=0x2B1C | 0x2B50 | 0x2B55 | 0x3030 | 0x303D | 0x3297 | 0x3299
        | 0x1F000..=0x1FAFF)
}

/// One line with every character that hides something ([`with_hidden_flag`]) written as in `<U+202E>`.
pub fn visible(line: &str) -> String {
    written_out(line, |_, _| false)
}

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

/// The text with what hides something written out, unless it stays: a character, of this rest of the
/// text.
fn written_out(text: &str, stays: impl Fn(char, &str) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for (c, hides) in with_hidden_flag(text) {
        if hides && !stays(c, &text[at..]) {
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        } else {
            shown.push(c);
        }
        at += c.len_utf8();
    }
    shown
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
    fn what_hides_is_seen() {
        for (line, as_shown) in [
            ("\ta  b", "\ta  b"),
            ("a\u{1b}[2Jb\u{9b}", "a<U+001B>[2Jb<U+009B>"),
            ("a\u{202e}b\u{e0061}", "a<U+202E>b<U+E0061>"),
            ("⚠\u{fe0f} 技能 👩\u{200d}💻", "⚠\u{fe0f} 技能 👩\u{200d}💻"),
            ("p\u{200d}d\u{200b}f\u{2028}", "p<U+200D>d<U+200B>f<U+2028>"),
            ("a\rb\u{8}\u{7f}", "a<U+000D>b<U+0008><U+007F>"),
            ("1\u{fe0f}\u{20e3} 1\u{fe0f}", "1\u{fe0f}\u{20e3} 1<U+FE0F>"),
            ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥"),
            ("👩🏽\u{200d}💻 ☑\u{fe0e}", "👩🏽\u{200d}💻 ☑\u{fe0e}"),
            ("👩\u{200d}\u{200d}💻", "👩<U+200D><U+200D>💻"),
            ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}<U+FE0F>"),
            ("•\u{200d}—\u{fe0f}", "•<U+200D>—<U+FE0F>"),
            ("👩\u{200d} x", "👩<U+200D> x"),
            ("a\u{2800}b\u{fffc}", "a<U+2800>b<U+FFFC>"),
            ("a\u{a0}\u{3000}b \u{6dd}", "a\u{a0}\u{3000}b \u{6dd}"),
        ] {
            assert_eq!(visible(line), as_shown);
            assert_eq!(shown(line, true), as_shown);
        }
        assert_eq!(shown("a\nb\n", false), "a\nb\n");
        for tags in FLAGS {
            let flag = format!("\u{1f3f4}{tags}");
            assert_eq!(visible(&flag), flag);
            assert!(visible(&format!("{flag}{tags}")).starts_with(&(flag + "<U+E0067>")));
        }
    }

    #[test]
    fn blanks_without_end_are_seen() {
        for blank in ['\u{a0}', '\u{3000}', '\u{1680}', '\u{2003}'] {
            let some = blank.to_string().repeat(BLANKS);
            assert_eq!(visible(&some), some);
            let more = format!("{some} {blank}x");
            assert_eq!(visible(&more).matches("<U+").count(), 1, "{blank:?}");
        }
    }

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
