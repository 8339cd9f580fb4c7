//! One way to fail: whatever ends a host's call, limits, lost descriptors, unreadable input, panics, its
//! answer is the one that keeps closed, in every hook and under both protocols.

use std::fmt::Debug;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Generation, Ran, finish};

/// Every hook of ours with data for which, while `careful` is active, a hook that decides must refuse; and one that
/// nobody knows.
pub fn calls() -> Vec<(&'static str, Value)> {
    let tool = json!({"tool_name": "shell_exec", "arguments": {"command": "ls"}});
    vec![
        ("pre_tool", tool.clone()),
        (
            "pre_shell_exec",
            json!({"tool_name": "shell_exec", "command": "ls"}),
        ),
        (
            "pre_file_write",
            json!({"tool_name": "write_file", "path": "x", "content": "y"}),
        ),
        (
            "pre_file_read",
            json!({"tool_name": "file_edit", "path": "x"}),
        ),
        (
            "pre_fetch_url",
            json!({"tool_name": "fetch_url", "url": "https://example.org"}),
        ),
        ("on_start", json!({})),
        ("on_end", json!({})),
        (
            "pre_message",
            json!({"context_name": "default", "prompt": "hello", "summary": ""}),
        ),
        ("post_system_prompt", json!({"context_name": "default"})),
        (
            "pre_api_tools",
            json!({"context_name": "default", "tools": []}),
        ),
        (
            "pre_tool_output",
            json!({"tool_name": "shell_exec", "arguments": {}, "output": "o"}),
        ),
        (
            "pre_cache_output",
            json!({"tool_name": "skill_careful", "arguments": {}}),
        ),
        ("post_tool_batch", json!({})),
    ]
}

pub fn decides(hook: &str) -> bool {
    hook == "pre_tool" || hook != "post_tool_batch" && calls()[1..5].iter().any(|one| one.0 == hook)
}

#[test]
fn every_hook_is_one_of_these() {
    let schema = Host::stdin().schema();
    for hook in schema[0]["hooks"].as_array().unwrap() {
        assert!(calls().iter().any(|call| hook == call.0), "{hook}");
    }
}

pub fn restricted() -> [Host; 2] {
    Host::both().map(|host| {
        let host = host.skill("careful", "allowed-tools: Read", "Careful.");
        host.activates("careful");
        host
    })
}

/// A refusal from a hook that decides, and one JSON value from any.
#[track_caller]
pub fn is_closed(hook: &str, ran: &Ran, how: &dyn Debug) {
    assert!(answers_closed(hook, ran), "{hook}, {how:?}: {ran:.600?}");
}

fn answers_closed(hook: &str, ran: &Ran) -> bool {
    let Ok(answer) = serde_json::from_str::<Value>(&ran.stdout) else {
        return false;
    };
    let refuses = match hook {
        "pre_tool" => answer["block"] == json!(true),
        hook if decides(hook) => answer["denied"] == json!(true),
        _ => answer.is_object(),
    };
    ran.status == 0 && refuses
}

/// The call as the host makes it, run by a shell that does `first`. The data that goes to standard input is
/// left to the caller.
fn through_shell(host: &Host, hook: &str, data: &Value, first: &str) -> (Command, Vec<u8>) {
    let mut command = host.surround(Command::new("sh"));
    // A pseudo-terminal that another test is just opening may have been inherited.
    let first = format!("exec 3>&- 4>&- 5>&- 6>&-\n{first}");
    command.args(["-c", &format!("{first}\nexec \"$0\" $2")]);
    command.arg(env!("CARGO_BIN_EXE_agent-skills"));
    tell(host, &mut command, hook, data)
}

pub fn tell(host: &Host, command: &mut Command, hook: &str, data: &Value) -> (Command, Vec<u8>) {
    let mut command = std::mem::replace(command, Command::new("true"));
    command.env("CHIBI_HOOK", hook);
    match host.generation() {
        Generation::Environment => {
            command.env("CHIBI_HOOK_DATA", data.to_string());
            (command, Vec::new())
        }
        Generation::Stdin => (command, data.to_string().into_bytes()),
    }
}

/// What a shell may take away from the call that it starts.
pub const LIMITS: [&str; 12] = [
    "ulimit -f 0",
    "ulimit -n 4",
    "ulimit -n 6",
    "ulimit -t 1",
    "ulimit -s 512",
    "ulimit -c 0; ulimit -l 0",
    "exec 0<&-",
    "exec 2>&-",
    "exec 0<&- 2>&-",
    "exec 2>/dev/full",
    "exec 0</",
    // Kept from the deadline, or so whoever started it thinks.
    "trap '' ALRM TERM INT HUP XCPU XFSZ USR1",
];

#[test]
fn limits_and_lost_descriptors_answer_closed_in_every_hook() {
    for host in restricted() {
        for (hook, data) in calls() {
            for way in LIMITS {
                let (mut command, stdin) = through_shell(&host, hook, &data, way);
                is_closed(hook, &finish(&mut command, &stdin), &way);
                if hook == "on_start" {
                    restricts_again(&host, &way);
                }
            }
        }
    }
}

/// A start that was cut short has ended the activations or has not; it leaves no record that only blocks.
#[track_caller]
pub fn restricts_again(host: &Host, how: &dyn Debug) {
    let answer = host.pre_tool("shell_exec", &json!({"command": "ls"}));
    let message = answer["message"].as_str().unwrap_or_default();
    assert!(
        answer == json!({}) || message.contains("`careful`"),
        "{how:?}: {answer}"
    );
    host.activates("careful");
}

/// Below what the program needs to be started there is nobody to answer; from the first answer on, every one is
/// closed. What decides is tried with every size, the other hooks with every eighth, each with others.
#[test]
#[cfg(target_os = "linux")]
fn however_little_memory_there_is_the_answer_is_closed() {
    for host in restricted() {
        for (number, (hook, data)) in calls().into_iter().enumerate() {
            let (first, step) = if decides(hook) {
                (0, 1)
            } else {
                (number % 8, 8)
            };
            for (option, unit, sizes) in [("v", 3072, 2..45), ("d", 96, 1..30), ("s", 32, 1..30)] {
                let mut has_started = false;
                for size in sizes.skip(first).step_by(step) {
                    let way = format!("ulimit -{option} {}", unit * size);
                    let (mut command, stdin) = through_shell(&host, hook, &data, &way);
                    let ran = finish(&mut command, &stdin);
                    has_started |= answers_closed(hook, &ran);
                    if has_started {
                        is_closed(hook, &ran, &way);
                    }
                    if hook == "on_start" {
                        restricts_again(&host, &way);
                    }
                }
                assert!(has_started, "{hook} {option}");
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_closed() {
    let [_, host] = restricted();
    let deep = format!(
        "{{\"tool_name\":\"shell_exec\",\"arguments\":{}",
        "[".repeat(1_000_000)
    );
    let long = format!(
        r#"{{"tool_name":"shell_exec","arguments":{{"command":"{}"}}}}"#,
        "a$(".repeat(2_000_000)
    );
    let dear = format!(
        r#"{{"tool_name":"shell_exec","command":"{}"}}"#,
        "x=$(a `b $((1+`c`)) ${d:-$(e)}` <<X\\n".repeat(1500)
    );
    for data in [
        "", "{", "null", "[]", "{} {}", "\0\0", "\u{fffd}", &deep, &long, &dear,
    ] {
        for (hook, _) in calls().into_iter().take(5) {
            let began = Instant::now();
            let ran = finish(
                host.command().env("CHIBI_HOOK", hook).stdin(Stdio::piped()),
                data.as_bytes(),
            );
            is_closed(hook, &ran, &&data[..data.len().min(60)]);
            assert!(
                began.elapsed() < Duration::from_secs(7),
                "{hook}: {data:.60}"
            );
        }
    }
}

/// Run by the test below in processes of their own.
#[test]
fn fails_when_asked_to() {
    let Ok(way) = std::env::var("AGENT_SKILLS_TEST_FAILS") else {
        return;
    };
    agent_skills::protocol::install_panic_hook();
    agent_skills::protocol::closed::prepare_early();
    if std::env::var_os("CHIBI_HOOK").is_none() && std::env::var_os("CHIBI_TOOL_NAME").is_none() {
        agent_skills::protocol::closed::Kind::Schema.prepare();
    }
    match way.as_str() {
        "overflow" => println!("{}", deeper(0)),
        "abort" => std::process::abort(),
        "memory" => drop(vec![1u8; 1 << 46]),
        "answered" => {
            agent_skills::protocol::Response::text("the answer").write();
            std::process::abort()
        }
        _ => {}
    }
    panic!("as asked");
}

#[allow(unconditional_recursion)]
fn deeper(depth: u64) -> u64 {
    std::hint::black_box(deeper(depth + 1) + depth)
}

#[test]
fn panics_aborts_and_exhausted_memory_and_stack_answer_closed() {
    let call = |way: &str, variable: &str, name: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "fail_closed::fails_when_asked_to", "--nocapture"]);
        // The test runner's own words come first.
        command.args(["--test-threads", "1", "--format", "terse"]);
        command
            .env("AGENT_SKILLS_TEST_FAILS", way)
            .env("RUST_BACKTRACE", "1");
        if !variable.is_empty() {
            command.env(variable, name);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut ran = finish(&mut command, b"");
        let runner = ran.stdout.find("test\n").map_or(0, |at| at + 5);
        ran.stdout.drain(..runner);
        ran
    };
    for way in ["panic", "overflow", "abort", "memory"] {
        for (hook, _) in calls() {
            is_closed(hook, &call(way, "CHIBI_HOOK", hook), &way);
        }
        let tool = call(way, "CHIBI_TOOL_NAME", "x");
        assert!(
            tool.status == 0 && tool.stdout.starts_with("Error: "),
            "{tool:?}"
        );
        let schema = call(way, "", "");
        let tools: Vec<Value> = serde_json::from_str(&schema.stdout).unwrap();
        assert_eq!(tools[0]["hooks"], Host::stdin().schema()[0]["hooks"]);
    }
    // Behind an answer nothing else is said.
    let answered = call("answered", "CHIBI_HOOK", "pre_tool");
    assert_eq!(
        (answered.stdout.as_str(), answered.status),
        ("the answer", 0)
    );
}

#[test]
fn a_restricted_skill_that_is_not_recorded_is_not_active() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "");
        let data = json!({"tool_name": "skill_careful", "arguments": {}});
        for way in ["ulimit -f 0", "ulimit -n 4"] {
            let (mut command, stdin) = through_shell(&host, "pre_tool", &data, way);
            is_closed("pre_tool", &finish(&mut command, &stdin), &way);
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_costs_no_answer() {
    for host in restricted() {
        let log = host.plugin_dir().join("audit.jsonl");
        let grown = fs::OpenOptions::new().append(true).open(&log).unwrap();
        grown.set_len(3_000_000).unwrap();
        for (hook, data) in calls().into_iter().filter(|call| decides(call.0)) {
            let (mut command, stdin) = through_shell(&host, hook, &data, "ulimit -f 1000");
            is_closed(
                hook,
                &finish(&mut command, &stdin),
                &"a log beyond the limit",
            );
        }
    }
}
