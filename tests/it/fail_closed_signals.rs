//! One way to fail, by signals and in time: calls that wait or never end.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Host;
use crate::fail_closed::{calls, is_closed, restricted, restricts_again, tell};
use crate::host::{Generation, Ran};

fn plain(host: &Host, hook: &str, data: &Value) -> (Command, Vec<u8>) {
    tell(host, &mut host.command(), hook, data)
}

/// Waits until the program has taken its signals.
pub fn when_prepared(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // The handler of SIGTERM is the last.
        if caught.is_none_or(|mask| mask & 1 << 14 != 0) {
            return;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    panic!("it did not start");
}

pub fn send(child: &Child, signal: &str) {
    let mut kill = Command::new("kill");
    kill.args([&format!("-{signal}"), &child.id().to_string()]);
    // It may have answered already.
    let _ = kill.stderr(Stdio::null()).status();
}

pub fn collected(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        status: output.status.code().unwrap_or(-1),
    }
}

pub const SIGNALS: [&str; 4] = ["SEGV", "ABRT", "ALRM", "TERM"];

#[test]
#[cfg(target_os = "linux")]
fn every_signal_is_answered_closed() {
    for host in restricted() {
        for (hook, data) in calls() {
            for signal in SIGNALS {
                let (mut command, stdin) = plain(&host, hook, &data);
                let waits = host.generation() == Generation::Stdin;
                if waits {
                    command.stdin(Stdio::piped());
                }
                let mut child = command.spawn().unwrap();
                let pipe = child.stdin.take();
                // Under the older protocol nothing is waited for: it is hit wherever it is.
                when_prepared(&child);
                send(&child, signal);
                // What does not end it leaves it to its work.
                if let Some(mut pipe) = pipe {
                    let _ = pipe.write_all(&stdin);
                }
                is_closed(hook, &collected(child), &signal);
                if hook == "on_start" {
                    restricts_again(&host, &signal);
                }
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn endless_input_and_endless_calls_are_answered_in_time() {
    let [_, host] = restricted();
    let began = Instant::now();
    let mut waiting = Vec::new();
    for (hook, data) in calls().into_iter().take(5) {
        for way in ["silent", "endless"] {
            let (mut command, _) = plain(&host, hook, &data);
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            when_prepared(&child);
            let feeder = std::thread::spawn(move || match way {
                "silent" => std::thread::sleep(Duration::from_secs(6)),
                _ => {
                    while pipe.write_all(&[b' '; 4096]).is_ok() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            });
            waiting.push((hook, way, child, feeder));
        }
    }
    std::thread::sleep(Duration::from_millis(5500).saturating_sub(began.elapsed()));
    for (hook, way, mut child, feeder) in waiting {
        assert!(
            child.try_wait().unwrap().is_some(),
            "{hook}, {way}: it still runs"
        );
        is_closed(hook, &collected(child), &way);
        feeder.join().unwrap();
    }
}
