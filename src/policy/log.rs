//! Reads the audit log, even if some of its lines are damaged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::sys::{Moment, files, limits};

/// The end of an audit log in which a session's last event is searched: 500 events.
const AUDIT_END: usize = 256 * 1024;

/// More than the longest line that is ever written to a log, in bytes.
pub(super) const LONGEST: u64 = 1024 * 1024;
/// How much is read at once from the end of a log.
const BLOCK: u64 = 64 * 1024;
/// How much is read at once from its beginning.
const READ: usize = 64 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its time.
    pub time: Moment,
    /// All recorded fields.
    pub value: Value,
}

impl Line {
    /// A text field; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
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
pub fn each_event(file: &Path, visit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<usize> {
    let kept = (0..=limits::AUDIT_KEPT).rev();
    let mut logs = Vec::new();
    for path in kept.map(|kept| numbered(file, kept)) {
        let opened = files::if_there(files::open_regular(&path));
        let opened = opened.map_err(|error| Error::io("read", &path, &error))?;
        logs.extend(opened.map(|file| (path, file)));
    }
    each_of(logs, visit)
}

/// As [`each_event`], of one file, which has to be there.
///
/// # Errors
/// If it cannot be read, or the visitor fails.
pub fn each_event_of(path: &Path, visit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<usize> {
    let opened = files::open_regular(path);
    let file = opened.map_err(|error| Error::io("read", path, &error))?;
    each_of(vec![(path.to_owned(), file)], visit)
}

fn each_of(
    logs: Vec<(PathBuf, File)>,
    visit: &mut dyn FnMut(&Line) -> Result<()>,
) -> Result<usize> {
    let (mut line, mut torn) = (Vec::new(), 0);
    for (path, file) in logs {
        let mut file = BufReader::with_capacity(READ, file);
        loop {
            line.clear();
            let read = file.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            if read.map_err(|error| Error::io("read", &path, &error))? == 0 {
                break;
            }
            match read_line(line.trim_ascii_end()) {
                Some(Ok(line)) => visit(&line)?,
                Some(Err(())) => torn += 1,
                None => {}
            }
        }
    }
    Ok(torn)
}

/// The last `count` retained events that are wanted, oldest first, and the number of unreadable
/// lines among those read. Reads from the end, and no further than necessary.
///
/// # Errors
/// If an existing log cannot be read.
pub fn last_events(
    file: &Path,
    count: usize,
    is_wanted: impl Fn(&Line) -> bool,
) -> Result<(Vec<Line>, usize)> {
    let (mut lines, mut torn) = (Vec::new(), 0);
    let mut visit = |line: &[u8]| {
        match read_line(line) {
            Some(Ok(line)) if is_wanted(&line) => lines.push(line),
            Some(Err(())) => torn += 1,
            _ => {}
        }
        lines.len() < count
    };
    for kept in 0..=limits::AUDIT_KEPT {
        let path = numbered(file, kept);
        let opened = files::if_there(files::open_regular(&path));
        let read =
            opened.and_then(|file| file.map_or(Ok(true), |file| backwards(&file, &mut visit)));
        if !read.map_err(|error| Error::io("read", &path, &error))? {
            break;
        }
    }
    lines.reverse();
    Ok((lines, torn))
}

/// Visits the lines of a file from the last to the first, until the visitor has enough. Returns
/// whether it visited all.
fn backwards(file: &File, visit: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
    let (mut at, mut rest) = (file.metadata()?.len(), Vec::new());
    while at > 0 {
        let from = at.saturating_sub(BLOCK);
        let mut block = vec![0; usize::try_from(at - from).unwrap_or_default()];
        file.read_exact_at(&mut block, from)?;
        block.append(&mut rest);
        at = from;
        let end_of_first = block.iter().position(|byte| *byte == b'\n');
        let whole = match end_of_first {
            _ if at == 0 => 0,
            Some(end) => end + 1,
            // No event is as long: the line is visited in parts.
            None if block.len() as u64 > LONGEST => 0,
            None => block.len(),
        };
        for line in block[whole..].rsplit(|byte| *byte == b'\n') {
            if whole < block.len() && !visit(line) {
                return Ok(false);
            }
        }
        block.truncate(end_of_first.filter(|_| whole > 0).unwrap_or(whole));
        rest = block;
    }
    Ok(true)
}

/// The event of a line; an error for one that cannot be read, `None` for an empty one.
pub(super) fn read_line(line: &[u8]) -> Option<std::result::Result<Line, ()>> {
    (!line.is_empty()).then(|| parse(line).ok_or(()))
}

/// The time of each session's last event, from the end of the current log only.
pub fn last_heard(file: &Path) -> BTreeMap<String, Moment> {
    let (mut heard, mut left) = (BTreeMap::new(), AUDIT_END);
    let mut visit = |line: &[u8]| {
        if let Some(line) = parse(line) {
            let last = heard.entry(line.text("session").to_owned());
            let last = last.or_insert(line.time);
            *last = line.time.max(*last);
        }
        left = left.saturating_sub(line.len());
        left > 0
    };
    let _ = files::open_regular(file).and_then(|file| backwards(&file, &mut visit));
    heard
}

/// Parses a line. If a full disk truncated an event, the next one follows on the same line.
fn parse(line: &[u8]) -> Option<Line> {
    let text = String::from_utf8_lossy(line);
    let value: Value = serde_json::from_str(&text)
        .or_else(|_| serde_json::from_str(&text[text.rfind("{\"time\":").unwrap_or(0)..]))
        .ok()?;
    let time = Moment::parse(value.get("time")?.as_str()?, Moment(0))?;
    Some(Line { time, value })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let days = |lines: &[Line]| {
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
        assert_eq!((days(&lines), torn), (vec_of(&["03"]), 0));
    }

    fn vec_of(days: &[&str]) -> Vec<String> {
        days.iter().map(|day| (*day).to_owned()).collect()
    }

    #[test]
    fn a_log_reads_the_same_from_both_ends() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("audit.jsonl");
        let block = usize::try_from(BLOCK).unwrap();
        // Lines that end just before, at and after the end of a block, and some of several blocks.
        let lengths = [
            1,
            block - 200,
            block,
            3 * block,
            60,
            block - 61,
            block + 1,
            7,
        ];
        for end in ["", "\n"] {
            let line = |(at, length): (usize, &usize)| {
                let time = format!("2026-01-01T00:00:{at:02}.000Z");
                format!("{{\"time\":\"{time}\",\"x\":\"{}\"}}", "x".repeat(*length))
            };
            let lines: Vec<String> = lengths.iter().enumerate().map(line).collect();
            std::fs::write(&file, lines.join("\n") + end).unwrap();
            let mut forwards = Vec::new();
            each_event(&file, &mut |line| {
                forwards.push(line.clone());
                Ok(())
            })
            .unwrap();
            for count in 1..=lengths.len() {
                let (last, torn) = last_events(&file, count, |_| true).unwrap();
                assert_eq!((&last[..], torn), (&forwards[lengths.len() - count..], 0));
            }
        }
        // What is no log costs no memory.
        std::fs::write(&file, vec![b'x'; 5 * usize::try_from(LONGEST).unwrap()]).unwrap();
        assert!(each_event(&file, &mut |_| Ok(())).unwrap() >= 5);
        assert!(last_events(&file, 3, |_| true).unwrap().1 >= 4);
    }
}
