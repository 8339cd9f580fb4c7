//! What only the user decides: not a model by way of the host, not one in a shell of the host, and not
//! one in a process that has left that shell.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::Host;
use crate::host::{Has, Ran, finish};
use crate::proposals::{TOOL, call, diff, propose, text};

/// A shell in the host's surroundings; `$A` is the executable.
pub fn shell(host: &Host, script: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("unset AGENT_SKILLS_SESSION; {script}");
    command.args(["-c", &script]);
    command.env("A", env!("CARGO_BIN_EXE_agent-skills"));
    host.surround(command)
}

/// With the outer shell as a host in the conversation `x`.
pub const IN_A_HOST: &str = "CHIBI_HOOK=post_system_prompt CHIBI_HOOK_DATA='{\"context_name\":\"x\"}' \
    \"$A\" >&2; ";

fn strict(host: Host) -> Host {
    host.skill("pdf", "", "One.").skill(
        "strict",
        "allowed-tools: Read Bash(agent-skills:*)",
        "One.",
    )
}

#[test]
fn without_a_terminal_nothing_is_decided() {
    let host = Host::stdin();
    let host = strict(host);
    let id = propose(&host, "pdf", &diff("One.", "1."));
    fs::create_dir_all(host.project().join(".agents/skills")).unwrap();
    let decisions: [&[&str]; 8] = [
        &["deactivate"],
        &["proposals", "approve", &id, "--yes"],
        &["proposals", "reject", &id],
        &["rollback", "pdf"],
        &["trust"],
        &["trust", "--always"],
        &["approve", "pdf"],
        &["config", "set", "unattended", "true"],
    ];
    host.starts().activates("strict");
    for words in decisions {
        let ran = host.unattended(words);
        assert_eq!(ran.status, 1, "{words:?}");
        ran.stderr
            .has("only a person at a terminal")
            .has("unattended");
    }
    host.blocks("shell_exec", &json!({"command": "ls"}));
    assert!(text(&host, "pdf/SKILL.md").contains("One."));
    assert!(!host.plugin_dir().join("config.toml").exists());
    // Looking is free.
    for words in [
        &["proposals", "show", &id][..],
        &["config", "list"],
        &["trust", "--list"],
    ] {
        assert_eq!(host.unattended(words).status, 0, "{words:?}");
    }
    host.succeeds(&["config", "set", "unattended", "true"]);
    assert_eq!(host.unattended(&["deactivate"]).status, 0);
    host.allows("shell_exec", &json!({"command": "ls"}));
    let ran = host.unattended(&["proposals", "approve", &id, "--yes"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn a_project_cannot_say_that_nobody_sits_at_the_terminal() {
    let host = strict(Host::stdin());
    fs::create_dir_all(host.project().join(".chibi")).unwrap();
    let file = host.project().join(".chibi/agent-skills.toml");
    fs::write(file, "unattended = true\n").unwrap();
    host.succeeds(&["trust", "--yes"]);
    assert_eq!(host.unattended(&["deactivate"]).status, 1);
}

#[test]
fn a_model_decides_nothing_through_the_host() {
    let host = Host::stdin();
    let host = strict(host);
    let id = propose(&host, "pdf", &diff("One.", "1."));
    host.succeeds(&["proposals", "approve", &id, "--yes"]);
    host.succeeds(&["rollback", "pdf"]);
    host.config("unattended = true\n");
    for words in [
        &["rollback", "pdf"][..],
        &["deactivate"],
        &["trust"],
        &["approve", "pdf"],
        &["config", "set", "enforce", "off"],
    ] {
        let arguments = json!({"args": words});
        host.blocks("skill_marketplace", &arguments)
            .has(&format!("in a terminal: agent-skills {}", words.join(" ")));
        for tool in ["skill_marketplace", "agent-skills"] {
            host.tool(tool, &arguments).begins("Error: only a person");
        }
    }
    assert!(text(&host, "pdf/SKILL.md").contains("One."));
}

/// `unattended` permits it to whoever is not below a host, and a terminal alone does not help either.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_decided_below_a_host() {
    let host = Host::stdin();
    let host = strict(host);
    let id = propose(&host, "pdf", &diff("One.", "1."));
    host.config("unattended = true\n");
    for words in [
        "deactivate",
        &format!("proposals approve {id} --yes"),
        "rollback pdf",
        "trust",
    ] {
        let script = format!("{IN_A_HOST} sh -c '\"$A\" {words}; echo ended $?'; echo");
        let ran: Ran = finish(&mut shell(&host, &script), b"");
        assert!(ran.stdout.contains("ended 1"), "{words}: {ran:?}");
        assert!(
            ran.stderr.contains("their own terminal"),
            "{words}: {ran:?}"
        );
        let (_ours, theirs) = crate::terminal::terminal(0);
        let ran: Ran = finish(shell(&host, &script).stdin(theirs), b"");
        assert!(ran.stdout.contains("ended 1"), "{words}: {ran:?}");
    }
}

/// A model's shell can set the mark of a command that runs for the host.
#[test]
fn a_command_marked_as_the_hosts_decides_no_more() {
    let host = Host::stdin();
    let host = strict(host);
    let other = host.project().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(
        other.join("SKILL.md"),
        "---\nname: other\ndescription: d\n---\nb\n",
    )
    .unwrap();
    for words in ["install ./other", "remove strict"] {
        let script = format!("{IN_A_HOST} AGENT_SKILLS_BY_HOST=1 \"$A\" {words}; echo");
        let ran: Ran = finish(&mut shell(&host, &script), b"");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("only a person"), "{words}: {ran:?}");
    }
    assert!(!host.plugin_dir().join("skills/other").exists());
    assert!(host.plugin_dir().join("skills/strict").exists());
}

/// The parent of a process that has left its shell says nothing of the host.
#[test]
fn a_process_that_has_left_the_shell_of_a_host_decides_nothing() {
    let host = strict(Host::environment());
    let id = propose(&host, "pdf", &diff("One.", "1."));
    let script = format!(
        "{IN_A_HOST} sh -c '(sleep 0.2; \"$A\" proposals approve {id} --yes; echo ended $?) &'; cat"
    );
    // `cat` holds the host until standard input ends; the orphan's pipe ends with the orphan.
    let ran: Ran = finish(&mut shell(&host, &script), b"");
    ran.stdout.has("ended 1");
    assert!(text(&host, "pdf/SKILL.md").contains("One."));
}

#[test]
fn what_was_put_in_a_proposals_place_is_not_approved() {
    let host = Host::stdin();
    let host = strict(host);
    let id = propose(&host, "pdf", &diff("One.", "1."));
    let file = host.plugin_dir().join(format!("proposals/{id}.json"));
    let changed = fs::read_to_string(&file).unwrap().replace("+1.", "+2.");
    fs::write(&file, changed).unwrap();
    for words in [
        &["proposals", "show", &id][..],
        &["proposals", "approve", &id, "--yes"],
    ] {
        host.fails(words).has("changed after it was recorded");
    }
    assert!(text(&host, "pdf/SKILL.md").contains("One."));
}

#[test]
fn a_proposal_already_in_the_file_says_how_to_forget_it() {
    let host = Host::stdin();
    let host = strict(host);
    let id = propose(&host, "pdf", &diff("One.", "1."));
    host.succeeds(&[
        "proposals",
        "approve",
        &propose(&host, "pdf", &diff("One.", "1.\n2.")),
        "--yes",
    ]);
    for told in [
        host.succeeds(&["proposals", "show", &id]),
        host.fails(&["proposals", "approve", &id, "--yes"]),
    ] {
        told.has(&format!("agent-skills proposals reject {id}"));
        told.lacks("write the diff");
    }
    host.tool(TOOL, &call("pdf", &diff("One.", "1.")))
        .has("nothing left to propose");
}
