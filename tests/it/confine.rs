//! `confine`: a command that stays the caller's own, except for what its skill's sandbox closes.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::Host;
use crate::host::Has;

/// A host with the skill `s`, and the command of `words` confined for it; `None`, and said so, if
/// this kernel cannot confine.
fn confined(more: &str) -> Option<Host> {
    let host = Host::stdin().skill("s", more, "");
    let ran = host.person(&["confine", "--skill", &skill(&host), "--", "true"]);
    if !ran.stderr.is_empty() {
        println!("passed over: this kernel cannot confine: {}", ran.stderr);
        return None;
    }
    Some(host)
}

fn skill(host: &Host) -> String {
    host.skills_dir().join("s").display().to_string()
}

/// As an agent's shell runs a wrapped command.
fn wrapped(host: &Host, text: &str) -> Command {
    let mut command = host.command();
    let project = host.project().to_str().unwrap();
    command.args(["confine", "--skill", &skill(host), "--project", project]);
    command.args(["--", "sh", "-c", text]);
    command
}

/// The output of such a command.
fn output(host: &Host, text: &str) -> String {
    let output = wrapped(host, text).output().unwrap();
    let both = [output.stdout, output.stderr].concat();
    String::from_utf8(both).unwrap()
}

#[test]
fn a_confined_command_reaches_what_a_script_does() {
    let Some(host) = confined("") else { return };
    std::fs::write(host.home().join("secret"), "key").unwrap();
    std::fs::create_dir(host.home().join("other")).unwrap();
    output(&host, "cat ~/secret").has("Permission denied");
    output(&host, "echo x > ~/other/x").has("denied");
    let name = format!("sed -n 2p '{}/SKILL.md'", skill(&host));
    assert_eq!(output(&host, &name), "name: s\n");
    assert_eq!(output(&host, "echo it > 'a b'; cat 'a b'"), "it\n");
    assert_eq!(output(&host, "echo kept > \"$TMPDIR\"/x"), "");
    // The next command of the skill finds it.
    assert_eq!(output(&host, "cat \"$TMPDIR\"/x"), "kept\n");
}

#[test]
fn a_confined_command_is_the_callers_own_otherwise() {
    let Some(host) = confined("") else { return };
    let mut command = wrapped(&host, "cat; echo err >&2; pwd; echo \"$OF_MINE\"; exit 7");
    let sub = host.project().join("sub dir");
    std::fs::create_dir(&sub).unwrap();
    command.env("OF_MINE", "API_TOKEN").current_dir(&sub);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"in\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let expected = format!("in\n{}\nAPI_TOKEN\n", sub.display());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    assert_eq!(output.stderr, b"err\n");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn signals_reach_a_confined_command_itself() {
    let Some(host) = confined("") else { return };
    let mut command = host.command();
    command.args(["confine", "--skill", &skill(&host), "--"]);
    command.args(["sh", "-c", "echo $$; exec sleep 60"]);
    let mut child = command.spawn().unwrap();
    let mut first = [0; 16];
    let read = child.stdout.as_mut().unwrap().read(&mut first).unwrap();
    let shown = String::from_utf8_lossy(&first[..read]).trim().to_owned();
    // It is the process that was started, not a child of it.
    assert_eq!(shown, child.id().to_string());
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    // A broken pipe ends it quietly, as it would without us.
    let endless = output(&host, "yes | head -n 1; echo \"$?\"");
    assert_eq!(endless, "y\n0\n");
}

#[test]
fn the_settings_of_the_skill_hold_for_its_commands() {
    let Some(host) = confined("execution: {network: restricted}") else {
        return;
    };
    let connect = "bash -c ': < /dev/tcp/127.0.0.1/1'";
    output(&host, connect).has("not permitted");
    let allowed = host.home().join("allowed");
    std::fs::create_dir(&allowed).unwrap();
    let write = format!("echo x > {}/x", allowed.display());
    output(&host, &write).has("denied");
    let config = format!(
        "[skills.s]\nallowed_paths = [{:?}]\n",
        allowed.display().to_string()
    );
    host.config(config);
    assert_eq!(output(&host, &write), "");
}

#[test]
fn what_cannot_be_confined_does_not_run() {
    let host = Host::stdin().skill("s", "", "");
    let dir = skill(&host);
    for (words, why) in [
        (
            &["--skill", "no", "--", "touch", "ran"][..],
            "cannot be read",
        ),
        (
            &["--skill", &dir, "--", "no-such-program"],
            "was not found on PATH",
        ),
        (&["--skill", &dir, "--"], "required"),
        (&["--skill", &dir, "touch", "ran"], "unexpected"),
    ] {
        let ran = host.person(&[&["confine"], words].concat());
        assert!(ran.status != 0 && ran.stderr.contains(why), "{ran:?}");
    }
    let broken = "[skills.s]\nsandbox = \"maybe\"\n";
    host.config(broken);
    let ran = host.person(&["confine", "--skill", &dir, "--", "touch", "ran"]);
    assert!(ran.status == 1 && ran.stderr.contains("`maybe`"), "{ran:?}");
    assert!(!host.project().join("ran").exists());
}

#[test]
fn a_dry_run_and_a_tool_confine_nothing() {
    let host = Host::stdin().skill("s", "", "");
    let line = format!("confine --skill {} -- touch ran", skill(&host));
    let words: Vec<&str> = std::iter::once("--dry-run")
        .chain(line.split(' '))
        .collect();
    let ran = host.person(&words);
    assert_eq!(
        (ran.stdout.as_str(), ran.status),
        ("would run, confined: touch ran\n", 0)
    );
    host.tool("agent-skills", &json!({ "args": line }))
        .has("not by this tool");
    assert!(!host.project().join("ran").exists());
}
