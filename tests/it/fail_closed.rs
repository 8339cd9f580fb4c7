//! One way to fail: whatever ends a host's call, unreadable input, a panic, an abort, an exhausted
//! stack, its answer is the one that keeps closed, in every hook and under both protocols.

use std::fmt::Debug;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agent_skills::protocol::call_kind::CallKind;
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
    let hook = std::env::var("CHIBI_HOOK").ok();
    let has_tool = std::env::var_os("CHIBI_TOOL_NAME").is_some();
    let kind = match hook.as_deref().map(str::as_bytes) {
        None if !has_tool => CallKind::Schema,
        hook => CallKind::described(hook, false, has_tool),
    };
    kind.prepare();
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
