//! A record of active skills that is damaged, or a later version's: each session is closed until its own
//! next prompt, or until a person ends everything.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::conversations::{enters, kept, next_prompt};
use crate::decisions::shell;
use crate::host::Has;
use crate::terminal::converse;

const DAMAGES: [&str; 3] = ["", "{", r#"{"version":2,"sessions":{}}"#];

fn damage(host: &Host, text: &str) {
    fs::write(host.plugin_dir().join("state.json"), text).unwrap();
}

fn careful(host: Host) -> Host {
    let host = host.skill("careful", "allowed-tools: Read", "");
    host.activates("careful");
    host
}

#[track_caller]
fn closed(host: &Host) {
    host.blocks("shell_exec", &json!({"command": "ls"}));
    host.allows("file_head", &json!({"path": "x"}));
}

#[track_caller]
fn open(host: &Host) {
    host.allows("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn a_prompt_lifts_it_in_its_own_session_alone() {
    for text in DAMAGES {
        let mut host = Host::stdin();
        host.session("b");
        let mut host = careful(host);
        damage(&host, text);
        host.session("a");
        closed(&host);
        next_prompt(&host, "work");
        open(&host);
        host.session("b");
        closed(&host);
        // Nor does what else happens in that session, or another prompt of the first.
        enters(&host, "work");
        closed(&host);
        host.session("a");
        next_prompt(&host, "work");
        host.activates("careful");
        host.session("b");
        closed(&host);
        next_prompt(&host, "work");
        open(&host);
        host.session("a");
        closed(&host);
    }
}

#[test]
fn a_person_ends_it_for_every_session() {
    for text in DAMAGES {
        for is_discarded in [false, true] {
            let host = Host::stdin();
            let mut host = careful(host);
            damage(&host, text);
            if is_discarded {
                host.session("a").starts();
                host.session("host");
            }
            let dry = host.succeeds(&["deactivate", "--dry-run"]);
            assert_eq!(dry.contains("state.json"), !is_discarded, "{dry}");
            closed(&host);
            let told = host.succeeds(&["deactivate"]);
            assert_eq!(told.contains("state.json"), !is_discarded, "{told}");
            open(&host);
            host.session("another");
            open(&host);
        }
    }
}

#[test]
fn one_conversation_is_not_ended_in_a_damaged_record() {
    let host = careful(Host::stdin());
    damage(&host, "{");
    let told = host.fails(&["deactivate", "--context", "work"]);
    told.has("state.json").has("agent-skills deactivate");
    closed(&host);
}

#[test]
fn what_conversations_kept_ends_with_the_record() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    damage(&host, "{");
    enters(&host, "work");
    closed(&host);
    next_prompt(&host, "work");
    open(&host);
}

/// Whoever damaged the record is below chibi, which its name tells.
#[cfg(target_os = "linux")]
#[test]
fn nobody_below_chibi_ends_it() {
    let host = careful(Host::stdin());
    damage(&host, "{");
    let chibi = host.home().join("chibi-0.10");
    fs::copy("/bin/sh", &chibi).unwrap();
    let script = format!(
        "'{}' -c '\"$A\" deactivate --yes; echo \"ended $?\"'; echo",
        chibi.display()
    );
    let said = converse(&mut shell(&host, &script), "").0;
    said.has("ended 1").has("below `chibi`");
    closed(&host);
}
