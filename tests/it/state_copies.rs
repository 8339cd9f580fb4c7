//! What is active outlives the loss of its record: in a session, in a conversation that is kept, and with
//! what is activated afterwards.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;

use crate::Host;

/// Both copies, the one beside the program first.
pub fn copies(host: &Host) -> [PathBuf; 2] {
    let entries = fs::read_dir(host.home().join(".local/state/agent-skills")).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let second = paths.find(|path| path.extension().is_some_and(|end| end == "json"));
    [host.plugin_dir().join("state.json"), second.unwrap()]
}

pub fn careful(host: Host) -> Host {
    let host = host
        .skill("careful", "allowed-tools: Read", "")
        .skill("free", "", "");
    host.activates("careful");
    host
}

#[track_caller]
fn is_restricted(host: &Host) {
    host.blocks("shell_exec", &json!({"command": "ls"}));
    let denied = host.hook(
        "pre_shell_exec",
        &json!({"tool_name": "shell_exec", "command": "ls"}),
    );
    assert_eq!(denied["denied"], json!(true));
    host.allows("file_head", &json!({"path": "x"}));
}

#[test]
fn one_copy_that_is_gone_emptied_or_put_back_lifts_nothing() {
    for host in Host::both() {
        let host = careful(host);
        let old = copies(&host).map(|copy| fs::read(copy).unwrap());
        host.starts();
        host.activates("careful");
        for (copy, old) in copies(&host).into_iter().zip(old) {
            fs::remove_file(&copy).unwrap();
            is_restricted(&host);
            for text in [&b"{\"version\":1,\"sessions\":{}}"[..], &old] {
                fs::write(&copy, text).unwrap();
                is_restricted(&host);
            }
            // A change goes by what is known, and both are made again.
            host.hook(
                "post_system_prompt",
                &json!({"context_name": copy.display().to_string()}),
            );
            is_restricted(&host);
            let [first, second] = copies(&host).map(|copy| fs::read_to_string(copy).unwrap());
            assert_eq!(first, second);
        }
    }
}

#[test]
fn a_copy_with_the_last_serial_lifts_nothing() {
    for host in Host::both() {
        let host = careful(host);
        let endless = format!(r#"{{"version":1,"serial":{},"sessions":{{}}}}"#, u64::MAX);
        for copy in copies(&host) {
            fs::write(&copy, &endless).unwrap();
            is_restricted(&host);
            // The next prompt begins anew, and what becomes active then is in force.
            host.starts();
            host.activates("careful");
            is_restricted(&host);
            let [first, second] = copies(&host).map(|copy| fs::read_to_string(copy).unwrap());
            assert!(first == second && !first.contains(&u64::MAX.to_string()));
        }
    }
}

/// For root, who may write everywhere, it stays the first place.
#[test]
fn a_program_directory_become_read_only_still_counts() {
    let change = |host: &Host, mode| {
        fs::set_permissions(host.plugin_dir(), fs::Permissions::from_mode(mode)).unwrap();
    };
    for host in Host::both() {
        let host = careful(host);
        let [first, second] = copies(&host);
        change(&host, 0o555);
        fs::remove_file(&second).unwrap();
        is_restricted(&host);
        // What happens meanwhile counts when it can be written again.
        host.activates("free");
        let _ = fs::remove_file(&second);
        host.allows("shell_exec", &json!({"command": "ls"}));
        change(&host, 0o755);
        host.allows("shell_exec", &json!({"command": "ls"}));
        host.activates("careful");
        fs::remove_file(&first).unwrap();
        is_restricted(&host);
    }
}

#[test]
fn a_conversation_that_is_kept_is_kept_twice() {
    for host in Host::both() {
        fs::write(host.plugin_dir().join("config.toml"), "scope = \"context\"").unwrap();
        let mut host = host.skill("careful", "allowed-tools: Read", "");
        host.prompt();
        host.activates("careful");
        fs::remove_file(&copies(&host)[0]).unwrap();
        host.session("the next process");
        host.starts();
        host.prompt();
        is_restricted(&host);
        host.succeeds(&["deactivate"]);
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn state_gone_here_and_unreadable_there_leaves_reading_only() {
    for host in Host::both() {
        let host = careful(host);
        let [first, second] = copies(&host);
        fs::write(&second, "garbage").unwrap();
        is_restricted(&host);
        fs::remove_file(&first).unwrap();
        is_restricted(&host);
        host.blocks(
            "run_skill_script",
            &json!({"skill": "free", "script": "x.sh"}),
        );
        // The next prompt begins anew.
        host.starts();
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn with_nothing_active_nothing_is_kept_twice() {
    for host in Host::both() {
        let host = host.skill("free", "", "");
        host.starts();
        host.prompt();
        host.allows("shell_exec", &json!({"command": "ls"}));
        assert!(!host.home().join(".local").exists() && !host.home().join(".cache").exists());
        let _ = fs::remove_file(host.plugin_dir().join("state.json"));
        host.allows("shell_exec", &json!({"command": "ls"}));
        host.activates("free");
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn a_person_ends_it_in_both_places() {
    for host in Host::both() {
        let host = careful(host);
        fs::remove_file(&copies(&host)[0]).unwrap();
        assert!(host.succeeds(&["deactivate"]).contains("careful"));
        host.allows("shell_exec", &json!({"command": "ls"}));
        fs::remove_file(host.plugin_dir().join("state.json")).unwrap();
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn both_copies_are_protected_from_what_a_skill_may_write() {
    let host = Host::stdin().skill("writer", "allowed-tools: Write(//**) Write(~/**)", "");
    host.activates("writer");
    for copy in copies(&host) {
        host.blocks("write_file", &json!({"path": copy, "content": "x"}));
    }
}
