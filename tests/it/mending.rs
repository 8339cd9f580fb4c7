//! A damaged record of what is active is repaired by a person at a terminal, and by nobody whom a host
//! may run: a model with a pseudo-terminal could have done the damage.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;

use crate::Host;
use crate::decisions::{IN_A_HOST, shell};
use crate::state_copies::{careful, copies};
use crate::terminal::converse;

const WAYS: [&[&str]; 2] = [&["deactivate"], &["doctor", "--fix"]];

/// A host in whose conversation a skill restricts, with the first copy of the record damaged.
fn damaged(host: Host) -> (Host, [PathBuf; 2]) {
    let host = careful(host);
    let copies = copies(&host);
    fs::write(&copies[0], "{").unwrap();
    (host, copies)
}

fn restricts(host: &Host) {
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

/// Nobody may repair it here, which the command says together with `why` and the way out.
#[track_caller]
fn refused(host: &Host, said: &str, why: &str, way_out: &str) {
    assert!(said.contains(why) && said.contains(way_out), "{said}");
    let text = fs::read_to_string(host.plugin_dir().join("state.json")).unwrap();
    assert_eq!(text, "{", "{said}");
    restricts(host);
}

#[test]
fn doctor_puts_the_copy_in_place_of_a_damaged_record() {
    for host in Host::both() {
        let (host, [first, second]) = damaged(host);
        let doctor = host.person(&["doctor"]).stdout;
        assert!(
            doctor.contains("`agent-skills doctor --fix` says"),
            "{doctor}"
        );
        let (said, _) = converse(host.command().args(WAYS[1]), "n\n");
        assert!(said.contains("`careful` is active") && said.contains("Repair it? [y/N]"));
        refused(
            &host,
            &said,
            "ends, with what it restricts",
            "nothing was repaired",
        );
        let dry = host.person(&["doctor", "--fix", "--dry-run", "--yes"]);
        refused(&host, &dry.stdout, "cannot be read", "doctor --fix` says");
        let (said, _) = converse(host.command().args(WAYS[1]), "y\n");
        assert!(
            said.contains("state.json` was repaired from its copy"),
            "{said}"
        );
        let [first, second] = [first, second].map(|copy| fs::read_to_string(copy).unwrap());
        assert!(first == second && first.contains("careful"));
        // It ended nothing that the copy knows.
        restricts(&host);
        assert!(host.succeeds(&["deactivate"]).contains("careful"));
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn deactivate_repairs_a_damaged_record_and_ends_all() {
    for host in Host::both() {
        let (host, _) = damaged(host);
        let (said, status) = converse(host.command().args(WAYS[0]), "n\n");
        assert_eq!(status, 1);
        refused(&host, &said, "`careful` is active", "Deactivate it all?");
        let dry = host.succeeds(&["deactivate", "--dry-run"]);
        refused(&host, &dry, "would deactivate `careful`", "");
        let (said, status) = converse(host.command().args(WAYS[0]), "y\n");
        assert!(
            status == 0 && said.contains("`careful` is no longer active"),
            "{said}"
        );
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn what_the_copy_does_not_know_waits_for_the_next_prompt() {
    let (mut host, _) = damaged(Host::stdin());
    host.session("another");
    restricts(&host);
    assert_eq!(
        host.person(&["doctor", "--fix", "--yes"])
            .stderr
            .matches("next prompt")
            .count(),
        1
    );
    restricts(&host);
    host.starts();
    host.allows("shell_exec", &json!({"command": "ls"}));
    host.session("host");
    restricts(&host);
    // A person may end that, too.
    host.session("a third");
    restricts(&host);
    host.succeeds(&["deactivate"]);
    host.allows("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn without_a_terminal_or_an_answer_nothing_is_repaired() {
    let (host, _) = damaged(Host::stdin());
    fs::write(host.plugin_dir().join("config.toml"), "unattended = true\n").unwrap();
    for way in WAYS {
        let yes = [way, &["--yes"]].concat();
        let ran = host.unattended(&yes);
        assert_eq!(ran.status, 1);
        refused(
            &host,
            &ran.stderr,
            "cannot be read",
            "`agent-skills doctor` says",
        );
        // Its questions would go to a file.
        refused(
            &host,
            &host.fails(way),
            "there is no terminal to ask at",
            "`--yes` agrees",
        );
        let (said, _) = converse(host.command().args(&yes).env("CHIBI_HOOK_DATA", "{}"), "");
        refused(&host, &said, "their own terminal", "");
        let arguments = json!({"args": yes});
        let said = host.tool("agent-skills", &arguments);
        refused(&host, &said, "only a person", "");
    }
}

/// Who did the damage could have deleted, emptied or forged the copy as well.
#[test]
fn a_copy_that_proves_nothing_repairs_nothing() {
    let nothing = r#"{"version":1,"serial":9,"sessions":{}}"#;
    let endless = format!(r#"{{"version":1,"serial":{},"sessions":{{}}}}"#, u64::MAX);
    for host in Host::both() {
        let (host, [_, second]) = damaged(host);
        let sound = fs::read_to_string(&second).unwrap();
        let other_version = sound.replacen("\"version\":1", "\"version\":2", 1);
        for (text, why) in [
            (None, "is missing"),
            (Some("garbage"), "cannot be read"),
            (Some(&endless), "cannot be read"),
            (Some(&other_version), "cannot be read"),
            (Some(nothing), "says that nothing was active"),
        ] {
            match text {
                Some(text) => fs::write(&second, text).unwrap(),
                None => fs::remove_file(&second).unwrap(),
            }
            for way in WAYS {
                let said = host.fails(&[way, &["--yes"]].concat());
                refused(
                    &host,
                    &said,
                    why,
                    "end chibi wherever it runs; its next prompt",
                );
            }
            let doctor = host.person(&["doctor"]).stdout;
            assert!(
                doctor.contains("its next prompt begins a new record"),
                "{doctor}"
            );
        }
        fs::write(&second, sound).unwrap();
        fs::set_permissions(&second, fs::Permissions::from_mode(0o666)).unwrap();
        for way in WAYS {
            let said = host.fails(&[way, &["--yes"]].concat());
            refused(
                &host,
                &said,
                "another user could have written it",
                "next prompt",
            );
        }
        // The way out that was named.
        host.starts();
        host.succeeds(&["deactivate"]);
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
}

/// Damages the record below a process, repairs it there, and says how that ended.
const CURE: &str =
    r#"for words in "deactivate" "doctor --fix"; do "$A" $words --yes; echo "ended $?"; done"#;

/// What a shell shows that has a terminal, and runs `script` in a host's surroundings.
fn at_a_terminal(host: &Host, script: &str) -> String {
    converse(&mut shell(host, script), "").0
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_below_a_host_that_the_copy_names_repairs_it() {
    for host in Host::both() {
        let host = careful(host);
        let spoil = format!(
            "printf '{{' >'{}'",
            host.plugin_dir().join("state.json").display()
        );
        let script = format!("{IN_A_HOST} {spoil}; sh -c '{CURE}'; echo");
        let said = at_a_terminal(&host, &script);
        assert_eq!(said.matches("ended 1").count(), 2, "{said}");
        refused(
            &host,
            &said,
            "a host in a conversation runs this shell",
            "end that host",
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_below_a_program_that_is_the_host_repairs_it() {
    let (host, [_, second]) = damaged(Host::stdin());
    let at = |name: &str| host.home().join(name);
    fs::create_dir(at("bin")).unwrap();
    fs::copy("/bin/sh", at("agent")).unwrap();
    fs::copy("/bin/sh", at("chibi-0.10")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", at("chibi")).unwrap();
    std::os::unix::fs::symlink(at("agent"), at("bin/chibi")).unwrap();
    // A forged copy names no host, or one that has ended.
    let forged = fs::read_to_string(&second)
        .unwrap()
        .replace("named:host", "1-1");
    for copy in [fs::read_to_string(&second).unwrap(), forged] {
        fs::write(&second, copy).unwrap();
        for program in ["chibi", "chibi-0.10", "agent"] {
            let program = at(program);
            let script = format!(
                "PATH='{}':$PATH; '{}' -c '{CURE}'; echo",
                at("bin").display(),
                program.display()
            );
            let said = at_a_terminal(&host, &script);
            assert_eq!(said.matches("ended 1").count(), 2, "{said}");
            assert!(
                said.contains("runs this shell") && said.contains("end that host"),
                "{said}"
            );
            assert_eq!(
                fs::read_to_string(host.plugin_dir().join("state.json")).unwrap(),
                "{"
            );
        }
    }
}

/// A skill's script is below our own executable, and a job outlives the host.
#[cfg(target_os = "linux")]
#[test]
fn nobody_below_our_own_program_repairs_it() {
    let host = careful(Host::stdin());
    let editor = host.home().join("editor");
    let state = host.plugin_dir().join("state.json");
    let text = format!("#!/bin/sh\nprintf '{{' >'{}'\n{CURE}\n", state.display());
    fs::write(&editor, text).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let script = format!("EDITOR='{}' \"$A\" config edit; echo", editor.display());
    let said = at_a_terminal(&host, &script);
    assert_eq!(said.matches("ended 1").count(), 2, "{said}");
    refused(&host, &said, "runs this shell", "end that host");
}
