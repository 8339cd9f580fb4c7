//! A person at a terminal: a pseudo-terminal whose other end is the test.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use rustix::pty::{grantpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::Host;
use crate::host::Has;
use crate::repository::Hub;

/// Both ends of a new pseudo-terminal of an ordinary height.
pub fn terminal(width: u16) -> (File, File) {
    terminal_of(width, 24)
}

/// Both ends of a new pseudo-terminal: ours, and the program's. Neither is inherited by what another
/// test starts meanwhile.
pub fn terminal_of(width: u16, height: u16) -> (File, File) {
    // The standard library opens every file so that no child inherits it.
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_NOCTTY);
    let ours = options.open("/dev/ptmx").unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let path = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = options.open(path).unwrap();
    let size = Winsize {
        ws_row: height,
        ws_col: width,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size).unwrap();
    (ours, theirs)
}

/// Runs a command on a terminal that is wide enough for every line, types `answer`, and returns what
/// was shown and the status.
pub fn converse(command: &mut Command, answer: &str) -> (String, i32) {
    at_width(1000, command, answer)
}

/// The same on a terminal of `width` columns; 0 when it does not say.
pub fn at_width(width: u16, command: &mut Command, answer: &str) -> (String, i32) {
    on(terminal(width), command, answer)
}

/// The same on this terminal.
pub fn on((mut ours, theirs): (File, File), command: &mut Command, answer: &str) -> (String, i32) {
    // Typed before the start: the terminal repeats it before anything else, not somewhere in it.
    ours.write_all(answer.as_bytes()).unwrap();
    let end = || theirs.try_clone().unwrap();
    let mut child = command
        .stdin(end())
        .stdout(end())
        .stderr(end())
        .spawn()
        .unwrap();
    // The command holds copies of the program's end; without them its exit ends our reading.
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null());
    drop(theirs);
    let mut shown = Vec::new();
    // When the last program on a terminal has left, reading it is an error on Linux.
    let _ = ours.read_to_end(&mut shown);
    (
        String::from_utf8_lossy(&shown).into_owned(),
        child.wait().unwrap().code().unwrap(),
    )
}

/// Runs a command on a terminal; `meanwhile` happens while it asks, then `answer` is typed.
pub fn while_asked(command: &mut Command, meanwhile: impl FnOnce(), answer: &str) -> (String, i32) {
    let (mut ours, theirs) = terminal(0);
    let end = || theirs.try_clone().unwrap();
    command.stdin(end()).stdout(end()).stderr(end());
    let mut child = command.spawn().unwrap();
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null());
    drop(theirs);
    let (mut shown, mut byte) = (Vec::new(), [0]);
    while !shown.ends_with(b"[y/N] ") && ours.read(&mut byte).is_ok_and(|read| read == 1) {
        shown.extend(byte);
    }
    meanwhile();
    ours.write_all(answer.as_bytes()).unwrap();
    let _ = ours.read_to_end(&mut shown);
    (
        String::from_utf8_lossy(&shown).into_owned(),
        child.wait().unwrap().code().unwrap(),
    )
}

#[test]
fn an_install_shows_what_it_brings_and_asks() {
    let hub = Hub::new();
    hub.repository(
        "acme/skills",
        &[
            (
                "skills/pdf/SKILL.md",
                "---\nname: pdf\ndescription: Fills forms.\nallowed-tools: Read\n---\n",
            ),
            ("skills/pdf/scripts/fill.py", "print()\n"),
        ],
    );
    let host = hub.host();
    for (answer, status) in [("n\n", 1), ("\n", 1), ("what\n", 1), ("y\n", 0)] {
        let (shown, code) = converse(host.command().args(["install", "acme/pdf"]), answer);
        assert_eq!(code, status, "{answer:?}: {shown}");
        assert_eq!(host.skills_dir().join("pdf").exists(), status == 0);
    }
    host.succeeds(&["remove", "pdf"]);
    let (shown, code) = converse(host.command().args(["install", "--yes", "acme/pdf"]), "");
    assert!(
        code == 0 && !shown.contains("[y/N]") && shown.contains("scripts/fill.py"),
        "{shown}"
    );
}

#[test]
fn a_program_that_says_nothing_for_a_second_is_told_of() {
    let host = Host::stdin();
    let bin = host.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let git = bin.join("git");
    std::fs::write(&git, "#!/bin/sh\nsleep 1.5\necho fatal: no >&2\nexit 128\n").unwrap();
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let show = ["show", "https://git.example.com/a/b.git"];
    let (shown, code) = converse(host.command().args(show).env("PATH", &path), "");
    assert!(code == 1 && shown.contains("git: 1 s"), "{shown}");
    let (shown, _) = converse(
        host.command()
            .args(show)
            .env("PATH", &path)
            .env("TERM", "dumb"),
        "",
    );
    assert!(!shown.contains('\x1b') && !shown.contains("1 s"), "{shown}");
}

#[test]
fn no_call_waits_for_a_terminal() {
    let host = Host::stdin().skill("x", "", "body");
    for vars in [
        [("CHIBI_HOOK", "pre_tool"), ("A", "")],
        [("CHIBI_TOOL_NAME", "skill_x"), ("A", "")],
        [("CHIBI_TOOL_NAME", "skill_x"), ("CHIBI_TOOL_ARGS", "{}")],
        [("CHIBI_HOOK", "pre_tool"), ("CHIBI_HOOK_DATA", "{}")],
    ] {
        let (_, code) = converse(host.command().envs(vars), "");
        assert_eq!(code, 0);
    }
}

#[test]
fn a_new_skill_is_asked_for_what_no_flag_says() {
    let host = Host::stdin();
    let answers = "Fills forms. Use when there is one.\nsh\ny\n";
    let (shown, code) = converse(host.command().args(["new", "pdf"]), answers);
    assert_eq!(code, 0, "{shown}");
    let text = std::fs::read_to_string(host.project().join("pdf/SKILL.md")).unwrap();
    text.has("description: Fills forms. Use when there is one.\nallowed-tools: Read Grep\n");
    let flags = [
        "new",
        "third",
        "--description",
        "D when.",
        "--script",
        "js",
        "--restrict=Read",
    ];
    let (shown, code) = converse(host.command().args(flags), "");
    assert!(code == 0 && !shown.contains('?'), "{shown}");
}
