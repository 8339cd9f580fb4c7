//! Nothing that a script starts remains, however the script ends.

use super::*;
use crate::script::fixture::{Fixture, eventually};
use std::process::Stdio;

/// Leaves three processes behind that write their ids: a plain child, one in its own session, and a
/// daemon whose parents are gone. All hold the script's output open.
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
fn regression_7_a_time_out_ends_all_descendants() {
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
fn a_script_ends_with_the_host_but_a_job_does_not() {
    let host = || Command::new("sleep").arg("300").spawn().unwrap();
    let run_beside = |script: &mut Fixture, host: &std::process::Child| {
        script.host = Some(crate::sys::process::ProcessId::from_pid(host.id()));
    };
    let mut killed = host();
    let mut script = Fixture::bash(&format!("{LITTER}\necho $$ > own; sleep 300"));
    run_beside(&mut script, &killed);
    let outcome = std::thread::scope(|scope| {
        let ran = scope.spawn(|| script.run().unwrap());
        let written = |file| std::fs::read(script.path(file)).is_ok_and(|id| id.ends_with(b"\n"));
        eventually("started", || written("own"));
        killed.kill().unwrap();
        ran.join().unwrap()
    });
    assert!(outcome.ended().unwrap().stopped);
    assert!(outcome.duration < Duration::from_secs(15));
    assert_all_gone(&script);
    killed.wait().unwrap();
    assert!(
        script
            .run()
            .unwrap_err()
            .to_string()
            .contains("the host is gone")
    );

    let mut killed = host();
    let mut script = Fixture::bash("while [ ! -e go ]; do sleep 0.01; done; echo done").wait(0);
    run_beside(&mut script, &killed);
    let id = script.start().job().unwrap().to_string();
    killed.kill().unwrap();
    killed.wait().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    std::fs::write(script.path("go"), "").unwrap();
    let job = script.jobs().find(&id, "session:test").unwrap();
    job.wait(Instant::now() + Duration::from_secs(10)).unwrap();
    assert_eq!(job.unseen_output().unwrap().exit_code(), Some(0));
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

/// Not a test itself: the plugin that the next test kills.
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
        .args(["--exact", "script::task::tests::plugin_to_be_killed"])
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
    // Its output ends with it: nothing that it started holds the pipe open
    // (docs/hosts.md#time-limits).
    plugin.wait_with_output().unwrap();
    for process in processes {
        eventually("killed", || !process.is_alive());
    }
}

#[test]
fn long_preparation_is_not_a_lost_supervisor() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["-c", "exit 3"].map(std::ffi::OsString::from);
    let process = ProcessSpec::new("/bin/sh".as_ref(), args, None, dir.path()).unwrap();
    let task = Task {
        process: &process,
        label: "script.sh",
        skill: None,
        stdin: &[],
        id: &JobId::random().unwrap(),
        limits: &RunLimits {
            limit: Duration::from_secs(5),
            wait: None,
            jobs: Jobs::new(dir.path().to_owned()),
            owner: "session:test".to_owned(),
            host: None,
        },
        began: Instant::now().checked_sub(Duration::from_mins(1)).unwrap(),
    };
    assert_eq!(task.run().unwrap().outcome.exit_code(), Some(3));
}
