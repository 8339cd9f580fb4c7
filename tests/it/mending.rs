//! A damaged record of what is active is repaired by a person at a terminal, and by nobody below an
//! agent.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::Host;
use crate::decisions::shell;
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
    for way in WAYS {
        let yes = [way, &["--yes"]].concat();
        let ran = host.unattended(&yes);
        assert_eq!(ran.status, 1);
        refused(&host, &ran.stderr, "only a person at a terminal", "");
        // Its questions would go to a file.
        refused(
            &host,
            &host.fails(way),
            "there is no terminal to ask at",
            "`--yes` agrees",
        );
        let arguments = json!({"args": yes});
        let said = host.tool("agent-skills", &arguments);
        refused(&host, &said, "only a person", "");
    }
}

#[test]
fn without_a_sound_copy_a_new_record_begins() {
    let nothing = r#"{"version":1,"serial":9,"sessions":{}}"#;
    for text in [None, Some("garbage"), Some(nothing)] {
        for way in WAYS {
            let (host, [_, second]) = damaged(Host::stdin());
            match text {
                Some(text) => fs::write(&second, text).unwrap(),
                None => fs::remove_file(&second).unwrap(),
            }
            let doctor = host.person(&["doctor"]).stdout;
            assert!(doctor.contains("doctor --fix` says"), "{doctor}");
            let (said, status) = converse(host.command().args(way), "n\n");
            assert_eq!(status, 1);
            refused(&host, &said, "no second copy", "nothing was repaired");
            converse(host.command().args(way), "y\n");
            // What was active is not known: only a person, or the next prompt, ends it.
            if way == WAYS[1] {
                restricts(&host);
                host.starts();
            }
            host.allows("shell_exec", &json!({"command": "ls"}));
        }
    }
}

/// Whoever damaged the record is below chibi, which its name tells.
#[cfg(target_os = "linux")]
#[test]
fn nobody_below_chibi_repairs_it() {
    let (host, _) = damaged(Host::stdin());
    let chibi = host.home().join("chibi-0.10");
    fs::copy("/bin/sh", &chibi).unwrap();
    let cure =
        r#"for words in "deactivate" "doctor --fix"; do "$A" $words --yes; echo "ended $?"; done"#;
    let script = format!("'{}' -c '{cure}'; echo", chibi.display());
    let said = converse(&mut shell(&host, &script), "").0;
    assert_eq!(said.matches("ended 1").count(), 2, "{said}");
    refused(&host, &said, "below `chibi`", "did not start");
}
