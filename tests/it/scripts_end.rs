//! `run_skill_script`: nothing that a script started outlives the call, however it ends.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Host;
use crate::scripts_basic::{run, with_script};

/// The process id that a script wrote into a file.
#[track_caller]
fn process_in(file: &Path) -> u32 {
    let text = patiently(|| fs::read_to_string(file).ok().filter(|t| t.ends_with('\n')));
    text.trim().parse().unwrap()
}

/// Whether a process runs; one that has ended and waits for its parent does not.
fn runs(pid: u32) -> bool {
    let state = if cfg!(target_os = "linux") {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')')
            .map_or(String::new(), |(_, rest)| rest.trim().to_owned())
    } else {
        let ps = Command::new("ps")
            .args(["-o", "stat=", "-p", &pid.to_string()])
            .output();
        String::from_utf8(ps.unwrap().stdout).unwrap()
    };
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// What `look` finds, for as long as a busy machine may need.
#[track_caller]
fn patiently<T>(look: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a script that is not waited for.
fn start(host: &Host, arguments: &Value) -> Child {
    let mut command = host.command();
    command.env("CHIBI_TOOL_NAME", "run_skill_script");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(arguments.to_string().as_bytes()).unwrap();
    child
}

#[test]
fn children_are_gone_when_the_script_has_ended() {
    let host = Host::stdin();
    // One in the background that keeps the pipe open, one with a session of its own.
    let script = "sleep 300 & echo $! > child\n\
                  setsid sh -c 'echo $$ > stray; exec sleep 300' >/dev/null 2>&1 &\n\
                  while [ ! -s stray ]; do sleep 0.01; done; echo done";
    let host = with_script(host, script);
    let began = Instant::now();
    assert_eq!(run(&host, "a.sh", json!({})), "done\n");
    assert!(began.elapsed() < Duration::from_secs(20));
    let dir = host.skills_dir().join("x");
    assert!(!runs(process_in(&dir.join("child"))));
    if cfg!(target_os = "linux") {
        assert!(!runs(process_in(&dir.join("stray"))));
    }
}

#[test]
fn everything_is_gone_after_a_time_out() {
    let host = Host::stdin();
    let script = "trap '' TERM INT HUP; echo $$ > script\n\
                  (trap '' TERM; sleep 300) & echo $! > child\n\
                  echo begun; while :; do sleep 300; done";
    let host = with_script(host, script);
    let began = Instant::now();
    let text = run(&host, "a.sh", json!({"timeout_secs": 1.5}));
    assert!(text.starts_with("begun\n"), "{text}");
    assert!(text.contains("\ntimed out after 1.5 s"), "{text}");
    assert!(began.elapsed() < Duration::from_secs(20));
    let dir = host.skills_dir().join("x");
    for file in ["script", "child"] {
        assert!(!runs(process_in(&dir.join(file))), "{file}");
    }
    for odd in [json!(0), json!(-1), json!("soon")] {
        let text = run(&host, "a.sh", json!({"timeout_secs": odd}));
        assert!(text.starts_with("Error: "), "{odd}: {text}");
    }
}

#[test]
fn a_killed_plugin_takes_the_script_and_its_children_down() {
    let host = Host::stdin();
    let script = "setsid sh -c 'echo $$ > stray; exec sleep 300' >/dev/null 2>&1 &\n\
                  while [ ! -s stray ]; do sleep 0.01; done\n\
                  echo $$ > script; sleep 300 & echo $! > child; wait";
    let host = with_script(host, script);
    let mut child = start(&host, &json!({"skill": "x", "script": "a.sh"}));
    let dir = host.skills_dir().join("x");
    let mut left = vec!["script", "child"];
    if cfg!(target_os = "linux") {
        left.push("stray");
    }
    let left: Vec<u32> = left
        .iter()
        .map(|file| process_in(&dir.join(file)))
        .collect();
    assert!(left.iter().all(|pid| runs(*pid)));
    // What the newer host does after 30 seconds: only this one process, and no grace.
    child.kill().unwrap();
    child.wait().unwrap();
    for pid in left {
        patiently(|| (!runs(pid)).then_some(()));
    }
    // Nobody holds our pipe either, which the host would wait for.
    let mut rest = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut rest)
        .unwrap();
    assert_eq!(rest, "");
}

#[test]
fn scripts_at_once_do_not_end_each_other() {
    let host = with_script(Host::stdin(), "sleep 300 & sleep 0.$1; echo done $1");
    std::thread::scope(|scope| {
        for n in 1..=4 {
            let host = &host;
            scope.spawn(move || {
                let text = run(host, "a.sh", json!({"args": [n.to_string()]}));
                assert_eq!(text, format!("done {n}\n"));
            });
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_host_takes_the_script_and_its_children_down() {
    let host = Host::stdin();
    let script = "setsid sh -c 'echo $$ > stray; exec sleep 300' >/dev/null 2>&1 &\n\
                  while [ ! -s stray ]; do sleep 0.01; done\n\
                  echo $$ > script; sleep 300 & echo $! > child; wait";
    let host = with_script(host, script);
    // The host is another process than this one: a shell that waits for us.
    let plugin = host.command();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 3<&0; \"$0\" <&3 & wait"]);
    shell.arg(plugin.get_program());
    shell.envs(
        plugin
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell.current_dir(plugin.get_current_dir().unwrap_or(Path::new("/")));
    let arguments = json!({"skill": "x", "script": "a.sh"}).to_string();
    shell.env("CHIBI_TOOL_NAME", "run_skill_script");
    let mut shell = shell
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    shell
        .stdin
        .take()
        .unwrap()
        .write_all(arguments.as_bytes())
        .unwrap();
    let dir = host.skills_dir().join("x");
    let left = ["script", "child", "stray"].map(|file| process_in(&dir.join(file)));
    assert!(left.iter().all(|pid| runs(*pid)));
    shell.kill().unwrap();
    shell.wait().unwrap();
    for pid in left {
        patiently(|| (!runs(pid)).then_some(()));
    }
}
