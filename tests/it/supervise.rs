//! `__supervise`, by which the program starts itself beside a script, is of use to nobody else.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::Host;

/// What the plugin sends: touch `file`, with no input.
fn order(file: &Path) -> Vec<u8> {
    let word = |word: &str| word.as_bytes().to_vec();
    let script = format!("echo ran > '{}'", file.display());
    let order = json!([
        {
            "program": word("/bin/sh"),
            "args": [word("sh"), word("-c"), word(&script)],
            "env": [],
            "workdir": {"Unix": word("/")},
            "sandbox": null,
        },
        {"limit": {"secs": 20, "nanos": 0}, "at_once": false, "host": null},
    ]);
    let order = order.to_string().into_bytes();
    let lengths = [order.len(), 0].map(usize::to_le_bytes);
    [lengths.concat(), order].concat()
}

fn supervisor(host: &Host, lifeline: UnixStream) -> Command {
    let mut command = host.command();
    command.arg("__supervise").stdin(OwnedFd::from(lifeline));
    command
}

#[test]
fn a_supervisor_obeys_a_lifeline_that_is_open() {
    let host = Host::stdin();
    let file = host.home().join("ran");
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(&order(&file)).unwrap();
    let mut child = supervisor(&host, theirs).spawn().unwrap();
    let mut reports = String::new();
    ours.read_to_string(&mut reports).unwrap();
    assert!(child.wait().unwrap().success() && file.exists());
    let reports: Vec<&str> = reports.lines().collect();
    assert!(
        matches!(reports[..], [start, end] if start.contains("Started") && end.contains("Ended")),
        "{reports:?}"
    );
}

#[test]
fn no_script_begins_once_the_lifeline_is_closed() {
    let host = Host::stdin();
    let file = host.home().join("ran");
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(&order(&file)).unwrap();
    drop(ours);
    let status = supervisor(&host, theirs).status().unwrap();
    assert!(status.success() && !file.exists());
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(&order(&file)[..100]).unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    let status = supervisor(&host, theirs).status().unwrap();
    assert!(!status.success() && !file.exists());
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_lifeline_the_verb_is_unknown() {
    let host = Host::stdin();
    let file = host.home().join("ran");
    let order = order(&file);
    fs::write(host.home().join("order"), &order).unwrap();
    let refused = |command: &mut Command, what: &str| {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{what}: {said}");
        assert!(said.contains("unrecognized subcommand"), "{what}: {said}");
        assert!(!file.exists(), "{what}");
    };
    let with = |stdin: Stdio| {
        let mut command = host.command();
        command.arg("__supervise").stdin(stdin);
        command
    };
    refused(&mut with(Stdio::null()), "nothing");
    let from_file = fs::File::open(host.home().join("order")).unwrap();
    refused(&mut with(from_file.into()), "a file");
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&order).unwrap();
    refused(&mut with(reader.into()), "a pipe");
    let more = host.person(&["__supervise", "more"]);
    assert_eq!(more.status, 2);
}

#[test]
fn nobody_is_told_of_the_verb() {
    let host = Host::stdin();
    for words in [
        &["--help"][..],
        &["completions", "bash"],
        &["man"],
        &["--schema"],
    ] {
        let ran = host.person(words);
        assert!(!ran.stdout.contains("supervise"), "{words:?}");
    }
    let text = host.tool("agent-skills", &json!({"args": ["__supervise"]}));
    assert!(text.starts_with("Error: "), "{text}");
}
