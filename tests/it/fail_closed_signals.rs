//! One way to fail, by signals and in time: calls that wait or never end, hosts that cannot be told, and
//! what a started program has of our signals and of our deadline.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Host;
use crate::fail_closed::{calls, is_closed, restricted, restricts_again, tell};
use crate::host::{Generation, Ran, finish};

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
        // The handler of SIGTERM is the last but two.
        if caught.is_none_or(|mask| mask & (1 << 2) != 0) {
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

/// By number those that C libraries keep for themselves.
pub const SIGNALS: [&str; 24] = [
    "SEGV", "BUS", "ABRT", "FPE", "ILL", "SYS", "TRAP", "ALRM", "PROF", "XCPU", "INT", "TERM",
    "HUP", "QUIT", "XFSZ", "USR1", "USR2", "VTALRM", "PIPE", "STKFLT", "RTMIN", "32", "33", "34",
];

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
        for way in ["silent", "slow", "endless", "stopped"] {
            let (mut command, stdin) = plain(&host, hook, &data);
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            when_prepared(&child);
            let feeder = std::thread::spawn(move || match way {
                "silent" => std::thread::sleep(Duration::from_secs(6)),
                "slow" => {
                    while pipe.write_all(b" ").is_ok() {
                        std::thread::sleep(Duration::from_millis(500));
                    }
                }
                "endless" => {
                    while pipe.write_all(&[b' '; 4096]).is_ok() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
                _ => pipe.write_all(&stdin[..1]).unwrap_or_default(),
            });
            if way == "stopped" {
                send(&child, "STOP");
            }
            waiting.push((hook, way, child, feeder));
        }
    }
    std::thread::sleep(Duration::from_millis(5500).saturating_sub(began.elapsed()));
    for (hook, way, mut child, feeder) in waiting {
        if way == "stopped" {
            send(&child, "CONT");
        } else {
            assert!(
                child.try_wait().unwrap().is_some(),
                "{hook}, {way}: it still runs"
            );
        }
        is_closed(hook, &collected(child), &way);
        feeder.join().unwrap();
    }
}

/// A host that cannot be told waits, instead of going on.
#[test]
#[cfg(target_os = "linux")]
fn an_unwritable_refusal_holds_the_call_back() {
    for host in restricted() {
        for (hook, data) in calls().into_iter().take(5) {
            let lost = [">/dev/full", ">&-", "1</dev/null"];
            let ways = lost
                .into_iter()
                .flat_map(|lost| [(lost, false), (lost, true)]);
            for (lost, by_input) in ways {
                let mut command = host.surround(Command::new("sh"));
                // The shell is the host: it ends when its standard error does, which we read.
                let script =
                    format!("exec 3<&0; \"$0\" <&3 {lost} & echo $! >&2; read end <\"$1\"");
                let end = host.home().join(format!("end-{hook}"));
                let _ = fs::remove_file(&end);
                assert!(Command::new("mkfifo").arg(&end).status().unwrap().success());
                command
                    .args(["-c", &script, env!("CARGO_BIN_EXE_agent-skills")])
                    .arg(&end);
                command.env("CHIBI_HOOK", hook);
                if !by_input {
                    command.env("CHIBI_HOOK_DATA", data.to_string());
                }
                let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
                let mut input = child.stdin.take().unwrap();
                if by_input {
                    input.write_all(data.to_string().as_bytes()).unwrap();
                }
                drop(input);
                // Both write to it, in either order.
                let told = std::io::BufReader::new(child.stderr.take().unwrap());
                let told: Vec<String> = std::io::BufRead::lines(told)
                    .take(2)
                    .map(Result::unwrap)
                    .collect();
                assert!(
                    told.concat().contains("held back"),
                    "{hook} {lost}: {told:?}"
                );
                let pid = told
                    .iter()
                    .find(|line| line.parse::<u32>().is_ok())
                    .unwrap();
                let process = format!("/proc/{}", pid.trim());
                for signal in ["TERM", "ALRM", "HUP"] {
                    let _ = Command::new("kill")
                        .args([&format!("-{signal}"), pid.trim()])
                        .status();
                }
                std::thread::sleep(Duration::from_millis(20));
                assert!(fs::exists(&process).unwrap(), "{hook} {lost}: it left");
                fs::write(&end, "\n").unwrap();
                child.wait().unwrap();
                let until = Instant::now() + Duration::from_secs(5);
                while is_running(&process) {
                    assert!(Instant::now() < until, "{hook} {lost}: it stays");
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }
}

/// Where nobody reaps orphans, one that has ended is still listed.
fn is_running(process: &str) -> bool {
    let stat = fs::read_to_string(format!("{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// What this program does with signals is its own affair.
#[test]
#[cfg(target_os = "linux")]
fn a_script_has_no_signal_kept_from_it() {
    let script = "#!/bin/sh\ngrep SigBlk /proc/self/status\n";
    for host in Host::both() {
        let host = host.skill("x", "", "").file("x/scripts/a.sh", script);
        let call = json!({"skill": "x", "script": "scripts/a.sh"});
        let text = host.tool("run_skill_script", &call);
        assert!(text.contains("SigBlk:\t0000000000000000"), "{text}");
    }
}

/// Run by the test below in processes of their own.
#[test]
#[allow(unsafe_code)]
fn has_a_child_when_asked_to() {
    let Ok(generation) = std::env::var("AGENT_SKILLS_TEST_CHILD") else {
        return;
    };
    if generation == "parent" {
        agent_skills::protocol::closed::Kind::Hook(b"pre_tool").prepare();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "fail_closed_signals::has_a_child_when_asked_to",
            "--nocapture",
        ]);
        let status = child.env("AGENT_SKILLS_TEST_CHILD", "child").status();
        assert!(status.unwrap().success());
    }
    // SAFETY: it only asks, by stopping the timer.
    println!("{generation} has {} s left", unsafe { libc::alarm(0) });
}

/// A fork inherits no timer, and nothing here replaces its own process: this would fail if the deadline
/// became one that is inherited.
#[test]
fn a_program_that_a_call_starts_has_no_deadline() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "fail_closed_signals::has_a_child_when_asked_to",
        "--nocapture",
    ]);
    command
        .env("AGENT_SKILLS_TEST_CHILD", "parent")
        .stdin(Stdio::null());
    let ran = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), b"");
    assert!(ran.stdout.contains("child has 0 s left"), "{ran:?}");
    assert!(!ran.stdout.contains("parent has 0 s left"), "{ran:?}");
}
