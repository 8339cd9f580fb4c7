//! Reads the audit log, even if some of its lines are damaged.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::sys::{Moment, files, limits};

/// The end of an audit log in which the last events are searched first: about 500 of them.
const AUDIT_END: u64 = 256 * 1024;

/// More than the longest line that is ever written to a log, in bytes.
const LONGEST: u64 = 1024 * 1024;
/// How much is read at once from a log.
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
    let mut logs = Vec::new();
    for path in (0..=limits::AUDIT_KEPT).rev().map(|at| numbered(file, at)) {
        logs.extend(opened(&path)?.map(|log| (path, log)));
    }
    let each = logs.iter().map(|(path, log)| each_of(path, log, 0, visit));
    each.sum()
}

/// As [`each_event`], of one file, which has to be there.
///
/// # Errors
/// If it cannot be read, or the visitor fails.
pub fn each_event_of(path: &Path, visit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<usize> {
    let log = files::open_regular(path).map_err(|error| Error::io("read", path, &error))?;
    each_of(path, &log, 0, visit)
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
    visit: &mut dyn FnMut(&Line) -> Result<()>,
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
    is_wanted: impl Fn(&Line) -> bool,
) -> Result<(Vec<Line>, usize)> {
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
pub fn last_heard(file: &Path) -> BTreeMap<String, Moment> {
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
        let visit = &mut |line: &Line| {
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
