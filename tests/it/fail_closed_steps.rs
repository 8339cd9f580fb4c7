//! What takes more steps to judge than a decision has is refused by every hook that decides, under both
//! protocols, and the refusal says so.

use serde_json::{Value, json};

use crate::Host;

const SAYS: &str = "checking it would take too long";

/// Each hook that decides, with data that costs too much. Under the older protocol it has to fit into one
/// variable of the environment, 128 KiB.
fn calls() -> Vec<(&'static str, Value)> {
    let path = "a/".repeat(50_000);
    let nested = format!("rm -rf {}", "{a,b}".repeat(10_000));
    vec![
        (
            "pre_tool",
            json!({"tool_name": "shell_exec", "arguments": {"command": nested}}),
        ),
        (
            "pre_tool",
            json!({"tool_name": "write_file", "arguments": {"path": path, "content": ""}}),
        ),
        (
            "pre_shell_exec",
            json!({"tool_name": "shell_exec", "command": nested}),
        ),
        (
            "pre_file_write",
            json!({"tool_name": "write_file", "path": path, "content": ""}),
        ),
        (
            "pre_file_read",
            json!({"tool_name": "file_edit", "path": path}),
        ),
        // A URL costs what its length costs; the source of this tool may be a path as well.
        (
            "pre_fetch_url",
            json!({"tool_name": "summarize_content", "source": path}),
        ),
    ]
}

#[test]
fn a_call_that_spends_the_steps_is_refused() {
    // A list that would grant it, and denials alone: both have to look at all of it.
    for list in [
        "allowed-tools: Bash(rm:*) Write Edit Read(**)",
        "disallowed-tools: Bash(sudo:*) Write(secret/**) Edit(secret/**) Read(secret/**)",
    ] {
        for host in Host::both() {
            let host = host.skill("wide", list, "");
            host.activates("wide");
            for (hook, data) in calls() {
                let answer = host.hook(hook, &data);
                let refuses = if hook == "pre_tool" {
                    "block"
                } else {
                    "denied"
                };
                let text = answer.to_string();
                assert!(
                    answer[refuses] == json!(true) && text.contains(SAYS),
                    "{list}, {hook}: {text:.400}"
                );
            }
        }
    }
}
