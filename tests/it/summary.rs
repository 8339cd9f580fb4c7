//! `audit --summary` of several machines.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;

const HOSTILE: &str = "</style><script>alert(1)</script>\u{202e}";

/// A log with a few events of `machine`.
fn log(host: &Host, machine: &str) -> String {
    let mut text = String::new();
    let mut event = |more: Value| {
        let second = text.lines().count();
        let mut event = json!({
            "time": format!("2026-11-02T10:00:{second:02}.000Z"), "host": "codex",
            "model": "m-1", "event_id": format!("{machine}-{second}"), "machine": machine,
        });
        let more = more.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(more);
        writeln!(text, "{event}").unwrap();
    };
    event(json!({"event": "activate", "skill": "used", "tokens": 900}));
    event(json!({"event": "activate", "skill": HOSTILE, "tokens": 100}));
    for refused in ["path", "command"] {
        event(json!({
            "event": "tool", "skill": "used", "decision": "blocked", "refused": refused,
            "by": HOSTILE, "arguments": {"path": "x"},
        }));
    }
    event(json!({"event": "read", "skill": "used", "script_read": true, "tokens": 50}));
    for code in [0, 3] {
        event(json!({
            "event": "script", "skill": "used", "exit_code": code, "duration_ms": 2500,
        }));
    }
    // The collector delivered one of them twice.
    let again = text.lines().next().unwrap().to_owned();
    writeln!(text, "{again}\nnot an event").unwrap();
    let file = format!("{machine}.jsonl");
    fs::write(host.project().join(&file), text).unwrap();
    file
}

fn two_machines() -> (Host, Vec<String>) {
    let host = Host::stdin().skill("used", "", "").skill("unused", "", "");
    let logs = ["web-1", "web-2"]
        .map(|machine| log(&host, machine))
        .to_vec();
    (host, logs)
}

fn summarized<'a>(logs: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let words = ["audit", "--summary", "--log"].into_iter();
    let logs = logs.iter().map(String::as_str);
    words.chain(logs).chain(more.iter().copied()).collect()
}

#[test]
fn several_machines_are_counted_together_and_each() {
    let (host, logs) = two_machines();
    let all = host.json(&summarized(&logs, &["--json"]));
    let used = all["skills"].as_array().unwrap().iter();
    let used = used.clone().find(|row| row["skill"] == "used").unwrap();
    for (key, value) in [
        ("activations", 2),
        ("refusals", 4),
        ("path_refusals", 2),
        ("script_reads", 2),
        ("scripts", 4),
        ("scripts_succeeded", 2),
        ("scripts_ms", 10_000),
        ("tokens", 1900),
    ] {
        assert_eq!(used[key], value, "{key}");
    }
    assert_eq!((&all["events"], &all["repeated"]), (&json!(14), &json!(2)));
    assert_eq!(all["never_used"], json!(["unused"]));
    for (list, key, name) in [
        ("machines", "machine", "web-2"),
        ("hosts", "host", "codex"),
        ("models", "model", "m-1"),
    ] {
        let rows = all[list].as_array().unwrap();
        assert_eq!(rows.last().unwrap()[key], name);
        let option = ["--by", key];
        let table = host.succeeds(&summarized(&logs, &option));
        assert!(table.starts_with(&key.to_uppercase()), "{table}");
        assert_eq!(table.lines().count(), rows.len() + 1, "{table}");
    }
    host.fails(&["audit", "--summary", "--log", "none.jsonl"])
        .has("none.jsonl");
}

#[test]
fn hostile_numbers_and_second_deliveries_are_counted() {
    let host = Host::stdin();
    let log = host.home().join("two.jsonl");
    let line = |id: &str, more: &str| {
        format!(
            "{{\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"script\",\"skill\":\"pdf\",\
             \"event_id\":\"{id}\",\"duration_ms\":9223372036854775807{more}}}\n"
        )
    };
    let lines = [
        line("a", ""),
        line("b", ""),
        line("c", ""),
        line("c", ",\"again\":true"),
    ];
    fs::write(&log, lines.concat()).unwrap();
    let log = log.to_str().unwrap();
    let told = host.json(&["audit", "--summary", "--log", log, "--json"]);
    assert_eq!(
        (&told["events"], &told["repeated"]),
        (&3.into(), &1.into()),
        "{told}"
    );
}
