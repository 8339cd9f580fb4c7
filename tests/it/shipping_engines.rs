//! `audit ship` against real collectors: rsyslogd by UDP, TCP and TLS, and a receiver that decodes with
//! OpenTelemetry's own messages. Where one is missing, its tests say so.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Host;

/// A process of ours, which ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn rsyslogd() -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let mut places = path.split(':').map(|dir| Path::new(dir).join("rsyslogd"));
    let found = places.find(|path| path.exists());
    if found.is_none() {
        println!("skipped: rsyslogd is not installed");
    }
    found
}

/// Runs a program, which must succeed.
fn run(dir: &Path, words: &str) {
    let mut words = words.split(' ');
    let mut command = Command::new(words.next().unwrap());
    let output = command.args(words).current_dir(dir).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// rsyslogd with these inputs, which writes to `out` in this directory.
fn start(program: &Path, dir: &Path, inputs: &str, tcp: u16) -> Running {
    let shown = dir.display();
    let text = format!(
        "global(workDirectory=\"{shown}\" maxMessageSize=\"64k\" \
         defaultNetstreamDriverCAFile=\"{shown}/ca.pem\" defaultNetstreamDriverCertFile=\"{shown}/s.pem\" \
         defaultNetstreamDriverKeyFile=\"{shown}/s.key\")\n{inputs}\n\
         template(name=\"t\" type=\"string\" string=\"%app-name% %msgid% %structured-data% %msg%\\n\")\n\
         action(type=\"omfile\" file=\"{shown}/out\" template=\"t\")\n"
    );
    let file = dir.join("rsyslog.conf");
    fs::write(&file, text).unwrap();
    let mut command = Command::new(program);
    command
        .arg("-n")
        .arg("-f")
        .arg(file)
        .arg("-i")
        .arg(dir.join("pid"));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let running = Running(command.spawn().unwrap());
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", tcp)).is_err() {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "rsyslogd does not listen"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    running
}

/// The lines of a file, once it has this many.
fn lines(file: &Path, count: usize) -> Vec<String> {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.lines().count() >= count || began.elapsed() > Duration::from_secs(20) {
            return text.lines().map(str::to_owned).collect();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn configured(audit: &str) -> Host {
    let host = Host::stdin().skill("pdf", "allowed-tools: Read", "");
    fs::write(
        host.plugin_dir().join("config.toml"),
        format!("[audit]\n{audit}\n"),
    )
    .unwrap();
    host.activates("pdf");
    for number in 0..30 {
        host.blocks(
            "shell_exec",
            &json!({"command": format!("echo \"{number}\" ] é")}),
        );
    }
    host
}

#[track_caller]
fn has_all(file: &Path) {
    let lines = lines(file, 31);
    assert_eq!(lines.len(), 31, "{lines:?}");
    assert!(
        lines[0].starts_with("agent-skills activate [agent-skills@32473 event_id=\""),
        "{}",
        lines[0]
    );
    for (number, line) in lines[1..].iter().enumerate() {
        let (head, event) = line.split_once("] {").unwrap();
        assert!(
            head.contains("decision=\"blocked\" by=\"pdf: no entry\""),
            "{head}"
        );
        let event: Value = serde_json::from_str(&format!("{{{event}")).unwrap();
        assert_eq!(
            event["arguments"]["command"],
            format!("echo \"{number}\" ] é")
        );
    }
}

#[test]
fn rsyslog_takes_datagrams_and_streams() {
    let Some(program) = rsyslogd() else { return };
    let port = free_port();
    for scheme in ["udp", "tcp"] {
        let dir = tempfile::tempdir().unwrap();
        let inputs = format!(
            "module(load=\"imtcp\") module(load=\"imudp\")\n\
             input(type=\"imtcp\" address=\"127.0.0.1\" port=\"{port}\")\n\
             input(type=\"imudp\" address=\"127.0.0.1\" port=\"{port}\")"
        );
        let running = start(&program, dir.path(), &inputs, port);
        let host = configured(&format!("ship = [\"syslog+{scheme}://127.0.0.1:{port}\"]"));
        assert!(host.succeeds(&["audit", "ship"]).contains("31 events sent"));
        has_all(&dir.path().join("out"));
        drop(running);
        host.blocks("shell_exec", &json!({"command": "ls"}));
        if scheme == "tcp" {
            // It is down, and comes back.
            assert_eq!(host.person(&["audit", "ship"]).status, 1);
            let _running = start(&program, dir.path(), &inputs, port);
            host.succeeds(&["audit", "ship"]);
            assert_eq!(lines(&dir.path().join("out"), 32).len(), 32);
        }
    }
}

#[test]
fn rsyslog_takes_tls_and_its_certificate_is_verified() {
    let Some(program) = rsyslogd() else { return };
    let has_gtls = ["/usr/lib", "/usr/lib64"].iter().any(|lib| {
        let within = fs::read_dir(lib).into_iter().flatten().flatten();
        let mut places = within.map(|it| it.path()).chain([PathBuf::from(lib)]);
        places.any(|place| place.join("rsyslog/lmnsd_gtls.so").exists())
    });
    if !has_gtls || Command::new("openssl").arg("version").output().is_err() {
        println!("skipped: rsyslog-gnutls or openssl is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    for command in [
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca",
        "openssl req -newkey rsa:2048 -nodes -keyout s.key -out s.csr -subj /CN=localhost",
        "openssl x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out s.pem -days 2 -extfile names",
    ] {
        run(dir.path(), command);
    }
    let port = free_port();
    let inputs = format!(
        "module(load=\"imtcp\" StreamDriver.Name=\"gtls\" StreamDriver.Mode=\"1\" StreamDriver.AuthMode=\"anon\")\n\
         input(type=\"imtcp\" address=\"127.0.0.1\" port=\"{port}\")"
    );
    let _running = start(&program, dir.path(), &inputs, port);
    let ca = dir.path().join("ca.pem");
    // Without its authority, and under a name that it has not.
    for (host, ca, why) in [
        ("localhost", None, "unable to get local issuer certificate"),
        ("127.0.0.1", Some(&ca), "IP address mismatch"),
    ] {
        let ca = ca.map_or(String::new(), |ca| format!("ca = {ca:?}"));
        let host = configured(&format!("ship = [\"syslog+tls://{host}:{port}\"]\n{ca}"));
        let ran = host.person(&["audit", "ship"]);
        assert!(ran.status == 1 && ran.stdout.contains(why), "{ran:?}");
        assert!(
            ran.stdout.contains("31 kept") && ran.stdout.contains("audit.ca"),
            "{ran:?}"
        );
    }
    let host = configured(&format!(
        "ship = [\"syslog+tls://localhost:{port}\"]\nca = {ca:?}"
    ));
    assert!(host.succeeds(&["audit", "ship"]).contains("31 events sent"));
    has_all(&dir.path().join("out"));
}

#[test]
fn opentelemetrys_own_messages_decode_what_is_sent() {
    let has_proto = Command::new("python3")
        .args(["-c", "import opentelemetry.proto, google.protobuf"])
        .stderr(Stdio::null())
        .status();
    if !has_proto.is_ok_and(|status| status.success()) {
        println!("skipped: opentelemetry-proto is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/otlp_receiver.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(&out).stdout(Stdio::piped());
    let mut running = Running(command.spawn().unwrap());
    let mut port = String::new();
    let stdout = running.0.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut port).unwrap();
    let host = configured(&format!(
        "ship = [\"otlp+http://127.0.0.1:{}/v1/logs\"]",
        port.trim()
    ));
    assert!(host.succeeds(&["audit", "ship"]).contains("31 events sent"));
    let lines = lines(&out, 31);
    assert_eq!(lines.len(), 31);
    let first: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(
        (&first["name"], &first["service"]),
        (&json!("agent_skills.activate"), &json!("agent-skills"))
    );
    assert!(first["time"].as_u64().unwrap() > 1_700_000_000_000_000_000);
    assert_eq!(first["fields"]["gen_ai.skill.name"]["stringValue"], "pdf");
    let last: Value = serde_json::from_str(&lines[30]).unwrap();
    let command = &last["fields"]["agent_skills.arguments"]["kvlistValue"]["values"][0];
    assert_eq!(command["value"]["stringValue"], "echo \"29\" ] é");
}
