//! The door in: which call is this, and what odd calls are answered.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, finish};

const NOT_OBJECTS: [&str; 8] = ["", "null", "[]", "[1,2]", "\"x\"", "3", "{", "\u{1}\u{0}"];

#[test]
fn odd_data_for_every_hook_is_one_json_value_and_no_panic() {
    let host = Host::stdin();
    for hook in [
        "on_start",
        "pre_message",
        "post_system_prompt",
        "pre_tool",
        "pre_api_tools",
        "pre_cache_output",
        "on_end",
        "x",
        "",
    ] {
        for data in NOT_OBJECTS.iter().filter(|data| !data.contains('\0')) {
            let answer = host.raw("hook", hook, data);
            assert!(
                serde_json::from_str::<Value>(&answer).is_ok(),
                "{hook} {data:?}: {answer}"
            );
        }
    }
}

#[test]
fn odd_arguments_for_every_tool_are_answered() {
    let host = Host::stdin().skill("x", "", "body");
    for tool in [
        "skill_marketplace",
        "read_skill_file",
        "run_skill_script",
        "skill_x",
        "nonsense",
        "",
    ] {
        for data in NOT_OBJECTS.iter().filter(|data| !data.contains('\0')) {
            let answer = host.raw("tool", tool, data);
            let activated = tool == "skill_x" && ["", "null"].contains(data);
            assert_eq!(
                answer.starts_with("Error: "),
                !activated,
                "{tool} {data:?}: {answer}"
            );
        }
    }
}

#[test]
fn schema_comes_first_and_tool_arguments_before_a_leaked_hook() {
    let host = Host::environment().skill("x", "", "body");
    let ran = finish(
        host.command()
            .arg("--schema")
            .env("CHIBI_TOOL_ARGS", "{}")
            .env("CHIBI_TOOL_NAME", "skill_x"),
        b"",
    );
    assert!(ran.stdout.starts_with("[{\"name\":\"skill_marketplace\""));
    let ran = finish(
        host.command()
            .env("CHIBI_TOOL_ARGS", "{}")
            .env("CHIBI_TOOL_NAME", "skill_x")
            .env("CHIBI_HOOK", "on_start")
            .env("CHIBI_HOOK_DATA", "{}"),
        b"",
    );
    ran.stdout.begins("<skill_content");
    let ran = finish(
        host.command()
            .env("CHIBI_HOOK", "")
            .env("CHIBI_TOOL_NAME", "skill_x"),
        b"{}",
    );
    assert_eq!(ran.stdout, "{}");
}

#[test]
fn the_older_protocol_waits_for_no_standard_input() {
    let host = Host::environment().skill("x", "", "body");
    for vars in [
        [("CHIBI_TOOL_NAME", "skill_x"), ("CHIBI_TOOL_ARGS", "{}")],
        [("CHIBI_HOOK", "pre_tool"), ("CHIBI_HOOK_DATA", "{}")],
    ] {
        let mut command = host.command();
        let mut child = command.envs(vars).stdin(Stdio::piped()).spawn().unwrap();
        // Held open: reading it would wait for ever.
        let held = child.stdin.take();
        assert!(child.wait().unwrap().success());
        drop(held);
    }
}

#[test]
fn an_open_pipe_on_the_newer_protocol_is_given_up_on() {
    let host = Host::stdin();
    let mut command = host.command();
    let mut child = command
        .env("CHIBI_HOOK", "pre_tool")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let held = child.stdin.take();
    let mut answer = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut answer)
        .unwrap();
    assert!(child.wait().unwrap().success());
    answer.has("\"block\":true");
    drop(held);
}

#[test]
fn large_standard_input_is_read_before_anything_is_written() {
    let host = Host::stdin().skill("x", "", &"body ".repeat(50_000));
    let arguments = json!({"arguments": "y".repeat(3_000_000)});
    let answer = host.tool("skill_x", &arguments);
    assert!(answer.len() > 3_000_000);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let host = Host::stdin().skill("x", "", &"body ".repeat(100_000));
    let mut command = host.command();
    let mut child = command
        .env("CHIBI_TOOL_NAME", "skill_x")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_skill_that_does_not_exist_is_answered_with_the_nearest() {
    let host = Host::stdin().skill("pdf-forms", "", "body");
    let answer = host.tool("skill_pdf-from", &json!({}));
    assert_eq!(
        answer,
        "Error: there is no tool `skill_pdf-from`\ndid you mean `pdf-forms`?"
    );
    // Also while a skill restricts, when a tool that is not there is no matter of its list.
    let host = host.skill("reads", "allowed-tools: Read", "body").skill(
        "hidden",
        "disable-model-invocation: true",
        "body",
    );
    host.activates("reads");
    for (tool, expected) in [
        (
            "skill_pdf-from",
            "there is no tool `skill_pdf-from`. Next: did you mean `pdf-forms`?",
        ),
        ("skill_hidden", "there is no tool `skill_hidden`"),
        ("fiel_head", "does not permit it. Allowed: file_head"),
        ("fiel_head", "Did you mean `file_head`?"),
    ] {
        host.blocks(tool, &json!({})).has(expected);
    }
    // What the list does not grant is no suggestion.
    host.blocks("shell_exce", &json!({})).lacks("Did you mean");
}
