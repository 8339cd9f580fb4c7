//! `audit --summary`.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::Host;

const HOSTILE: &str = "</style><script>alert(1)</script>\u{202e}";

/// The events of one machine, and a line that is none.
fn record(host: &Host) {
    let mut text = String::new();
    let mut event = |more: Value| {
        let second = text.lines().count();
        let mut event = json!({
            "time": format!("2026-11-02T10:00:{second:02}.000Z"), "host": "codex", "model": "m-1",
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
    let file = host.plugin_dir().join("audit.jsonl");
    fs::write(file, format!("{text}not an event\n")).unwrap();
}

#[test]
fn each_skill_model_and_host_is_counted() {
    let host = Host::stdin().skill("used", "", "").skill("unused", "", "");
    record(&host);
    let all = host.json(&["audit", "--summary", "--json"]);
    let used = all["skills"].as_array().unwrap().iter();
    let used = used.clone().find(|row| row["skill"] == "used").unwrap();
    for (key, value) in [
        ("activations", 1),
        ("refusals", 2),
        ("path_refusals", 1),
        ("script_reads", 1),
        ("scripts", 2),
        ("scripts_succeeded", 1),
        ("scripts_ms", 5000),
        ("tokens", 950),
    ] {
        assert_eq!(used[key], value, "{key}");
    }
    assert_eq!(all["events"], 7);
    assert_eq!(all["never_used"], json!(["unused"]));
    for (list, key, name) in [("hosts", "host", "codex"), ("models", "model", "m-1")] {
        assert_eq!(all[list].as_array().unwrap().last().unwrap()[key], name);
    }
    let table = host.succeeds(&["audit", "--summary"]);
    assert!(table.starts_with("SKILL"), "{table}");
    assert_eq!(table.lines().count(), 3, "{table}");
}

#[test]
fn hostile_numbers_are_counted() {
    let host = Host::stdin();
    let line = "{\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"script\",\"skill\":\"pdf\",\
                \"duration_ms\":9223372036854775807}\n";
    fs::write(host.plugin_dir().join("audit.jsonl"), line.repeat(3)).unwrap();
    let told = host.json(&["audit", "--summary", "--json"]);
    assert_eq!(told["events"], 3, "{told}");
}
