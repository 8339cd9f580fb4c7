//! `audit ship` against collectors that stand in for those of OpenTelemetry.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::Host;
use crate::shipping::{configured, ship, write};

/// A request as a stand-in for an OTLP collector got it.
struct Request {
    head: String,
    body: Value,
}

impl Request {
    fn records(&self) -> &Vec<Value> {
        let logs = &self.body["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
        logs.as_array().unwrap()
    }

    fn numbers(&self) -> Vec<String> {
        let of = |record: &Value| {
            attribute(record, "agent_skills.n")["intValue"]
                .as_str()
                .map(str::to_owned)
        };
        self.records().iter().filter_map(of).collect()
    }
}

fn attribute(record: &Value, name: &str) -> Value {
    let mut all = record["attributes"].as_array().unwrap().iter();
    let found = all.find(|it| it["key"] == name);
    found.map_or(Value::Null, |it| it["value"].clone())
}

/// Answers each request as `answers` says: a status and a body.
fn otlp(
    answers: impl Fn(usize, &Request) -> (u16, String) + Send + 'static,
) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("otlp+http://{}/v1/logs", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let request = read(&stream);
            let (status, body) = answers(at, &request);
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
            .unwrap();
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (address, receiver)
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let head = head.to_ascii_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)
        .unwrap()
        .split("\r\n")
        .next()
        .unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Request {
        head,
        body: serde_json::from_slice(&body).unwrap(),
    }
}

#[test]
fn an_otlp_collector_gets_logs_by_the_conventions() {
    let (address, arrived) = otlp(|_, _| (200, "{}".to_owned()));
    let host = Host::stdin().skill("pdf", "allowed-tools: Read", "");
    fs::write(host.plugin_dir().join("headers"), "X-Key: secret\n").unwrap();
    let text = format!("[audit]\nship = [{address:?}]\nheaders = \"headers\"\n");
    fs::write(host.plugin_dir().join("config.toml"), text).unwrap();
    host.activates("pdf");
    host.blocks("shell_exec", &json!({"command": "ls"}));
    // What a user has in their own `.curlrc` does not steer it.
    fs::write(host.home().join(".curlrc"), "header = \"X-Own: yes\"\n").unwrap();
    let (status, mut said) = ship(&host);
    said["notes"].take();
    assert_eq!(
        (status, said),
        (
            0,
            json!({"to": address, "sent": 2, "confirmed": true, "again": 0, "lost": 0,
                   "waiting": 0, "notes": null, "error": null, "hint": null})
        )
    );
    let request = arrived.recv().unwrap();
    assert!(
        request.head.contains("\r\nx-key: secret\r\n") && request.head.contains("application/json")
    );
    let [activated, refused] = &request.records()[..] else {
        panic!()
    };
    assert!(!request.head.contains("x-own"), "{}", request.head);
    assert_eq!(activated["eventName"], "agent_skills.activate");
    assert_eq!(
        attribute(activated, "gen_ai.skill.name"),
        json!({"stringValue": "pdf"})
    );
    assert_eq!(
        attribute(activated, "gen_ai.agent.name"),
        json!({"stringValue": "chibi"})
    );
    assert_eq!(
        attribute(activated, "gen_ai.conversation.id"),
        json!({"stringValue": "named:host"})
    );
    assert_eq!(
        (&refused["severityNumber"], &refused["body"]["stringValue"]),
        (&json!(13), &json!("tool pdf shell_exec blocked"))
    );
    assert!(
        refused["timeUnixNano"]
            .as_str()
            .unwrap()
            .ends_with("000000")
    );
}

#[test]
fn what_an_otlp_collector_refuses_is_told() {
    let poisoned = |request: &Request| request.numbers().contains(&"7".to_owned());
    let (address, arrived) = otlp(move |at, request| match at {
        0 => (503, "{}".to_owned()),
        1 => (401, "{}".to_owned()),
        _ if poisoned(request) => (400, r#"{"message": "no sevens"}"#.to_owned()),
        _ if request.numbers().is_empty() => (200, String::new()),
        _ => (
            200,
            r#"{"partialSuccess": {"rejectedLogRecords": "0"}}"#.to_owned(),
        ),
    });
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..20);
    for (status, hint) in [("503", "check the address"), ("401", "audit.headers")] {
        let ran = host.person(&["audit", "ship"]);
        assert!(
            ran.status == 1 && ran.stdout.contains(status) && ran.stdout.contains(hint),
            "{ran:?}"
        );
    }
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["lost"]),
        (0, &json!(19), &json!(1))
    );
    let (_, said) = ship(&host);
    assert_eq!(said["sent"], 1, "that it was rejected");
    drop(host);
    let mut taken = BTreeSet::new();
    let mut last = None;
    while let Ok(request) = arrived.recv_timeout(Duration::from_millis(500)) {
        if !poisoned(&request) {
            taken.extend(request.numbers());
        }
        last = Some(request);
    }
    assert_eq!(taken.len(), 19);
    let record = &last.unwrap().records()[0].clone();
    assert_eq!(record["eventName"], "agent_skills.rejected");
    assert!(
        attribute(record, "agent_skills.by")["stringValue"]
            .as_str()
            .unwrap()
            .contains("no sevens")
    );
}

#[test]
fn a_collector_that_refuses_everything_loses_nothing() {
    let takes = Arc::new(AtomicBool::new(false));
    let taking = Arc::clone(&takes);
    let (address, _arrived) = otlp(move |_, _| {
        let status = if taking.load(Ordering::SeqCst) {
            200
        } else {
            400
        };
        (status, String::new())
    });
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..40);
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["lost"], &said["waiting"]),
        (1, &json!(0), &json!(40))
    );
    assert!(said["error"].as_str().unwrap().contains("status 400"));
    takes.store(true, Ordering::SeqCst);
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["again"]),
        (0, &json!(40), &json!(0))
    );
}

#[test]
fn a_page_that_is_no_answer_of_a_collector_takes_nothing() {
    let (address, _arrived) = otlp(|at, _| {
        let bodies = ["<html>Sign in</html>", "[]", "null", "{\"x\": ", " \n"];
        (200, (*bodies.get(at).unwrap_or(&"")).to_owned())
    });
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..3);
    for _ in 0..4 {
        let (status, said) = ship(&host);
        assert_eq!(
            (status, &said["sent"], &said["waiting"]),
            (1, &json!(0), &json!(3))
        );
        assert!(
            said["error"].as_str().unwrap().contains("no collector"),
            "{said}"
        );
    }
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["again"]),
        (0, &json!(3), &json!(3))
    );
}

#[test]
fn what_tells_of_rejected_events_breeds_no_more_of_them() {
    let (address, _arrived) = otlp(|at, _| {
        let all = r#"{"partialSuccess": {"rejectedLogRecords": "18446744073709551615"}}"#;
        (if at < 3 { 200 } else { 400 }, all.to_owned())
    });
    let host = configured(Host::stdin(), &[&address]);
    write(&host, 0..3);
    let told = || {
        let log = fs::read_to_string(host.plugin_dir().join("audit.jsonl")).unwrap();
        let lines = log
            .lines()
            .filter(|line| line.contains("\"event\":\"rejected\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["sent"], &said["lost"]),
        (0, &json!(0), &json!(3))
    );
    assert!(
        told().len() == 1 && told()[0].contains("\"events\":3"),
        "{:?}",
        told()
    );
    let (status, said) = ship(&host);
    assert_eq!(
        (status, &said["lost"], &said["waiting"]),
        (1, &json!(1), &json!(0))
    );
    assert!(
        said["error"].as_str().unwrap().contains("rejects"),
        "{said}"
    );
    assert_eq!((ship(&host).0, told().len()), (0, 1));
    // The same if it says so of a whole request.
    write(&host, 3..4);
    ship(&host);
    for _ in 0..3 {
        assert_eq!((ship(&host).0, told().len()), (1, 2));
    }
}
