//! What a collector has taken of the audit log, in a file for each collector: kept by `audit ship`, and
//! looked at when a log is about to be dropped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::event::{Event, unique};
use super::log::LONGEST;
use crate::sys::{Dir, Durable, EntryName, process};

/// The file of a collector has at most so many bytes.
const SHIPPED_FILE: u64 = 64 * 1024;
/// How many dropped logs an event names. The lines of earlier ones are added up.
const NAMED: usize = 50;
/// Of how many logs the progress is remembered: more than an event names, besides those that are kept.
const REMEMBERED: usize = 100;

/// How far a collector has taken the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shipped {
    /// The collector.
    pub to: String,
    /// Each log of which it took something, in this order.
    pub taken: Vec<Mark>,
    /// How far it will have taken them when it answers. What lies between was perhaps delivered.
    pub sending: Vec<Mark>,
    /// Up to where what it has not taken was perhaps delivered in earlier runs.
    #[serde(default)]
    pub again: Vec<Mark>,
}

/// How far a log was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its identity ([`log_name`]).
    pub log: String,
    /// Bytes.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
}

impl Shipped {
    /// The file for a collector, in the directory of the log.
    pub fn file(collector: &str) -> String {
        format!("shipped-{}.json", &digest(collector.as_bytes())[..16])
    }

    /// What is known of a collector; nothing yet if there is no file.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub fn read(dir: &Dir, collector: &str) -> io::Result<Self> {
        let fresh = Self {
            to: collector.to_owned(),
            ..Self::default()
        };
        match dir.read(&name_of(collector)?, SHIPPED_FILE) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(fresh),
            Err(error) => Err(error),
        }
    }

    /// Whether nothing is known: no file was there.
    pub fn is_fresh(&self) -> bool {
        [&self.taken, &self.sending, &self.again]
            .iter()
            .all(|marks| marks.is_empty())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written; the old one is then untouched.
    pub fn write(&mut self, dir: &Dir) -> io::Result<()> {
        let excess = self.taken.len().saturating_sub(REMEMBERED);
        self.taken.drain(..excess);
        let is_taken = |end: &Mark| {
            let mut taken = self.taken.iter();
            taken.any(|mark| mark.log == end.log && mark.bytes >= end.bytes)
        };
        self.again.retain(|end| !is_taken(end));
        let bytes = serde_json::to_vec(self)?;
        dir.replace(&name_of(&self.to)?, &bytes, 0o600, Durable::Yes)
    }
}

fn name_of(collector: &str) -> io::Result<EntryName> {
    let name = EntryName::parse(Shipped::file(collector));
    name.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// The mark for a log among others; at its start if there is none yet.
pub fn mark<'m>(marks: &'m mut Vec<Mark>, log: &str) -> &'m mut Mark {
    let at = marks.iter().position(|mark| mark.log == log);
    let at = at.unwrap_or_else(|| {
        let (log, bytes, lines) = (log.to_owned(), 0, 0);
        marks.push(Mark { log, bytes, lines });
        marks.len() - 1
    });
    &mut marks[at]
}

/// The identity of a log: its first line, which never changes. Inodes and names are used again. `None`
/// if it has no whole line yet.
///
/// # Errors
/// When it cannot be read.
pub fn log_name(log: &mut File) -> io::Result<Option<String>> {
    log.rewind()?;
    let mut first = Vec::new();
    io::Read::take(BufReader::new(&*log), LONGEST).read_until(b'\n', &mut first)?;
    Ok(first
        .ends_with(b"\n")
        .then(|| digest(&first)[..32].to_owned()))
}

/// A name for the line at this place of a log, for one that has none of its own.
pub(super) fn place_name(log: &str, at: u64) -> String {
    digest(format!("{log}:{at}").as_bytes())[..32].to_owned()
}

fn digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The event that tells of the lines of a log that is about to be dropped, unless each collector took
/// them all. It repeats those that this log tells of.
pub(super) fn lost(dir: &Dir, log: &mut File, collectors: &[String]) -> io::Result<Option<Event>> {
    let Some(name) = log_name(log)? else {
        return Ok(None);
    };
    log.rewind()?;
    let (mut lines, mut logs) = (0_u64, Vec::new());
    let mut reader = BufReader::new(&*log);
    let mut line = Vec::new();
    while io::Read::take(&mut reader, LONGEST).read_until(b'\n', &mut line)? > 0 {
        lines += u64::from(counts(&line));
        if is_lost(&line) {
            logs.extend(logs_of(&serde_json::from_slice(&line).unwrap_or_default()));
        }
        line.clear();
    }
    let has_taken = |collector: &String| {
        let known = Shipped::read(dir, collector).unwrap_or_default();
        let mut taken = known.taken.iter();
        taken.any(|mark| mark.log == name && mark.lines >= lines)
    };
    if collectors.iter().all(has_taken) {
        return Ok(None);
    }
    logs.push((name, lines));
    let earlier: u64 = logs.iter().rev().skip(NAMED).map(|(_, lines)| lines).sum();
    let mut logs = logs.split_off(logs.len().saturating_sub(NAMED));
    if earlier > 0 {
        logs.insert(0, ("earlier".to_owned(), earlier));
    }
    let all: u64 = logs.iter().map(|(_, lines)| lines).sum();
    let logs: Vec<Value> = logs
        .into_iter()
        .map(|(log, lines)| json!({"log": log, "lines": lines}))
        .collect();
    let event = Event::new("lost").with("events", all).with("logs", logs);
    let event = event.with("by", "the log is full, and a collector had not taken them");
    let event = event.with("event_id", unique());
    Ok(Some(event.with("machine", process::machine())))
}

/// Whether a line counts as one that can be lost. What tells of others does not.
pub(super) fn counts(line: &[u8]) -> bool {
    line.ends_with(b"\n") && !is_lost(line)
}

/// Whether a line is an event of this kind, which begins with its time.
fn is_lost(line: &[u8]) -> bool {
    let (start, kind) = (&line[..line.len().min(100)], br#""event":"lost""#);
    start.windows(kind.len()).any(|part| part == kind)
}

/// The dropped logs that an event of this kind names, and how many lines they had.
pub fn logs_of(event: &Value) -> Vec<(String, u64)> {
    let logs = event["logs"].as_array();
    let read = |log: &Value| Some((log["log"].as_str()?.to_owned(), log["lines"].as_u64()?));
    logs.into_iter().flatten().filter_map(read).collect()
}
