//! What `audit ship` says, and sends, when its record of what was taken no longer fits the log.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::Host;
use crate::shipping::{Does, collector, configured, numbers, ship, write};

/// A host of which ten events were taken.
fn shipped() -> (Host, Receiver<Vec<Value>>) {
    let (address, arrived) = collector(&[Does::Takes]);
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..10);
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["confirmed"]),
        (0, &json!(10), &json!(false))
    );
    assert_eq!(arrived.recv().unwrap().len(), 10);
    (host, arrived)
}

fn log(host: &Host) -> PathBuf {
    host.plugin_dir().join("audit.jsonl")
}

fn record(host: &Host) -> PathBuf {
    let mut files = fs::read_dir(host.plugin_dir()).unwrap().flatten();
    let found = files.find(|it| it.file_name().to_string_lossy().starts_with("shipped-"));
    found.unwrap().path()
}

/// All of the log is sent again, says so, and the collectors hear of it.
#[track_caller]
fn begins_again(host: &Host, arrived: &Receiver<Vec<Value>>, expected: &[u64]) {
    let (status, said) = ship(host);
    assert_eq!(
        (status, &said["sent"], &said["again"]),
        (0, &json!(expected.len()), &said["sent"])
    );
    let note = said["notes"][0].as_str().unwrap();
    assert!(note.contains("truncated or changed"), "{note}");
    let events = arrived.recv().unwrap();
    assert_eq!(numbers(&events), expected);
    assert!(events.iter().all(|event| event["again"] == true));
    let (_, said) = ship(host);
    assert_eq!(
        (&said["sent"], &said["again"], &said["notes"]),
        (&json!(1), &json!(0), &json!([]))
    );
    let told = &arrived.recv().unwrap()[0];
    assert_eq!(told["event"], "lost");
    assert!(
        told["by"]
            .as_str()
            .unwrap()
            .contains("truncated or changed")
    );
}

#[test]
fn a_log_that_was_truncated_in_place_is_read_again() {
    let (host, arrived) = shipped();
    let text = fs::read_to_string(log(&host)).unwrap();
    let first: String = text.split_inclusive('\n').take(3).collect();
    fs::write(log(&host), first).unwrap();
    write(&host, 20..22);
    begins_again(&host, &arrived, &[0, 1, 2, 20, 21]);
}

#[test]
fn a_record_that_points_into_a_line_is_not_believed() {
    let (host, arrived) = shipped();
    let text = fs::read_to_string(record(&host)).unwrap();
    let mut edited: Value = serde_json::from_str(&text).unwrap();
    let bytes = edited["taken"][0]["bytes"].as_u64().unwrap();
    edited["taken"][0]["bytes"] = (bytes - 1).into();
    fs::write(record(&host), edited.to_string()).unwrap();
    begins_again(&host, &arrived, &(0..10).collect::<Vec<_>>());
}

#[test]
fn all_batches_of_what_is_sent_again_say_so() {
    let (host, arrived) = shipped();
    write(&host, 10..1200);
    ship(&host);
    assert_eq!(arrived.iter().take(3).flatten().count(), 1190);
    let text = fs::read_to_string(record(&host)).unwrap();
    fs::write(record(&host), text.replacen("\"bytes\":", "\"bytes\":9", 1)).unwrap();
    let (_, said) = ship(&host);
    assert_eq!(
        (&said["sent"], &said["again"]),
        (&json!(1200), &json!(1200))
    );
}

#[test]
fn a_record_that_was_removed_is_missed() {
    let (host, arrived) = shipped();
    fs::remove_file(record(&host)).unwrap();
    let (status, said) = ship(&host);
    assert_eq!((status, &said["sent"]), (0, &json!(10)));
    let note = said["notes"][0].as_str().unwrap();
    assert!(note.contains("which may have been sent before"), "{note}");
    assert_eq!(arrived.recv().unwrap().len(), 10);
    write(&host, 10..11);
    assert_eq!(ship(&host).1["notes"], json!([]));
}

#[test]
fn a_clock_that_jumps_changes_neither_order_nor_number() {
    let (address, arrived) = collector(&[Does::Takes]);
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..3);
    let text = fs::read_to_string(log(&host)).unwrap();
    // The second is dated in the past, the third far in the future.
    let dated = text.lines().zip(["", "1970", "9999"]).map(|(line, year)| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        if !year.is_empty() {
            event["time"] = format!("{year}-01-01T00:00:00.000Z").into();
        }
        event.to_string() + "\n"
    });
    fs::write(log(&host), dated.collect::<String>()).unwrap();
    let (status, said) = ship(&host);
    assert_eq!((status, &said["sent"]), (0, &json!(3)), "{said}");
    assert_eq!(numbers(&arrived.recv().unwrap()), [0, 1, 2]);
}
