//! The audit log: one JSON line per event, with secrets masked and of bounded length, appended by any
//! number of processes, and read even if some lines are damaged. It does not know what counts as an
//! event. Writing returns no error: no call may fail because of the log.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serializer;
use serde_json::Value;

use super::masking::{mask, mask_value};
use crate::error::{Error, Result};
use crate::sys::{Dir, EntryName, FileLock, UnixMillis, files, limits, warn};

/// One text in an audit event.
const AUDIT_TEXT: usize = 500;
/// One audit event, so that it is always written in one write.
const AUDIT_EVENT: usize = 64 * 1024;
/// Items of a list in an event that is too long otherwise.
const AUDIT_ITEMS: usize = 50;

/// Waiting for the lock to rotate an audit log. It must not delay a hook.
const AUDIT_LOCK: Duration = Duration::from_millis(50);

/// The destinations of events.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The log.
    pub file: PathBuf,
    /// The size in bytes at which it is rotated.
    pub max: u64,
    /// Files that also get every event. They are never rotated: others maintain them.
    pub copies: Vec<PathBuf>,
}

impl Audit {
    /// Writes an event to every available destination.
    pub fn write(&self, event: Event) {
        let line = event.line();
        let warn_of = |path: &Path, written: io::Result<()>| {
            if let Err(error) = written {
                let path = path.display();
                warn(format_args!(
                    "could not write to the audit log `{path}`: {error}"
                ));
            }
        };
        warn_of(&self.file, self.append(&line));
        for copy in &self.copies {
            warn_of(copy, open(copy).and_then(|file| write_line(&file, &line)));
        }
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let name = self.file.file_name().and_then(EntryName::parse);
        let place = self.file.parent().zip(name);
        let (path, name) = place.ok_or(io::ErrorKind::InvalidInput)?;
        // The user's state directory may not exist yet.
        let dir = Dir::make_anchor(path)?;
        let (mut file, found) = dir.append(&name, 0o600)?;
        if found.len() + line.len() as u64 > self.max {
            self.put_aside(&dir, &name);
            (file, _) = dir.append(&name, 0o600)?;
        }
        write_line(&file, line)
    }

    /// Rotates the log. A process that has the old file open goes on writing to it under its new
    /// name, so nothing is lost.
    fn put_aside(&self, dir: &Dir, name: &EntryName) {
        // If the lock is held, another process is rotating; meanwhile the log may exceed its limit
        // a little.
        let lock = FileLock::exclusive(&self.file.with_extension("lock"), AUDIT_LOCK);
        let now = || dir.open_file(name);
        let still_full = || now().is_ok_and(|(_, now)| now.len() > self.max / 2);
        if lock.is_err() || !still_full() {
            return;
        }
        for kept in (0..limits::AUDIT_KEPT).rev() {
            // Moving a file that does not exist yet fails, which does not matter.
            let numbered = |kept| EntryName::parse(numbered(Path::new(name.as_os_str()), kept));
            if let Some((old, new)) = numbered(kept).zip(numbered(kept + 1)) {
                let _ = dir.rename(&old, dir, &new);
            }
        }
    }
}

/// Opens a file that the administrator configured, which may be a link or a device.
#[allow(
    clippy::disallowed_methods,
    reason = "its path is written in a configuration"
)]
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Opening a FIFO without a reader would block.
    options.append(true).create(true).mode(0o600);
    options.custom_flags(libc::O_NONBLOCK).open(path)
}

/// Appends a line in one write, so that lines of several processes do not mix.
fn write_line(mut file: &File, line: &[u8]) -> io::Result<()> {
    let written = file.write(line)?;
    if written == line.len() {
        return Ok(());
    }
    // The disk is full. A line break keeps the next event readable.
    let _ = file.write(b"\n");
    Err(io::ErrorKind::StorageFull.into())
}

/// An event to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    fields: Vec<(&'static str, Value)>,
    /// Texts with a limit of their own, already masked and cut, and the event's own name: masking
    /// would take a random one for the beginning of a secret now and then, at a price.
    long: Vec<(&'static str, Value)>,
}

impl Event {
    /// An event of this kind, at this time.
    pub fn new(kind: &str) -> Self {
        let time = UnixMillis::now().to_string();
        Self {
            fields: vec![("time", time.into()), ("event", kind.into())],
            long: vec![("event_id", unique().into())],
        }
    }

    /// Adds a field; `null` adds nothing. Texts are cut, and secrets in them masked, on writing.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.fields.retain(|(earlier, _)| *earlier != key);
            self.fields.push((key, value));
        }
        self
    }

    /// A text field; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        let field = self.fields.iter().find(|(name, _)| *name == key);
        field
            .and_then(|(_, value)| value.as_str())
            .unwrap_or_default()
    }

    /// Adds a text of up to `bytes`; nothing for 0. Secrets are masked before the cut, which might
    /// otherwise leave half of one unrecognised.
    #[must_use]
    pub fn with_text(mut self, key: &'static str, text: &str, bytes: usize) -> Self {
        if bytes > 0 && !text.is_empty() {
            let mut masked = mask(text);
            masked.truncate(masked.floor_char_boundary(bytes));
            self.long.push((key, masked.into()));
        }
        self
    }

    /// The event as a line of at most [`AUDIT_EVENT`]; long texts are cut first, then lists.
    pub(super) fn line(mut self) -> Vec<u8> {
        // The top-level names are ours, so none marks a secret; neither are time and kind one.
        let fields = self.fields.iter_mut().skip(2);
        fields.for_each(|(_, field)| mask_value(field, AUDIT_TEXT));
        // In JSON one byte may take six.
        for times in 0..4 {
            let line = self.joined(AUDIT_EVENT >> times);
            if line.len() <= AUDIT_EVENT {
                return line;
            }
        }
        for (_, field) in &mut self.fields {
            mask_value(field, AUDIT_TEXT / 10);
            cut_items(field);
        }
        self.joined(AUDIT_TEXT)
    }

    /// The line, after long texts have been cut to `max_long` bytes.
    fn joined(&mut self, max_long: usize) -> Vec<u8> {
        for (_, text) in &mut self.long {
            if let Value::String(text) = text {
                text.truncate(text.floor_char_boundary(max_long));
            }
        }
        let fields = self.fields.iter().chain(&self.long);
        let mut line = Vec::with_capacity(1024);
        let mut written = serde_json::Serializer::new(&mut line);
        // Neither these values nor memory refuse to be written.
        let _ = written.collect_map(fields.map(|(key, value)| (key, value)));
        line.push(b'\n');
        line
    }
}

/// Leaves the first texts of a list. In an object, whose keys are not ours, everything is left out.
fn cut_items(field: &mut Value) {
    match field {
        Value::Array(items) => {
            items.truncate(AUDIT_ITEMS);
            items.retain(Value::is_string);
            items.push("…".into());
        }
        Value::Object(_) => *field = "…".into(),
        _ => {}
    }
}

/// A name that no other event has, on any machine, by which one that is delivered twice is known: 128
/// random bits.
fn unique() -> String {
    // Each has keys of its own, from the system.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// The end of an audit log in which the last events are searched first: about 500 of them.
const AUDIT_END: u64 = 256 * 1024;

/// More than the longest line that is ever written to a log, in bytes.
const LONGEST: u64 = 1024 * 1024;
/// How much is read at once from a log.
const READ: usize = 64 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedEvent {
    /// Its time.
    pub time: UnixMillis,
    /// All recorded fields.
    pub value: Value,
}

impl LoggedEvent {
    /// A text field; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        let field = self.value.get(key).and_then(Value::as_str);
        field.unwrap_or_default()
    }
}

/// The log `number` rotations ago; 0 is the current one.
pub(super) fn numbered(file: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return file.to_owned();
    }
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Visits every retained event, oldest first. Returns the number of unreadable lines.
///
/// # Errors
/// If an existing log cannot be read, or the visitor fails.
pub fn each_event(file: &Path, visit: &mut dyn FnMut(&LoggedEvent) -> Result<()>) -> Result<usize> {
    let mut logs = Vec::new();
    for path in (0..=limits::AUDIT_KEPT).rev().map(|at| numbered(file, at)) {
        logs.extend(opened(&path)?.map(|log| (path, log)));
    }
    let each = logs.iter().map(|(path, log)| each_of(path, log, 0, visit));
    each.sum()
}

/// Opens a log, if it is there.
fn opened(path: &Path) -> Result<Option<File>> {
    let log = files::if_there(files::open_regular(path));
    log.map_err(|error| Error::io("read", path, &error))
}

/// Visits the events of one log, from the first line that begins after the offset `from`.
fn each_of(
    path: &Path,
    mut log: &File,
    from: u64,
    visit: &mut dyn FnMut(&LoggedEvent) -> Result<()>,
) -> Result<usize> {
    let unreadable = |error| Error::io("read", path, &error);
    log.seek(SeekFrom::Start(from)).map_err(unreadable)?;
    let (mut line, mut torn, mut is_cut) = (Vec::new(), 0, from > 0);
    let mut log = BufReader::with_capacity(READ, log);
    loop {
        line.clear();
        let read = log.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.map_err(unreadable)? == 0 {
            return Ok(torn);
        }
        match line.trim_ascii_end() {
            _ if std::mem::take(&mut is_cut) => {}
            [] => {}
            text => match parse(text) {
                Some(line) => visit(&line)?,
                None => torn += 1,
            },
        }
    }
}

/// The last `count` retained events that are wanted, oldest first, and the number of unreadable
/// lines in the logs that were read for them, newest log first.
///
/// # Errors
/// If an existing log cannot be read.
pub fn last_events(
    file: &Path,
    count: usize,
    is_wanted: impl Fn(&LoggedEvent) -> bool,
) -> Result<(Vec<LoggedEvent>, usize)> {
    let (mut lines, mut torn) = (VecDeque::new(), 0);
    for path in (0..=limits::AUDIT_KEPT).map(|at| numbered(file, at)) {
        if lines.len() == count {
            break;
        }
        let Some(log) = opened(&path)? else {
            continue;
        };
        let (mut older, room) = (VecDeque::new(), count - lines.len());
        // Mostly the end is enough.
        let end = log
            .metadata()
            .map_or(0, |log| log.len().saturating_sub(AUDIT_END));
        for from in [end, 0] {
            older.clear();
            let found = each_of(&path, &log, from, &mut |line| {
                if is_wanted(line) {
                    older.push_back(line.clone());
                    older.drain(..older.len().saturating_sub(room));
                }
                Ok(())
            })?;
            if from == 0 || older.len() == room {
                torn += found;
                break;
            }
        }
        older.append(&mut lines);
        lines = older;
    }
    Ok((lines.into(), torn))
}

/// The time of each session's last event, from the end of the current log only.
pub fn last_heard(file: &Path) -> BTreeMap<String, UnixMillis> {
    let mut heard = BTreeMap::new();
    // Without it, the ends of activations are not dated.
    if let Ok(log) = files::open_regular(file)
        && let Ok(found) = log.metadata()
    {
        let end = found.len().saturating_sub(AUDIT_END);
        let _ = each_of(file, &log, end, &mut |line| {
            let last = heard.entry(line.text("session").to_owned());
            let last = last.or_insert(line.time);
            *last = line.time.max(*last);
            Ok(())
        });
    }
    heard
}

/// Parses a line. If a full disk truncated an event, the next one follows on the same line.
fn parse(line: &[u8]) -> Option<LoggedEvent> {
    let text = String::from_utf8_lossy(line);
    let value: Value = serde_json::from_str(&text)
        .or_else(|_| serde_json::from_str(&text[text.rfind("{\"time\":").unwrap_or(0)..]))
        .ok()?;
    let time = UnixMillis::parse(value.get("time")?.as_str()?, UnixMillis(0))?;
    Some(LoggedEvent { time, value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{LoggedEvent, last_events};
    use std::fs;

    fn read_log(file: &Path) -> (Vec<LoggedEvent>, usize) {
        last_events(file, usize::MAX, |_| true).unwrap()
    }

    fn audit(dir: &Path, max: u64) -> Audit {
        Audit {
            file: dir.join("audit.jsonl"),
            max,
            copies: Vec::new(),
        }
    }

    #[test]
    fn a_full_log_is_put_aside_and_the_oldest_go() {
        let dir = tempfile::tempdir().unwrap();
        let audit = audit(dir.path(), 1000);
        for n in 0..200 {
            audit.write(Event::new("x").with("n", n));
        }
        let (lines, torn) = read_log(&audit.file);
        let numbers: Vec<u64> = lines
            .iter()
            .filter_map(|line| line.value["n"].as_u64())
            .collect();
        assert!(
            numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
            "{numbers:?}"
        );
        assert_eq!((numbers.last(), torn), (Some(&199), 0));
        let mut sizes = (0..9).filter_map(|n| fs::metadata(numbered(&audit.file, n)).ok());
        assert!(sizes.all(|file| file.len() <= 1000));
        assert!(numbered(&audit.file, limits::AUDIT_KEPT).exists());
        assert!(!numbered(&audit.file, limits::AUDIT_KEPT + 1).exists());
    }

    #[test]
    fn threads_that_put_it_aside_at_once_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        // The retained logs hold 800 events of about 110 bytes.
        let audit = audit(dir.path(), 32_000);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let audit = &audit;
                scope.spawn(move || {
                    for n in 0..100 {
                        audit.write(Event::new("x").with("n", thread * 100 + n));
                    }
                });
            }
        });
        let (lines, torn) = read_log(&audit.file);
        let numbers: std::collections::BTreeSet<_> = lines
            .iter()
            .filter_map(|line| line.value["n"].as_u64())
            .collect();
        assert_eq!((numbers.len(), lines.len(), torn), (800, 800, 0));
    }

    #[test]
    fn what_cannot_be_written_is_no_trouble() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("audit.jsonl");
        let made = std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap();
        assert!(made.success());
        audit(dir.path(), 10).write(Event::new("x"));
        audit(Path::new("/dev/null/place"), 10).write(Event::new("x"));
        if Path::new("/dev/full").exists() {
            let mut full = audit(&dir.path().join("missing"), 10);
            full.file = "/dev/full".into();
            full.write(Event::new("x"));
        }
    }

    #[test]
    fn a_text_is_cut_at_the_given_length_or_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let audit = audit(dir.path(), 10_000_000);
        let texts = [
            "x".repeat(20_000),
            "é".repeat(100_000),
            "\u{1}".repeat(100_000),
        ];
        for text in &texts {
            audit.write(Event::new("x").with_text("output", text, 20_000));
            audit.write(Event::new("x").with_text("output", text, 200_000));
        }
        let secret = "x ".repeat(48) + "ghp_0123456789abcdefghijABCDEF";
        audit.write(Event::new("x").with_text("output", &secret, 110));
        audit.write(Event::new("x").with_text("output", "x", 0));
        let (lines, _) = read_log(&audit.file);
        let output = |n: usize| lines[n].value["output"].as_str().unwrap_or_default().len();
        assert_eq!((output(0), output(1), output(2)), (20_000, 20_000, 20_000));
        assert!(output(3) > 30_000 && output(4) > 8_000 && output(5) > 8_000);
        assert_eq!(lines[6].value["output"], "x ".repeat(48) + "***");
        assert!(lines[7].value.get("output").is_none());
        let log = fs::read_to_string(&audit.file).unwrap();
        assert!(log.lines().all(|line| line.len() < AUDIT_EVENT));
    }

    #[test]
    fn no_event_is_longer_than_a_line_may_be() {
        let (short, long) = ("\u{1}".to_owned(), "\u{1}".repeat(100_000));
        let keys = (0..100_000).map(|n| (n.to_string(), Value::from("")));
        for value in [
            Value::from(vec![""; 200_000]),
            Value::from(vec![short; 100_000]),
            Value::from(vec![long.clone(); 100]),
            Value::from(vec![Value::from(vec![0; 100_000])]),
            Value::Object(keys.collect()),
            Value::from(long.clone()),
        ] {
            let event = Event::new("script").with("args", value);
            let line = event.with_text("stdout", &long, 100_000).line();
            assert!(line.len() <= AUDIT_EVENT, "{}", line.len());
            let read: Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(read["event"], "script");
            assert!(!read["args"].is_null());
        }
    }

    #[test]
    fn a_huge_event_is_cut_to_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let audit = audit(dir.path(), 10_000_000);
        let many: Vec<String> = (0..200).map(|_| "x y ".repeat(1000)).collect();
        audit.write(Event::new("x").with("many", many).with("none", Value::Null));
        let (lines, _) = read_log(&audit.file);
        assert_eq!(lines.len(), 1);
        assert!(fs::metadata(&audit.file).unwrap().len() <= AUDIT_EVENT as u64);
        assert!(lines[0].value.get("none").is_none());
    }

    #[test]
    fn a_torn_line_costs_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("audit.jsonl");
        let event = |n| format!("{{\"time\":\"2026-01-0{n}T00:00:00.000Z\",\"event\":\"x\"}}");
        let text = format!(
            "{}\n{{\"time\":\"20{}\n\n\u{fffd}torn\n{}\n",
            event(1),
            event(2),
            event(3)
        );
        std::fs::write(&file, text).unwrap();
        let days = |lines: &[LoggedEvent]| {
            let days = lines
                .iter()
                .map(|line| line.time.to_string()[8..10].to_owned());
            days.collect::<Vec<_>>()
        };
        let mut lines = Vec::new();
        let torn = each_event(&file, &mut |line| {
            lines.push(line.clone());
            Ok(())
        });
        assert_eq!(
            (days(&lines), torn.unwrap()),
            (vec_of(&["01", "02", "03"]), 1)
        );
        let (lines, torn) = last_events(&file, 9, |_| true).unwrap();
        assert_eq!((days(&lines), torn), (vec_of(&["01", "02", "03"]), 1));
        let (lines, torn) = last_events(&file, 1, |_| true).unwrap();
        assert_eq!((days(&lines), torn), (vec_of(&["03"]), 1));
    }

    fn vec_of(days: &[&str]) -> Vec<String> {
        days.iter().map(|day| (*day).to_owned()).collect()
    }

    #[test]
    fn the_last_events_are_those_of_all_logs() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("audit.jsonl");
        for (number, times) in [(2, 0..3), (1, 3..4), (0, 4..6)] {
            let lines = times.map(|at| format!("{{\"time\":\"2026-01-01T00:00:{at:02}.000Z\"}}\n"));
            std::fs::write(numbered(&file, number), lines.collect::<String>()).unwrap();
        }
        let mut forwards = Vec::new();
        let visit = &mut |line: &LoggedEvent| {
            forwards.push(line.clone());
            Ok(())
        };
        each_event(&file, visit).unwrap();
        for count in 0..=6 {
            let (last, torn) = last_events(&file, count, |_| true).unwrap();
            assert_eq!((&last[..], torn), (&forwards[6 - count..], 0));
        }
        // What is no log costs no memory.
        std::fs::write(&file, vec![b'x'; 5 * usize::try_from(LONGEST).unwrap()]).unwrap();
        assert!(each_event(&file, &mut |_| Ok(())).unwrap() >= 5);
        assert!(last_events(&file, 3, |_| true).unwrap().1 >= 4);
    }
}
