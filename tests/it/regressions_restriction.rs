//! One test for each defect of an earlier plugin of this kind that concerns restrictions, named after it.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::regressions::shell;

#[test]
fn defect_04_the_argument_of_a_shell_entry_is_dropped() {
    let host = Host::stdin().skill("git", "allowed-tools: Bash(git:*) Bash(ls)", "");
    host.activates("git");
    for allowed in ["git status", "git commit -m 'a; b'", "ls"] {
        host.allows("shell_exec", &shell(allowed));
    }
    for blocked in [
        "rm -rf x",
        "gitk",
        "git status; rm x",
        "git status && rm x",
        "git log | sh",
        "git log $(rm x)",
        "git log `rm x`",
        "git log > x",
        "git status\nrm x",
        "ls -la",
        "",
    ] {
        host.blocks("shell_exec", &shell(blocked));
    }
    host.blocks("shell_exec", &json!({}));
    host.blocks("shell_exec", &json!({"command": ["git", "status"]}));
}

#[test]
fn defect_14_a_failed_activation_restricts() {
    let host = Host::stdin()
        .file("bad/SKILL.md", "---\nname: bad\nallowed-tools: Read\n---\n")
        .skill("good", "allowed-tools: Read", "");
    assert_eq!(host.skill_tools(), ["skill_good"]);
    for tool in ["skill_bad", "skill_gone", "skill_"] {
        host.starts().allows(tool, &json!({}));
        assert!(host.tool(tool, &json!({})).starts_with("Error: "));
        host.allows("shell_exec", &shell("ls"));
    }
    // Removed between the schema, which the host reads once, and the call.
    fs::remove_dir_all(host.skills_dir().join("good")).unwrap();
    host.starts().allows("skill_good", &json!({}));
    assert!(host.tool("skill_good", &json!({})).starts_with("Error: "));
    host.allows("shell_exec", &shell("ls"));
}

#[test]
fn defect_15_another_plugins_tool_passes_by_its_prefix() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "")
        .skill("x", "", "");
    host.activates("careful");
    for tool in [
        "skill_deploy",
        "skill_",
        "skill_careful_",
        "skill_X",
        "Skill_x",
    ] {
        host.blocks(tool, &json!({}));
    }
    host.allows("skill_careful", &json!({}));
}
