//! Kills of plugin and host at random instants: nothing remains but jobs whose id was
//! told. `KILLS` sets how many (1,000 before a release), `KILL_SEED` where the random numbers begin.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, wait};
use serde_json::{Value, json};

use crate::Host;
use crate::host::Generation;
use crate::host_process::HOST;
use crate::scripts::{RUN, job_id};

/// A number of the environment.
fn number(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap())
}

/// As `kills`, in a process that adopts every orphan, so that none can hide.
#[test]
fn kills_at_random_instants_leave_nothing() {
    if std::env::var_os("KILLS_HERE").is_some() {
        return kills();
    }
    let kills = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "script_kills::kills_at_random_instants_leave_nothing",
        ])
        .args(["--nocapture", "--test-threads=1"])
        .env("KILLS_HERE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&kills.stdout);
    println!("{said}");
    assert!(
        kills.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&kills.stderr)
    );
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Plugin,
    Host,
}

fn kills() {
    set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    let seed = number("KILL_SEED", 1);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let (mut hit, mut told) = ([0; 2], 0);
    let usual = usual();
    for round in 0..number("KILLS", 24) {
        let [stdin, environment] = Host::both();
        let host = if random(2) == 0 { stdin } else { environment };
        // A child in the script's group and one in a session of its own.
        let stray = "setsid sh -c 'exec sleep 300' > /dev/null 2>&1 &";
        let victim = if random(2) == 0 {
            Victim::Plugin
        } else {
            Victim::Host
        };
        let host = host
            .script(&format!("{stray} sleep 300 & echo $$ > own; wait"))
            .answers_after("0.02");
        let arguments = match random(3) {
            0 => json!({"timeout_secs": 0.2}),
            1 => json!({}),
            _ => json!({"background": true}),
        };
        let instant = Duration::from_micros(random(usual));
        let mut shell = call(&host, &arguments);
        std::thread::sleep(instant);
        let pids = descendants(std::process::id());
        let plugin = pids
            .iter()
            .find(|pid| runs(**pid, host.command().get_program()));
        // Before the plugin has begun, or when it has ended, its host is killed.
        let (victim, pid) = match plugin {
            Some(pid) if victim == Victim::Plugin => (victim, *pid),
            _ => (Victim::Host, shell.id()),
        };
        hit[victim as usize] += 1;
        kill(pid);
        shell.wait().unwrap();
        let case =
            format!("KILL_SEED={seed}, round {round}, {victim:?} after {instant:?}, {arguments}");
        let mut job = None;
        eventually(&case, || {
            // The plugin may answer after its host's end.
            let answer = fs::read_to_string(host.home().join("answer")).unwrap();
            if job.is_none() {
                job = job_id(&answer).inspect(|id| {
                    let text = host.tool(RUN, &json!({"job": id, "stop": true}));
                    assert!(!text.contains("there is no job"), "{case}: {text}");
                });
            }
            descendants(std::process::id()).is_empty()
        });
        told += u32::from(job.is_some());
    }
    let [plugin, hosts] = hit;
    println!("killed: plugin {plugin}, host {hosts}; jobs told: {told}");
}

/// How long a call takes whose script becomes a job, in microseconds.
fn usual() -> u64 {
    let host = Host::stdin().script("").answers_after("0.02");
    let began = Instant::now();
    let text = host.runs(&json!({"background": true}));
    assert!(job_id(&text).is_some(), "{text}");
    began.elapsed().as_micros().try_into().unwrap()
}

/// A call by a host that is a shell, with its answer in a file.
fn call(host: &Host, more: &Value) -> Child {
    let mut arguments = json!({"skill": "s", "script": "run.sh"});
    arguments
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let plugin = host.command();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 3<&0; \"$0\" <&3 & wait"]);
    shell.arg(plugin.get_program());
    let set = |(name, value): (_, Option<_>)| Some((name, value?));
    shell.envs(plugin.get_envs().filter_map(set));
    shell.current_dir(plugin.get_current_dir().unwrap_or(Path::new("/")));
    shell.env("CHIBI_TOOL_NAME", RUN);
    if host.generation() == Generation::Environment {
        shell.env("CHIBI_TOOL_ARGS", arguments.to_string());
    }
    let answer = fs::File::create(host.home().join("answer")).unwrap();
    let mut shell = shell
        .stdin(Stdio::piped())
        .stdout(answer)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = shell.stdin.take().unwrap();
    // A plugin that is told by variables may have ended already.
    let _ = stdin.write_all(arguments.to_string().as_bytes());
    shell
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    let _ = kill_process(pid, Signal::KILL);
}

/// All processes below one but simulated hosts.
fn descendants(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        for thread in fs::read_dir(format!("/proc/{parent}/task"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace() {
                let child = child.parse().unwrap();
                if command_line(child) != [b"sh\0-c\0", HOST.as_bytes(), b"\0"].concat() {
                    found.push(child);
                }
                parents.push(child);
            }
        }
    }
    found
}

fn command_line(pid: u32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// Whether a process is the plugin, which has no arguments.
fn runs(pid: u32, program: &std::ffi::OsStr) -> bool {
    let expected = [program.as_encoded_bytes(), b"\0"].concat();
    command_line(pid) == expected
}

#[track_caller]
fn eventually(case: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if condition() {
            return;
        }
        if Instant::now() > deadline {
            let left = descendants(std::process::id()).into_iter();
            let left: Vec<_> = left
                .map(|pid| String::from_utf8_lossy(&command_line(pid)).into_owned())
                .collect();
            panic!("{case}: left: {left:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
