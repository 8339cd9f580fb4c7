//! What a conversation keeps when something fails: records, locks, configurations and skills that are not
//! to be had, and kills.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::conversations::{active, enters, kept, ls, next_prompt};
use crate::host::Has;

#[test]
fn a_restriction_that_cannot_be_brought_back_closes() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    // The hook that would say which conversation this is did not do its work.
    host.starts();
    host.blocks("shell_exec", &ls());
    host.allows("file_head", &json!({"path": "x"}));
    next_prompt(&host, "play");
    host.allows("shell_exec", &ls());
}

#[test]
fn a_broken_configuration_does_not_lift_what_is_kept() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    host.config("scope =");
    next_prompt(&host, "work");
    host.blocks("shell_exec", &ls());
}

#[test]
fn an_activation_killed_anywhere_is_kept_whole_or_not() {
    let mut host = kept(Host::stdin());
    let call = json!({"tool_name": "skill_reads", "arguments": {}}).to_string();
    for n in 0..24_u64 {
        let context = format!("c{n}");
        host.session(&context);
        next_prompt(&host, &context);
        let mut command = host.command();
        command.env("CHIBI_HOOK", "pre_tool");
        command.env("CHIBI_HOOK_DATA", &call);
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(n * 500));
        child.kill().unwrap();
        child.wait().unwrap();
        let state = fs::read(host.plugin_dir().join("state.json")).unwrap();
        let state: Value = serde_json::from_slice(&state).unwrap();
        let in_session = &state["sessions"][format!("named:{context}")]["activated"];
        let in_context = &state["contexts"]["known"][&context]["activated"];
        let count = |list: &Value| list.as_array().map_or(0, Vec::len);
        assert_eq!(count(in_session), count(in_context), "{state}");
        let refused = host.pre_tool("shell_exec", &ls()) != json!({});
        assert_eq!(refused, count(in_context) == 1);
    }
}

#[test]
fn a_lock_that_cannot_be_had_brings_nothing_back_and_so_closes() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads").starts();
    let lock = fs::File::open(host.plugin_dir().join("state.lock")).unwrap();
    fs2::FileExt::lock_exclusive(&lock).unwrap();
    let told = host.hook_with_stderr("post_system_prompt", &json!({"context_name": "work"}));
    assert!(told.1.contains("locked by another process"), "{}", told.1);
    host.blocks("shell_exec", &ls());
    drop(lock);
    enters(&host, "work");
    host.blocks("shell_exec", &ls());
    assert_eq!(active(&host), ["reads"]);
}

#[test]
fn a_person_may_call_a_skill_while_another_is_kept() {
    let mut host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    host.session("another").starts();
    let call = json!({"context_name": "play", "prompt": "/free go", "summary": ""});
    assert_ne!(host.hook("pre_message", &call), json!({}));
}

#[test]
fn a_conversation_that_is_not_known_is_not_ended_in_silence() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    host.fails(&["deactivate", "--context", "wrok"])
        .has("no conversation `wrok`")
        .has("known are `work`");
    host.blocks("shell_exec", &ls());
}

#[test]
fn a_vanished_skill_is_not_followed_by_reading_it() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    fs::remove_dir_all(host.skills_dir().join("reads")).unwrap();
    next_prompt(&host, "work")
        .has("`reads` (restricts which tools may be used) (its files are gone")
        .lacks("read_skill_file {");
}
