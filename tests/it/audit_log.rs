//! The audit log as a file: many writers at once, one that cannot be written, and how it is read.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent_skills::policy::{Audit, Event, last_events};
use agent_skills::sys::UnixMillis;
use serde_json::{Value, json};

use crate::Host;
use crate::audit::{events, of_kind};
use crate::host::Has;

#[test]
fn a_log_that_cannot_be_written_breaks_nothing() {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    fs::create_dir(host.plugin_dir().join("audit.jsonl")).unwrap();
    host.activates("careful");
    host.blocks("shell_exec", &json!({"command": "ls"}));
    host.allows("file_head", &json!({"path": "x"}));
    host.starts()
        .allows("shell_exec", &json!({"command": "ls"}));
}

const PROCESSES: u64 = 16;

const EVENTS: u64 = 500;

#[test]
fn sixteen_processes_lose_and_mix_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("audit.jsonl");
    let writer = |number| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "audit_log::one_of_the_sixteen"])
            .env("AUDIT_TEST", format!("{number} {}", file.display()))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let writers: Vec<_> = (0..PROCESSES).map(writer).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let (lines, torn) = last_events(&file, usize::MAX, |_| true).unwrap();
    let mut seen: Vec<u64> = lines
        .iter()
        .filter_map(|line| line.value["n"].as_u64())
        .collect();
    seen.sort_unstable();
    assert_eq!((seen, torn), ((0..PROCESSES * EVENTS).collect(), 0));
    // Read as lines by anybody else, too, in however many files.
    let text: String = (0..5)
        .filter_map(|n| {
            let name = if n == 0 {
                "audit.jsonl".to_owned()
            } else {
                format!("audit.jsonl.{n}")
            };
            fs::read_to_string(dir.path().join(name)).ok()
        })
        .collect();
    assert_eq!(
        text.lines()
            .filter(|line| serde_json::from_str::<Value>(line).is_ok())
            .count(),
        8000
    );
    assert!(
        dir.path().join("audit.jsonl.1").exists(),
        "it was put aside meanwhile"
    );
}

/// The body of each process above; on its own it has nothing to do.
#[test]
fn one_of_the_sixteen() {
    let Ok(order) = std::env::var("AUDIT_TEST") else {
        return;
    };
    let (number, file) = order.split_once(' ').unwrap();
    let first = number.parse::<u64>().unwrap() * EVENTS;
    // Large enough that the logs that are kept hold them all.
    let audit = Audit {
        file: file.into(),
        max: 1_500_000,
        copies: Vec::new(),
    };
    for n in first..first + EVENTS {
        audit.write(
            Event::new("tool")
                .with("n", n)
                .with("text", "x".repeat(300)),
        );
    }
}

/// The end of a host is not seen: what is known is when something was last heard of it.
#[test]
fn an_activation_lasted_until_its_session_was_last_heard_of() {
    let minutes_ago = |minutes: u64| UnixMillis(UnixMillis::now().0 - minutes * 60_000);
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    let end = |host: &Host| of_kind(host, "end").pop().unwrap();
    let state = host.plugin_dir().join("state.json");
    let log = host.plugin_dir().join("audit.jsonl");
    let long_ago = || {
        host.activates("careful");
        let mut known: Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
        let activated = known["sessions"]["named:host"]["activated"].as_array_mut();
        for skill in activated.unwrap() {
            skill["began"] = json!(minutes_ago(90).0);
        }
        fs::write(&state, known.to_string()).unwrap();
    };
    long_ago();
    host.blocks("shell_exec", &json!({"command": "ls"}));
    let mut events = events(&host);
    let last_seen = minutes_ago(60).to_string();
    for event in &mut events {
        event["time"] = json!(last_seen);
    }
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    fs::write(&log, lines.join("\n") + "\n").unwrap();
    host.starts();
    let minutes = end(&host)["duration_ms"].as_u64().unwrap() / 60_000;
    assert!((29..=31).contains(&minutes), "{}", end(&host));
    assert_eq!(end(&host)["last_seen"], json!(last_seen));
    long_ago();
    fs::remove_file(&log).unwrap();
    host.starts();
    assert!(end(&host).get("duration_ms").is_none(), "{}", end(&host));
}

/// A process of ours, which ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// docs/administration.md#audit
#[test]
fn rsyslog_follows_the_log_when_it_is_rotated() {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let mut programs = path.split(':').map(|dir| Path::new(dir).join("rsyslogd"));
    let Some(program) = programs.find(|program| program.exists()) else {
        println!("skipped: rsyslogd is not installed");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let shown = dir.path().display();
    let configuration = format!(
        "module(load=\"imfile\")\n\
         global(workDirectory=\"{shown}\" maxMessageSize=\"64k\")\n\
         input(type=\"imfile\" file=\"{shown}/log/audit.jsonl\" tag=\"agent-skills\" ruleset=\"agent-skills\")\n\
         template(name=\"event\" type=\"string\" string=\"%msg%\\n\")\n\
         ruleset(name=\"agent-skills\") {{ action(type=\"omfile\" file=\"{shown}/out\" template=\"event\") }}\n"
    );
    let file = dir.path().join("rsyslog.conf");
    fs::write(&file, configuration).unwrap();
    fs::create_dir(dir.path().join("log")).unwrap();
    let audit = Audit {
        file: dir.path().join("log/audit.jsonl"),
        max: 20_000,
        copies: Vec::new(),
    };
    let mut command = Command::new(program);
    command.arg("-n").arg("-f").arg(file);
    command.arg("-i").arg(dir.path().join("pid"));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let _running = Running(command.stderr(Stdio::null()).spawn().unwrap());
    let arrived = || {
        let text = fs::read_to_string(dir.path().join("out")).unwrap_or_default();
        let numbers = text.lines().map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            event["n"].as_u64().unwrap()
        });
        numbers.collect::<Vec<_>>()
    };
    let began = Instant::now();
    for n in 0..300_u64 {
        audit.write(Event::new("x").with("n", n));
        // Nobody follows a log that is renamed four times while it looks away.
        while n % 100 == 99 && arrived().len() as u64 <= n {
            assert!(began.elapsed() < Duration::from_mins(1), "{:?}", arrived());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    assert_eq!(arrived(), (0..300).collect::<Vec<_>>());
}

/// Each call as `TOOL DECISION by REASON`.
fn decided(host: &Host) -> Vec<String> {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or("?").to_owned();
    let tools = of_kind(host, "tool");
    let told = tools.iter().map(|event| {
        let [tool, decision, by] = ["tool", "decision", "by"].map(|key| text(event, key));
        format!("{tool} {decision} by {by}")
    });
    told.collect()
}

#[test]
fn each_call_has_one_line_that_says_what_came_of_it() {
    let host = Host::stdin()
        .skill("strict", "allowed-tools: Read Skill(strict)", "")
        .skill("other", "", "")
        .skill("plain", "allowed-tools: Read Skill", "");
    host.starts();
    host.blocks(
        "skill_marketplace",
        &json!({"action": "install", "skill_ref": "git@x.org:a/b"}),
    );
    host.activates("plain");
    let lock = fs::File::create(host.plugin_dir().join("state.lock")).unwrap();
    fs2::FileExt::lock_exclusive(&lock).unwrap();
    host.blocks("skill_other", &json!({}));
    let load = |name: &str| json!({"action": "load", "names": [name]});
    host.blocks("skill_session", &load("other"));
    drop(lock);
    host.activates("strict");
    host.blocks("skill_session", &load("other"));
    host.blocks("skill_strange", &json!({}));
    let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let call = format!(r#"{{"tool_name":"shell_exec","arguments":{{"z":{deep}}}}}"#);
    host.raw("hook", "pre_tool", &call).has("could not be read");
    fs::write(host.plugin_dir().join("state.json"), "garbage").unwrap();
    host.blocks("shell_exec", &json!({"command": "ls"}));
    host.allows("file_head", &json!({"path": "x"}));
    let told = decided(&host);
    let expected = [
        "skill_marketplace blocked by model_installs",
        "skill_other blocked by failed activation",
        "skill_session blocked by nothing loaded",
        "skill_strict allowed by always allowed",
        "skill_other blocked by strict: no entry",
        "skill_strange blocked by strict: no entry",
        "? blocked by unreadable call",
        "shell_exec blocked by unreadable state: ",
        "file_head allowed by unreadable state: ",
    ];
    assert_eq!(told.len(), expected.len(), "{told:?}");
    for (told, expected) in told.iter().zip(expected) {
        told.begins(expected);
    }
}
