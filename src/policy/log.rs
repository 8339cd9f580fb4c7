//! Reads the audit log, even if some of its lines are damaged.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::audit::numbered;
use crate::error::{Error, Result};
use crate::sys::{Moment, files, limits};

/// The end of an audit log in which a session's last event is searched: 500 events.
const AUDIT_END: u64 = 256 * 1024;

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

/// Every retained event, oldest first, and the number of unreadable lines.
///
/// # Errors
/// If an existing log cannot be opened.
pub fn read_log(file: &Path) -> Result<(Vec<Line>, usize)> {
    let (mut lines, mut torn) = (Vec::new(), 0);
    for number in (0..=limits::AUDIT_KEPT).rev() {
        let path = numbered(file, number);
        let opened = files::if_there(files::open_regular(&path));
        let Some(file) = opened.map_err(|error| Error::io("read", &path, &error))? else {
            continue;
        };
        for line in BufReader::new(file).split(b'\n').map_while(io::Result::ok) {
            match parse(&line) {
                Some(line) => lines.push(line),
                None if line.is_empty() => {}
                None => torn += 1,
            }
        }
    }
    // A process that still had a rotated log open may have written to it later than others to the
    // next one.
    lines.sort_by_key(|line| line.time);
    Ok((lines, torn))
}

/// The time of each session's last event, from the end of the current log only.
pub fn last_heard(file: &Path) -> BTreeMap<String, Moment> {
    let mut heard = BTreeMap::new();
    let Ok(mut file) = files::open_regular(file) else {
        return heard;
    };
    let from = file
        .metadata()
        .map_or(0, |file| file.len())
        .saturating_sub(AUDIT_END);
    if file.seek(SeekFrom::Start(from)).is_err() {
        return heard;
    }
    let bytes = files::read_all_capped(file.take(AUDIT_END), AUDIT_END);
    for line in bytes
        .unwrap_or_default()
        .split(|byte| *byte == b'\n')
        .filter_map(parse)
    {
        let session = line.text("session").to_owned();
        let last = heard.entry(session).or_insert(line.time);
        *last = line.time.max(*last);
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
            event(2),
            event(3),
            event(1)
        );
        std::fs::write(&file, text).unwrap();
        let (lines, torn) = read_log(&file).unwrap();
        let times: Vec<String> = lines
            .iter()
            .map(|line| line.time.to_string()[8..10].to_owned())
            .collect();
        assert_eq!(
            (times, torn),
            (vec!["01".to_owned(), "02".to_owned(), "03".to_owned()], 1)
        );
    }
}
