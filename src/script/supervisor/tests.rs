//! Nothing that a script starts is left, whatever ends it.

use crate::script::fixture::{Fixture, eventually};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Leaves three processes behind that write their ids: a plain child, one in a session of its
/// own, and a daemon whose parents are gone. All hold the script's output open.
const LITTER: &str = r#"
    left() { while [ ! -s "$1" ]; do sleep 0.01; done; }
    sleep 300 & echo $! > plain
    setsid bash -c 'echo $$ > session; exec sleep 300' &
    (setsid bash -c '(trap "" TERM HUP; echo $BASHPID > daemon; sleep 300; :) & disown' &)
    left session; left daemon
"#;

fn assert_all_gone(script: &Fixture) {
    for file in ["plain", "session", "daemon"] {
        assert!(!script.process(file).is_alive(), "{file}");
    }
}

#[test]
fn children_left_by_a_script_are_gone_and_hold_nothing_up() {
    let script = Fixture::bash(&format!("{LITTER}\necho done"));
    let outcome = script.run().unwrap();
    assert_eq!(outcome.text(), "done\n");
    assert!(outcome.duration < Duration::from_secs(10));
    assert_all_gone(&script);
}

#[test]
fn regression_7_a_time_out_ends_a_script_with_all_its_descendants() {
    let script = Fixture::bash(&format!("{LITTER}\necho $$ > own; echo ready; sleep 300"));
    let script = script.limit(2000);
    let outcome = script.run().unwrap();
    assert!(outcome.timed_out());
    assert!(
        outcome.text().starts_with("ready\ntimed out after 2 s"),
        "{}",
        outcome.text()
    );
    assert!(
        outcome.duration < Duration::from_secs(4),
        "{:?}",
        outcome.duration
    );
    assert_all_gone(&script);
    assert!(!script.process("own").is_alive());
}

#[test]
fn a_process_that_keeps_forking_itself_is_caught() {
    // Each generation ends as soon as the next one runs, in a group that is not the script's.
    let comet = r"setsid bash -c 'f() { echo $BASHPID >> trail; f & }; f' & sleep 0.3";
    let script = Fixture::bash(comet);
    let outcome = script.run().unwrap();
    assert!(!outcome.ended().unwrap().survivors);
    let trail = || std::fs::read(script.path("trail")).unwrap().len();
    let length = trail();
    assert!(length > 0);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(trail(), length);
}

#[test]
fn orphans_that_end_by_themselves_do_not_pile_up() {
    let orphans =
        "for i in $(seq 50); do (true &); done; sleep 0.2; cat /proc/$PPID/task/*/children";
    let outcome = Fixture::bash(orphans).run().unwrap();
    assert_eq!(
        outcome.text().split_whitespace().count(),
        1,
        "{}",
        outcome.text()
    );
}

#[test]
fn a_script_that_kills_its_supervisor_is_an_error_and_dies_with_it() {
    let script =
        Fixture::bash("echo $$ > own; sleep 300 & echo $! > child; kill -9 $PPID; sleep 300");
    let error = script.run().unwrap_err().to_string();
    assert!(error.contains("its supervisor was killed"), "{error}");
    for file in ["own", "child"] {
        let process = script.process(file);
        eventually("killed", || !process.is_alive());
    }
}

#[test]
fn other_signals_do_not_reach_the_supervisor() {
    let script = Fixture::bash("kill -TERM $PPID; kill -HUP $PPID; kill -INT $PPID; echo here");
    assert_eq!(script.run().unwrap().text(), "here\n");
}

/// Not a test by itself: the plugin that the next test kills.
#[test]
fn plugin_to_be_killed() {
    let Some(dir) = std::env::var_os("SCRIPT_TEST_PLUGIN") else {
        return;
    };
    let content = format!("cd '{}'\n{LITTER}\necho $$ > own; sleep 300", dir.display());
    Fixture::bash(&content).run().unwrap();
}

#[test]
fn when_the_plugin_is_killed_everything_it_ran_dies() {
    let script = Fixture::bash("");
    let mut plugin = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "script::supervisor::tests::plugin_to_be_killed"])
        .env("SCRIPT_TEST_PLUGIN", script.path(""))
        .env("TMPDIR", script.path(""))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let written = |file| std::fs::read(script.path(file)).is_ok_and(|id| id.ends_with(b"\n"));
    eventually("started", || written("own"));
    let processes = ["plain", "session", "daemon", "own"].map(|file| script.process(file));
    assert!(processes.iter().all(|process| process.is_alive()));
    plugin.kill().unwrap();
    // Its output ends with it: nothing that it started holds the pipe (HOST.md §7).
    plugin.wait_with_output().unwrap();
    for process in processes {
        eventually("killed", || !process.is_alive());
    }
}
