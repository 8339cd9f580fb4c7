//! One way to fail, where nothing is decided: a tool call answers with an error, `--schema` with a tool that keeps the
//! hooks, and a hook whose answer cannot be written says so by its status.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::Host;
use crate::fail_closed::{calls, decides, restricted, tell};
use crate::fail_closed_signals::{SIGNALS, collected, send, when_prepared};
use crate::host::{Generation, Has, Ran, finish};

/// The call of a tool, or `--schema`; and what goes to standard input.
fn called(host: &Host, tool: Option<&str>) -> (Command, Vec<u8>) {
    let mut command = host.command();
    if tool.is_none() {
        command.arg("--schema");
    }
    let mut stdin = Vec::new();
    if let Some(tool) = tool {
        let arguments = json!({"skill": "careful", "path": "SKILL.md"}).to_string();
        command.env("CHIBI_TOOL_NAME", tool);
        match host.generation() {
            Generation::Environment => drop(command.env("CHIBI_TOOL_ARGS", arguments)),
            Generation::Stdin => stdin = arguments.into_bytes(),
        }
    }
    (command, stdin)
}

/// What the host can read: one text, which is the file or an error, or a schema that keeps every hook.
#[track_caller]
fn answers(host: &Host, tool: Option<&str>, ran: &Ran, how: &str) {
    let is_answer = match tool {
        Some(_) => ran.stdout.starts_with("Error: ") || ran.stdout.contains("careful"),
        None => serde_json::from_str::<Value>(&ran.stdout)
            .is_ok_and(|tools| tools[0]["hooks"] == host.schema()[0]["hooks"]),
    };
    assert!(is_answer && ran.status == 0, "{tool:?}, {how}: {ran:.600?}");
}

const TOOLS: [Option<&str>; 3] = [Some("read_skill_file"), Some("skill_careful"), None];

#[test]
#[cfg(target_os = "linux")]
fn signals_leave_a_tool_call_its_answer() {
    for host in restricted() {
        for tool in TOOLS {
            for signal in SIGNALS {
                let (mut command, stdin) = called(&host, tool);
                command.stdin(Stdio::piped());
                let mut child = command.spawn().unwrap();
                let mut pipe = child.stdin.take().unwrap();
                when_prepared(&child);
                send(&child, signal);
                let _ = pipe.write_all(&stdin);
                drop(pipe);
                answers(&host, tool, &collected(child), signal);
            }
        }
    }
}

/// Nothing may be taken from such a status: the host goes on without the hook.
#[test]
#[cfg(target_os = "linux")]
fn a_lost_answer_that_decides_nothing_is_a_status() {
    for host in restricted() {
        for (hook, data) in calls().into_iter().filter(|call| !decides(call.0)) {
            let mut command = host.surround(Command::new("sh"));
            command.args(["-c", "exec \"$0\" >/dev/full"]);
            command.arg(env!("CARGO_BIN_EXE_agent-skills"));
            let (mut command, stdin) = tell(&host, &mut command, hook, &data);
            let ran = finish(&mut command, &stdin);
            assert_eq!(ran.status, 1, "{hook}: {ran:?}");
            ran.stderr.has("could not write the answer");
        }
    }
}
