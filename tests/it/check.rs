//! `agent-skills check`: decisions explained to a person.

use serde_json::{Value, json};

use crate::Host;

fn host() -> Host {
    Host::stdin().skill("git-only", "allowed-tools: Bash(git:*) Read", "")
}

#[test]
fn each_part_of_a_command_is_explained() {
    let host = host();
    let args = |command: &str| format!("command={command}");
    let check = |command: &str| {
        host.person(&[
            "check",
            "git-only",
            "--tool",
            "shell_exec",
            "--arg",
            &args(command),
        ])
    };
    let ran = check("git log; rm x");
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stdout.starts_with("blocked: "), "{ran:?}");
    assert!(
        ran.stdout.contains("`git log`: granted by Bash(git:*)"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("`rm x`: refused: "), "{ran:?}");
    let ran = check("git log | head -3");
    assert!(
        ran.status == 0 && ran.stdout.starts_with("allowed: "),
        "{ran:?}"
    );
}

#[test]
fn a_denied_part_names_the_entry_that_denies_it() {
    let host = Host::stdin().skill(
        "git-only",
        "allowed-tools: Bash(git:*)\ndisallowed-tools: Bash(git push:*)",
        "",
    );
    let command = "command=git log; git push";
    let ran = host.person(&[
        "check",
        "git-only",
        "--tool",
        "shell_exec",
        "--arg",
        command,
    ]);
    let denied = "subcommand `git push`: refused: `git-only` denies it with `Bash(git push:*)`";
    assert!(ran.status == 1 && ran.stdout.contains(denied), "{ran:?}");
}

#[test]
fn the_explanation_is_there_as_json() {
    let host = host();
    let ran = host.person(&[
        "check",
        "git-only",
        "--tool",
        "shell_exec",
        "--arg",
        "command=ls",
        "--json",
    ]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.status, &json["allowed"]), (1, &json!(false)));
    assert_eq!(json["parts"][0]["text"], "ls");
    assert_eq!(json["parts"][0]["granted_by"], Value::Null);
}

#[test]
fn other_tools_and_mistakes_are_told_of() {
    let host = host();
    let check = |rest: &[&str]| host.person(&[&["check", "git-only", "--tool"], rest].concat());
    assert_eq!(check(&["file_head", "--arg", "path=x"]).status, 0);
    assert_eq!(check(&["write_file", "--arg", "path=x"]).status, 1);
    assert_eq!(check(&["agent-skills"]).status, 1);
    assert!(
        check(&["file_head", "--arg", "path"])
            .stderr
            .contains("hint: write --arg NAME=VALUE")
    );
    assert_eq!(check(&[]).status, 2);
    let error = host.fails(&["check", "git-onyl", "--tool", "x"]);
    assert!(error.contains("did you mean `git-only`?"), "{error}");
}
