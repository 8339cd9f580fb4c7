//! `audit ship` against collectors that stand in for real ones: what arrives, once and in order, and
//! what is said of the rest.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use agent_skills::policy::{Audit, Event, Syslog};
use serde_json::{Value, json};

use crate::Host;

/// What a collector does with a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It reads to the end.
    Takes,
    /// It reads a little, and resets.
    Breaks,
    /// It reads nothing until the other end is gone.
    Stalls,
}

/// A collector of syslog over TCP, which does this with its connections, and the last with all others.
/// The events arrive here, each as soon as its connection has ended.
pub fn collector(does: &'static [Does]) -> (String, Receiver<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("syslog+tcp://{}", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || serve(&listener, does, &sender));
    (address, receiver)
}

fn serve(listener: &TcpListener, does: &[Does], sender: &Sender<Vec<Value>>) {
    for (at, stream) in listener.incoming().enumerate() {
        let mut stream = stream.unwrap();
        let mut bytes = Vec::new();
        match does[at.min(does.len() - 1)] {
            Does::Takes => {
                stream.read_to_end(&mut bytes).unwrap();
            }
            Does::Breaks => {
                bytes = vec![0; 20_000];
                stream.read_exact(&mut bytes).unwrap();
                // Closed with bytes unread, it is reset.
            }
            Does::Stalls => {
                sender.send(Vec::new()).unwrap();
                std::thread::sleep(Duration::from_secs(2));
                let _ = stream.read_to_end(&mut bytes);
            }
        }
        drop(stream);
        if sender.send(messages(&bytes)).is_err() {
            return;
        }
    }
}

/// The events in whole frames.
fn messages(mut bytes: &[u8]) -> Vec<Value> {
    let mut found = Vec::new();
    while let Some(space) = bytes.iter().position(|byte| *byte == b' ') {
        let length: usize = std::str::from_utf8(&bytes[..space])
            .unwrap()
            .parse()
            .unwrap();
        let Some(message) = bytes[space + 1..].get(..length) else {
            break;
        };
        found.push(event_in(message));
        bytes = &bytes[space + 1 + length..];
    }
    found
}

fn event_in(message: &[u8]) -> Value {
    let text = std::str::from_utf8(message).unwrap();
    assert!(
        text.starts_with("<1") && text.contains(" agent-skills "),
        "{text}"
    );
    serde_json::from_str(&text[text.find("] {").unwrap() + 2..]).unwrap()
}

pub fn configured(host: Host, collectors: &[&str]) -> Host {
    let text = format!("[audit]\nship = {collectors:?}\n");
    fs::write(host.plugin_dir().join("config.toml"), text).unwrap();
    host
}

/// Writes so many events.
pub fn write(host: &Host, numbers: std::ops::Range<u64>) {
    let audit = Audit {
        file: host.plugin_dir().join("audit.jsonl"),
        max: 10_000_000,
        copies: Vec::new(),
        syslog: Syslog::Off,
        collectors: Vec::new(),
    };
    for n in numbers {
        audit.write(&Event::new("tool").with("n", n).with("skill", "pdf"));
    }
}

pub fn numbers(events: &[Value]) -> Vec<u64> {
    events.iter().filter_map(|it| it["n"].as_u64()).collect()
}

pub fn ship(host: &Host) -> (i32, Value) {
    let ran = host.person(&["audit", "ship", "--json"]);
    let answer: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (ran.status, answer["collectors"][0].clone())
}

#[test]
fn a_collector_gets_each_event_once_and_in_order() {
    let (address, arrived) = collector(&[Does::Takes]);
    let host = configured(
        Host::stdin().skill("pdf", "allowed-tools: Read", ""),
        &[&address],
    );
    host.activates("pdf");
    host.blocks("shell_exec", &json!({"command": "ls"}));
    write(&host, 0..1200);
    let said = host.succeeds(&["audit", "ship"]);
    assert!(
        said.contains(" events sent (syslog cannot confirm that they arrived)\n"),
        "{said}"
    );
    let all: Vec<Value> = arrived.iter().take(3).flatten().collect();
    assert_eq!(numbers(&all), (0..1200).collect::<Vec<_>>());
    assert_eq!(
        (&all[0]["event"], &all[1]["decision"]),
        (&json!("activate"), &json!("blocked"))
    );
    assert!(
        all.iter()
            .all(|it| it["event_id"].is_string() && it["again"].is_null())
    );
    assert_eq!(ship(&host).1["sent"], 0);
    write(&host, 1200..1201);
    assert_eq!(ship(&host).1["sent"], 1);
    assert_eq!(numbers(&arrived.recv().unwrap()), [1200]);
}

#[test]
fn what_a_dead_collector_does_not_take_is_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("syslog+tcp://{}", listener.local_addr().unwrap());
    drop(listener);
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..10);
    let ran = host.person(&["audit", "ship"]);
    assert_eq!(ran.status, 1);
    for part in [
        "0 events sent, 10 kept",
        "Connection refused",
        "hint: check",
    ] {
        assert!(ran.stdout.contains(part), "{ran:?}");
    }
    let port = address.rsplit(':').next().unwrap();
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let (sender, arrived) = channel();
    std::thread::spawn(move || serve(&listener, &[Does::Takes], &sender));
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["again"]),
        (0, &json!(10), &json!(0))
    );
    assert_eq!(
        numbers(&arrived.recv().unwrap()),
        (0..10).collect::<Vec<_>>()
    );
}

#[test]
fn what_a_broken_connection_took_is_sent_again_and_says_so() {
    let (address, arrived) = collector(&[Does::Breaks, Does::Takes]);
    let host = configured(Host::stdin(), &[&address]);
    // More than one batch, and more than a socket holds.
    write(&host, 0..700);
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["waiting"]),
        (1, &json!(0), &json!(700))
    );
    let first = arrived.recv().unwrap();
    assert!(!first.is_empty());
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["again"]),
        (0, &json!(700), &json!(500))
    );
    let rest: Vec<Value> = arrived.iter().take(2).flatten().collect();
    assert_eq!(numbers(&rest), (0..700).collect::<Vec<_>>());
    for twice in &first {
        let same = rest.iter().find(|it| it["event_id"] == twice["event_id"]);
        assert_eq!(same.unwrap()["again"], true);
    }
}

#[test]
fn one_killed_while_it_sends_loses_nothing() {
    let (address, arrived) = collector(&[Does::Stalls, Does::Takes]);
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..20);
    let mut command = host.command();
    command
        .args(["audit", "ship"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut killed = command.stdin(Stdio::null()).spawn().unwrap();
    assert!(arrived.recv().unwrap().is_empty());
    let ran = host.person(&["audit", "ship"]);
    assert!(
        ran.stderr.contains("is locked by another process"),
        "{ran:?}"
    );
    std::thread::sleep(Duration::from_millis(100));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(numbers(&arrived.recv().unwrap()).len(), 20);
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["again"]),
        (0, &json!(20), &json!(20))
    );
    let all = arrived.recv().unwrap();
    assert_eq!(numbers(&all), (0..20).collect::<Vec<_>>());
}

#[test]
fn sixteen_writers_and_a_shipper_lose_and_double_nothing() {
    let (address, arrived) = collector(&[Does::Takes]);
    let host = configured(Host::stdin(), &[&address]);
    let file = host.plugin_dir().join("audit.jsonl");
    let mut writers: Vec<_> = (0..16)
        .map(|number| {
            std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "audit_log::one_of_the_sixteen"])
                .env("AUDIT_TEST", format!("{number} {}", file.display()))
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut sent = 0;
    loop {
        let is_done = writers
            .iter_mut()
            .all(|it| it.try_wait().unwrap().is_some());
        let (status, said) = ship(&host);
        assert_eq!(
            (status, &said["again"], &said["lost"]),
            (0, &json!(0), &json!(0))
        );
        sent += said["sent"].as_u64().unwrap();
        if is_done {
            break;
        }
    }
    assert_eq!(sent, 8000);
    let mut seen = Vec::new();
    while seen.len() < 8000 {
        seen.extend(numbers(&arrived.recv().unwrap()));
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..8000).collect::<Vec<_>>());
    assert!(
        file.with_extension("jsonl.1").exists(),
        "it was rotated meanwhile"
    );
}

#[test]
fn a_policys_collector_counts_whatever_a_user_configures() {
    let (policys, at_policys) = collector(&[Does::Takes]);
    let (own, at_own) = collector(&[Does::Takes]);
    let host = configured(Host::stdin(), &[&own, &policys]);
    let policy = host.home().join("policy.toml");
    fs::write(&policy, format!("[audit]\nship = [{policys:?}]\n")).unwrap();
    let host = host.var("AGENT_SKILLS_POLICY", policy.to_str().unwrap());
    write(&host, 0..3);
    let answer = host.json(&["audit", "ship", "--json"]);
    let to: Vec<&Value> = answer["collectors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["to"])
        .collect();
    assert_eq!(to, [&json!(policys), &json!(own)]);
    assert_eq!(numbers(&at_policys.recv().unwrap()), [0, 1, 2]);
    assert_eq!(numbers(&at_own.recv().unwrap()), [0, 1, 2]);
    // Whatever the user's log holds by their configuration, it is not dropped for its size.
    fs::write(
        host.plugin_dir().join("config.toml"),
        "[audit]\nmax_bytes = 10\n",
    )
    .unwrap();
    let host = host.skill("pdf", "allowed-tools: Read", "");
    host.activates("pdf");
    for _ in 0..8 {
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
    assert_eq!(ship(&host).1["sent"], 9);
    assert_eq!(at_policys.recv().unwrap().len(), 9);
}

#[test]
fn datagrams_are_sent_and_what_is_too_long_is_cut() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let address = format!("syslog+udp://{}", socket.local_addr().unwrap());
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..2);
    let huge = json!({"time": "2026-01-01T00:00:00.000Z", "event": "script", "event_id": "e",
                      "output": "x".repeat(64_000)});
    let log = host.plugin_dir().join("audit.jsonl");
    let text = fs::read_to_string(&log).unwrap() + &format!("{huge}\n");
    fs::write(&log, text).unwrap();
    assert_eq!(ship(&host).0, 0);
    let mut buffer = vec![0; 70_000];
    let mut next = || {
        let length = socket.recv(&mut buffer).unwrap();
        buffer[..length].to_vec()
    };
    assert_eq!(
        (
            event_in(&next())["n"].clone(),
            event_in(&next())["n"].clone()
        ),
        (json!(0), json!(1))
    );
    let cut = String::from_utf8(next()).unwrap();
    assert_eq!(cut.len(), 60_000);
    assert!(
        cut.contains("[agent-skills@32473 event_id=\"e\"]"),
        "{}",
        &cut[..200]
    );
}

#[test]
fn without_a_collector_the_next_step_is_said() {
    let host = Host::stdin();
    let said = host.fails(&["audit", "ship"]);
    assert!(said.contains("no collector is configured") && said.contains("config set audit.ship"));
    let refused = host.fails(&["config", "set", "audit.ship", "https://c.example/v1/logs"]);
    assert!(refused.contains("syslog+tls://HOST:PORT"), "{refused}");
    host.succeeds(&["config", "set", "audit.ship", "syslog+tls://127.0.0.1:1"]);
    host.succeeds(&["audit", "ship", "--dry-run"]);
}

#[test]
fn a_damaged_record_of_what_was_taken_is_not_guessed() {
    let (address, _arrived) = collector(&[Does::Takes]);
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..3);
    ship(&host);
    let is_it = |path: &Path| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("shipped-")
    };
    let mut files = fs::read_dir(host.plugin_dir())
        .unwrap()
        .map(|it| it.unwrap().path());
    fs::write(files.find(|path| is_it(path)).unwrap(), "{").unwrap();
    let said = host.fails(&["audit", "ship"]);
    assert!(
        said.contains("shipped-") && said.contains("hint: remove it"),
        "{said}"
    );
}
