//! The audit log as what is still to be sent: reads every retained log from where a collector has
//! taken it, in the order in which events were written.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::log::{LONGEST, numbered, read_line};
use super::shipped::{Mark, Shipped, counts, log_name, logs_of, mark, place_name};
use crate::error::{Error, Result};
use crate::sys::{FileLock, Moment, files, limits, process};

/// Waiting for a hook that is rotating the log, which takes milliseconds.
const ROTATION: Duration = Duration::from_secs(5);
/// How many bytes are sent at once, and how many events.
const BATCH_BYTES: u64 = 1024 * 1024;
/// See [`BATCH_BYTES`].
pub const BATCH_EVENTS: usize = 500;

/// The retained logs, opened: what is rotated or dropped meanwhile can still be read.
#[derive(Debug)]
pub struct Spool(Vec<Log>);

#[derive(Debug)]
struct Log {
    name: String,
    file: File,
    /// What is written later is for the next run.
    length: u64,
}

/// Events that are sent at once.
#[derive(Debug, Default)]
pub struct Batch {
    /// The events. Each has an `event_id`; those that were perhaps delivered before have `again`.
    pub events: Vec<Value>,
    /// What the collector has taken after it.
    pub after: Vec<Mark>,
}

impl Spool {
    /// Opens the logs, oldest first.
    ///
    /// # Errors
    /// When one cannot be read, or a hook does not finish rotating them.
    pub fn open(file: &Path) -> Result<Self> {
        let mut logs = Vec::new();
        if !file.parent().is_some_and(Path::is_dir) {
            return Ok(Self(logs));
        }
        let _rotation = FileLock::exclusive(&file.with_extension("lock"), ROTATION)?;
        for kept in (0..=limits::AUDIT_KEPT).rev() {
            let path = numbered(file, kept);
            let failed = |error| Error::io("read", &path, &error);
            let opened = files::if_there(files::open_regular(&path)).map_err(failed)?;
            let Some(mut file) = opened else { continue };
            let length = file.metadata().map_err(failed)?.len();
            if let Some(name) = log_name(&mut file).map_err(failed)? {
                logs.push(Log { name, file, length });
            }
        }
        Ok(Self(logs))
    }

    /// Prepares what is known of a collector for a run: what was perhaps delivered stays marked until it
    /// is taken, and a log that cannot be read on from where it was taken is read from its beginning.
    /// Returns whether there is one: it was truncated, or it or the record was edited.
    ///
    /// # Errors
    /// When a log cannot be read.
    pub fn resume(&self, shipped: &mut Shipped) -> io::Result<bool> {
        let again = &mut shipped.again;
        again.retain(|end| self.0.iter().any(|log| log.name == end.log));
        let mut raise = |log: &str, bytes: u64| {
            let end = mark(again, log);
            end.bytes = end.bytes.max(bytes);
        };
        for end in shipped.sending.drain(..) {
            raise(&end.log, end.bytes);
        }
        let mut is_changed = false;
        for log in &self.0 {
            let here = mark(&mut shipped.taken, &log.name);
            if !log.continues_at(here.bytes)? {
                (here.bytes, here.lines) = (0, 0);
                raise(&log.name, log.length);
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// The next events for a collector, at most so many; none if it has taken all.
    ///
    /// # Errors
    /// When a log cannot be read.
    pub fn next(&self, shipped: &Shipped, most: usize) -> io::Result<Batch> {
        let (mut events, mut after) = (Vec::new(), shipped.taken.clone());
        let mut room = BATCH_BYTES;
        for log in &self.0 {
            let mut here = mark(&mut after, &log.name).clone();
            let again = shipped.again.iter().find(|mark| mark.log == log.name);
            let again = again.map_or(0, |mark| mark.bytes);
            let mut file = &log.file;
            file.seek(SeekFrom::Start(here.bytes))?;
            let mut reader = BufReader::new(file);
            while events.len() < most && room > 0 && here.bytes < log.length {
                let mut line = Vec::new();
                let read = (&mut reader).take(LONGEST).read_until(b'\n', &mut line)? as u64;
                if read == 0 || !line.ends_with(b"\n") && read < LONGEST {
                    break;
                }
                let event = event_of(&line, &mut after).map(|mut event| {
                    let at = place_name(&log.name, here.bytes);
                    if event["event_id"].is_null() {
                        event["event_id"] = at.into();
                    }
                    if here.bytes < again {
                        event["again"] = true.into();
                    }
                    event
                });
                events.extend(event);
                here.bytes += read;
                here.lines += u64::from(counts(&line));
                room = room.saturating_sub(read);
            }
            *mark(&mut after, &log.name) = here;
        }
        Ok(Batch { events, after })
    }

    /// How many lines a collector has not taken.
    pub fn waiting(&self, taken: &[Mark]) -> u64 {
        let of = |log: &Log| {
            let from = taken.iter().find(|mark| mark.log == log.name);
            let mut file = &log.file;
            file.seek(SeekFrom::Start(from.map_or(0, |mark| mark.bytes)))
                .ok()?;
            let lines = BufReader::new(file).split(b'\n');
            Some(lines.map_while(io::Result::ok).count() as u64)
        };
        self.0.iter().filter_map(of).sum()
    }
}

impl Log {
    /// Whether it can be read on from there: at the end of a line, or within one that is too long.
    fn continues_at(&self, bytes: u64) -> io::Result<bool> {
        if bytes == 0 || bytes > self.length {
            return Ok(bytes == 0);
        }
        let before = |length: u64| {
            let mut part = vec![0; usize::try_from(length).unwrap_or(0)];
            let read = self.file.read_exact_at(&mut part, bytes - length);
            read.map(|()| part)
        };
        let is_long = |part: Vec<u8>| !part.contains(&b'\n');
        Ok(before(1)? == b"\n" || bytes >= LONGEST && before(LONGEST).is_ok_and(is_long))
    }
}

/// The event of a line, as the collector is to have it; `None` if there is nothing to send.
fn event_of(line: &[u8], after: &mut Vec<Mark>) -> Option<Value> {
    let Ok(line) = read_line(line.trim_ascii_end())? else {
        return Some(json!({
            "time": Moment::now().to_string(), "event": "lost", "machine": process::machine(),
            "events": 1, "by": "a line of the log cannot be read",
        }));
    };
    let mut event = line.value;
    let logs = logs_of(&event);
    if event["event"] != "lost" || logs.is_empty() {
        return Some(event);
    }
    // Of the lines that were dropped, those count that this collector had not taken.
    let mut missing = 0;
    for (log, lines) in logs {
        let known = mark(after, &log);
        missing += lines.saturating_sub(known.lines);
        known.lines = known.lines.max(lines);
    }
    event["events"] = missing.into();
    event.as_object_mut()?.remove("logs");
    (missing > 0).then_some(event)
}

#[cfg(test)]
mod tests {
    use super::super::{Audit, Event, Syslog};
    use super::*;
    use crate::sys::Dir;

    const TO: &str = "syslog+tcp://127.0.0.1:1";

    fn audit(dir: &Path) -> Audit {
        Audit {
            file: dir.join("audit.jsonl"),
            max: 2000,
            copies: Vec::new(),
            syslog: Syslog::Off,
            collectors: vec![TO.to_owned()],
        }
    }

    /// All events from here on, and what was taken.
    fn drain(dir: &Path, shipped: &mut Shipped, most: usize) -> Vec<Value> {
        let mut all = Vec::new();
        let spool = Spool::open(&dir.join("audit.jsonl")).unwrap();
        loop {
            let batch = spool.next(shipped, most).unwrap();
            shipped.taken = batch.after;
            if batch.events.is_empty() {
                assert_eq!(spool.waiting(&shipped.taken), 0);
                return all;
            }
            all.extend(batch.events);
        }
    }

    fn numbers(events: &[Value]) -> Vec<u64> {
        events
            .iter()
            .filter_map(|event| event["n"].as_u64())
            .collect()
    }

    fn lost(events: &[Value]) -> u64 {
        let lost = events.iter().filter(|event| event["event"] == "lost");
        lost.filter_map(|event| event["events"].as_u64()).sum()
    }

    #[test]
    fn each_event_is_read_once_in_order_whatever_is_rotated() {
        let dir = tempfile::tempdir().unwrap();
        let (audit, mut shipped) = (audit(dir.path()), Shipped::default());
        shipped.to = TO.to_owned();
        let mut all = Vec::new();
        for n in 0..500_u64 {
            audit.write(&Event::new("x").with("n", n));
            if n % 37 == 0 {
                all.extend(drain(dir.path(), &mut shipped, 5));
                shipped.write(&Dir::anchor(dir.path()).unwrap()).unwrap();
            }
        }
        all.extend(drain(dir.path(), &mut shipped, 5));
        assert_eq!(numbers(&all), (0..500).collect::<Vec<_>>());
        assert_eq!(lost(&all), 0);
        let mut names: Vec<_> = all.iter().map(|it| it["event_id"].to_string()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 500);
    }

    #[test]
    fn what_a_full_log_drops_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let (audit, mut shipped) = (audit(dir.path()), Shipped::default());
        shipped.to = TO.to_owned();
        let mut all = Vec::new();
        for n in 0..3000_u64 {
            audit.write(&Event::new("x").with("n", n));
            // The collector is down most of the time, and takes a little now and then.
            if [40, 700, 1500, 2600].contains(&n) {
                let spool = Spool::open(&audit.file).unwrap();
                let batch = spool.next(&shipped, 30).unwrap();
                shipped.taken = batch.after;
                all.extend(batch.events);
                shipped.write(&Dir::anchor(dir.path()).unwrap()).unwrap();
            }
        }
        all.extend(drain(dir.path(), &mut shipped, 7));
        let (numbers, lost) = (numbers(&all), lost(&all));
        assert!(numbers.is_sorted_by(|one, other| one < other));
        assert_eq!(numbers.len() as u64 + lost, 3000, "{lost} lost");
        assert!(lost > 2000, "{lost}");
    }

    #[test]
    fn a_late_line_of_a_rotated_log_is_not_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (audit, mut shipped) = (audit(dir.path()), Shipped::default());
        for n in 0..60_u64 {
            audit.write(&Event::new("x").with("n", n));
        }
        drain(dir.path(), &mut shipped, 100);
        let rotated = dir.path().join("audit.jsonl.1");
        let mut text = std::fs::read_to_string(&rotated).unwrap();
        let late = "{\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"x\",\"n\":99}\nnone\n";
        text.push_str(late);
        std::fs::write(&rotated, text).unwrap();
        let all = drain(dir.path(), &mut shipped, 100);
        assert_eq!((numbers(&all), lost(&all)), (vec![99], 1));
    }

    #[test]
    fn what_was_perhaps_delivered_is_marked() {
        let dir = tempfile::tempdir().unwrap();
        let (audit, mut shipped) = (audit(dir.path()), Shipped::default());
        for n in 0..10_u64 {
            audit.write(&Event::new("x").with("n", n));
        }
        let spool = Spool::open(&audit.file).unwrap();
        shipped.sending = spool.next(&shipped, 4).unwrap().after;
        assert!(!spool.resume(&mut shipped).unwrap());
        let events = spool.next(&shipped, 10).unwrap().events;
        let again: Vec<_> = events.iter().map(|event| event["again"] == true).collect();
        assert_eq!(again, [[true; 4].as_slice(), &[false; 6]].concat());
        let first = spool.next(&Shipped::default(), 10).unwrap().events;
        assert_eq!(first[0]["event_id"], events[0]["event_id"]);
    }
}
