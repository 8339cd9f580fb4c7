//! One test for each defect of an earlier plugin of this kind that concerns restrictions, named after it.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::regressions::shell;

#[test]
fn defect_01_allowed_tools_as_a_yaml_list() {
    for host in Host::both() {
        let host = host
            .skill("block", "allowed-tools:\n  - Read\n  - Grep", "")
            .skill("flow", "allowed-tools: [Read, Grep]", "")
            .skill("map", "allowed-tools:\n  Read:\n  Grep: true", "");
        for skill in ["block", "flow", "map"] {
            host.starts().activates(skill);
            host.blocks("shell_exec", &shell("ls"));
            host.allows("file_head", &json!({"path": "x"}));
            host.allows("file_grep", &json!({"path": "x", "pattern": "y"}));
        }
    }
}

#[test]
fn defect_02_allowed_tools_separated_by_spaces() {
    for host in Host::both() {
        let host = host
            .skill("spaces", "allowed-tools: Read Grep", "")
            .skill("commas", "allowed-tools: Read,Grep", "")
            .skill("both", "allowed-tools: \"Read, Grep\"", "")
            .skill("lines", "allowed-tools: >\n  Read\n  Grep", "");
        for skill in ["spaces", "commas", "both", "lines"] {
            host.starts().activates(skill);
            host.allows("file_head", &json!({"path": "x"}));
            host.allows("grep_files", &json!({"pattern": "y"}));
            host.blocks("write_file", &json!({"path": "x", "content": ""}));
        }
    }
}

#[test]
fn defect_03_names_of_another_clients_tools() {
    for (listed, tool, arguments) in [
        ("Read", "file_head", json!({"path": "x"})),
        (
            "Read",
            "file_lines",
            json!({"path": "x", "start": 1, "end": 2}),
        ),
        ("Grep", "grep_files", json!({"pattern": "x"})),
        ("Glob", "glob_files", json!({"pattern": "*"})),
        ("Write", "write_file", json!({"path": "x", "content": ""})),
        (
            "Edit",
            "file_edit",
            json!({"path": "x", "operation": "find"}),
        ),
        ("Bash", "shell_exec", shell("ls | wc -l")),
        (
            "WebFetch",
            "fetch_url",
            json!({"url": "https://example.org"}),
        ),
    ] {
        for host in Host::both() {
            let host = host.skill("x", &format!("allowed-tools: {listed}"), "");
            host.activates("x").allows(tool, &arguments);
            host.blocks("vfs_delete", &json!({"path": "vfs:///x"}));
        }
    }
}

#[test]
fn defect_04_the_argument_of_a_shell_entry_is_dropped() {
    for host in Host::both() {
        let host = host.skill("git", "allowed-tools: Bash(git:*) Bash(ls)", "");
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
}

#[test]
fn defect_12_corrupt_state_lifts_the_restriction() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "");
        for corrupt in [
            "",
            "{",
            "null",
            "[]",
            "{}",
            "{\"version\":2,\"sessions\":{}}",
            "\u{1}",
        ] {
            host.starts().activates("careful");
            fs::write(host.plugin_dir().join("state.json"), corrupt).unwrap();
            host.blocks("shell_exec", &shell("ls"));
            host.blocks("write_file", &json!({"path": "x", "content": ""}));
            host.allows("file_head", &json!({"path": "x"}));
        }
    }
}

#[test]
fn defect_13_another_terminal_lifts_the_restriction() {
    for mut host in Host::both() {
        host = host.skill("careful", "allowed-tools: Read", "").skill(
            "other",
            "allowed-tools: Bash",
            "",
        );
        host.session("one").starts().activates("careful");
        host.session("two").starts().activates("other").starts();
        host.session("two")
            .allows("write_file", &json!({"path": "x", "content": ""}));
        host.session("one").blocks("shell_exec", &shell("ls"));
    }
}

#[test]
fn defect_14_a_failed_activation_restricts() {
    for host in Host::both() {
        let host = host
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
}

#[test]
fn defect_15_another_plugins_tool_passes_by_its_prefix() {
    for host in Host::both() {
        let host = host
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
}
