//! A named session has a host too: what runs below it decides nothing, however the name came to be
//! set, and whoever sits beside it decides.

use serde_json::json;

use crate::Host;
use crate::decisions::shell;
use crate::host::{Ran, finish};
use crate::terminal::terminal;

/// The outer shell is the host of the session `w`, which has had one prompt.
const NAMED: &str = "export AGENT_SKILLS_SESSION=w; \
    hook() { CHIBI_HOOK=$1 CHIBI_HOOK_DATA=$2 \"$A\" >&2; }; ";

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
        "trust --revoke",
        "config set enforce off",
        "config set unattended true",
        "approve pdf",
        "disable pdf",
        "enable pdf",
        "sync ./none",
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
