//! A named session has a host too: what runs below it decides nothing, however the name came to be
//! set, and whoever sits beside it decides.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::decisions::shell;
use crate::host::{Ran, finish};
use crate::terminal::terminal;

/// The outer shell is the host of the session `w`, which has had one prompt.
const NAMED: &str = "export AGENT_SKILLS_SESSION=w; \
    hook() { CHIBI_HOOK=$1 CHIBI_HOOK_DATA=$2 \"$A\" >&2; }; \
    wrapped() { sh -c 'CHIBI_HOOK=$1 CHIBI_HOOK_DATA=$2 \"$A\" >&2; :' w \"$@\"; }; ";

const PROMPT: &str = "post_system_prompt '{\"context_name\":\"x\"}'; ";

const TOOL: &str = "pre_tool '{\"tool_name\":\"shell_exec\",\"arguments\":{\"command\":\"ls\"}}'; ";

fn at_a_terminal(host: &Host, script: &str) -> Ran {
    let (_ours, theirs) = terminal(0);
    finish(shell(host, script).stdin(theirs), b"")
}

#[track_caller]
fn refuses(host: &Host, script: &str, words: &str) {
    let ran = at_a_terminal(host, &format!("{NAMED}{script}; echo"));
    assert!(ran.stdout.contains("ended 1"), "{words}: {ran:?}");
    assert!(ran.stderr.contains("their own terminal"), "{ran:?}");
}

/// What a model's shell runs: `A` with these words.
fn below(words: &str) -> String {
    format!("sh -c '\"$A\" {words}; echo ended $?'")
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_decided_below_a_named_host() {
    for words in [
        "trust",
        "untrust",
        "config set enforce off",
        "config set unattended true",
        "approve pdf",
        "disable pdf",
        "enable pdf",
        "remove pdf",
        "deactivate",
    ] {
        let host = Host::environment().skill("pdf", "", "One.");
        let below = below(words);
        refuses(&host, &format!("hook {PROMPT}{below}"), words);
        refuses(
            &host,
            &format!("hook {PROMPT}env -u AGENT_SKILLS_SESSION {below}"),
            words,
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_wrapper_does_not_hide_the_host() {
    let host = Host::environment();
    let below = below("trust");
    refuses(&host, &format!("wrapped {PROMPT}{below}"), "once");
    refuses(
        &host,
        &format!("wrapped {PROMPT}wrapped {TOOL}{below}"),
        "twice",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_imitated_call_does_not_hide_the_host() {
    let host = Host::environment();
    let below = below("trust");
    for imitated in [
        "on_start '{}'; ".to_owned(),
        format!("on_start '{{}}'; wrapped {PROMPT}wrapped {PROMPT}"),
        format!("{PROMPT}wrapped {TOOL}"),
    ] {
        let script = format!("hook {PROMPT}hook {TOOL}wrapped {imitated}{below}");
        refuses(&host, &script, &imitated);
    }
}

#[test]
fn whoever_is_beside_a_named_host_decides() {
    for host in Host::both() {
        host.prompt();
        host.succeeds(&["config", "set", "enforce", "warn"]);
        host.allows("shell_exec", &json!({"command": "ls"}));
        host.succeeds(&["config", "set", "enforce", "off"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_shell_that_started_a_named_host_decides_after_it() {
    let host = Host::environment();
    let inner = format!("({NAMED}hook {PROMPT}hook {TOOL}:)");
    let script = format!("{inner}; \"$A\" config set enforce warn; echo ended $?");
    let ran = at_a_terminal(&host, &script);
    assert!(ran.stdout.contains("ended 0"), "{ran:?}");
}

/// The state file with the named session changed.
fn edited(host: &Host, edit: impl Fn(&mut Value)) {
    let file = host.plugin_dir().join("state.json");
    let mut state: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    edit(&mut state["sessions"]["named:host"]);
    fs::write(&file, state.to_string()).unwrap();
}

fn without_hosts(session: &mut Value) {
    session.as_object_mut().unwrap().remove("hosts").unwrap();
}

#[test]
fn while_a_host_is_unknown_nobody_decides() {
    for host in Host::both() {
        host.prompt();
        edited(&host, without_hosts);
        for _ in 0..2 {
            let refused = host.fails(&["config", "set", "enforce", "off"]);
            assert!(refused.contains("did not record the host of the session `host`"));
            // The end of a session may be imitated.
            host.starts();
        }
        host.prompt();
        host.succeeds(&["config", "set", "enforce", "off"]);
    }
}

#[test]
fn an_old_session_without_a_host_expires() {
    let host = Host::stdin();
    host.prompt();
    edited(&host, |session| {
        without_hosts(session);
        session["changed"] = json!(1);
    });
    host.succeeds(&["config", "set", "enforce", "off"]);
}

#[test]
fn a_tool_call_records_a_host_that_is_unknown() {
    let host = Host::stdin();
    host.prompt();
    edited(&host, without_hosts);
    host.allows("shell_exec", &json!({"command": "ls"}));
    host.succeeds(&["config", "set", "enforce", "off"]);
}
