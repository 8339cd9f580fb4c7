//! Hooks: the schema, the catalog in the prompt, activation and enforcement.

use serde_json::json;

use crate::Host;
use crate::host::{Has, each};

#[test]
fn the_schema_has_the_fixed_tools_then_the_skills_sorted() {
    for host in Host::both() {
        let fixed = [
            "skill_marketplace",
            "read_skill_file",
            "run_skill_script",
            "skill_session",
            "agent-skills",
            "propose_skill_update",
            "create_skill",
        ];
        assert_eq!(host.tool_names(), fixed);
        let host = host.skill("b", "", "").skill("a", "", "");
        assert_eq!(host.skill_tools(), ["skill_a", "skill_b"]);
        let mut tools = host.schema();
        tools.retain(|tool| tool.get("hooks").is_some());
        assert_eq!(each(&json!(tools), "name"), ["skill_marketplace"]);
    }
}

#[test]
fn the_prompt_names_each_skill_and_is_silent_without_any() {
    for host in Host::both() {
        assert_eq!(host.hook("post_system_prompt", &json!({})), json!({}));
        let host = host.skill("pdf", "", "");
        let prompt = host.prompt();
        assert!(prompt.starts_with("## Available Agent Skills\n"));
        assert!(prompt.contains("- pdf: Does pdf."));
    }
}

#[test]
fn activation_restricts_from_the_next_call_to_the_next_start() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "body");
        host.starts()
            .allows("shell_exec", &json!({"command": "ls"}));
        host.activates("careful");
        let message = host.blocks("shell_exec", &json!({"command": "ls"}));
        message.has("not allowed").has("careful");
        message.has("file_head");
        host.allows("file_head", &json!({"path": "x"}));
        host.starts()
            .allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn two_hosts_do_not_touch_each_other() {
    let mut host = Host::stdin().skill("careful", "allowed-tools: Read", "body");
    host.session("one").starts().activates("careful");
    host.session("two")
        .starts()
        .allows("shell_exec", &json!({"command": "ls"}));
    host.session("one")
        .blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn a_session_is_the_process_that_calls() {
    // Two shells play two hosts; each calls on_start, then pre_tool for the skill, then a tool.
    let host = Host::environment().skill("careful", "allowed-tools: Read", "body");
    let script = r#"
        hook() { CHIBI_HOOK=$1 CHIBI_HOOK_DATA=$2 "$EXE"; echo; }
        hook on_start '{}'
        [ "$1" = activate ] && hook pre_tool '{"tool_name":"skill_careful","arguments":{}}'
        hook pre_tool '{"tool_name":"shell_exec","arguments":{"command":"ls"}}'
        echo done
        read line
        hook pre_tool '{"tool_name":"shell_exec","arguments":{"command":"ls"}}'
    "#;
    let shell = |mode: &str| {
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", script, "sh", mode])
            .env("EXE", env!("CARGO_BIN_EXE_agent-skills"))
            .env("AGENT_SKILLS_HOME", host.plugin_dir())
            .env_remove("AGENT_SKILLS_SESSION")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let finish = |child: std::process::Child| {
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    let restricted = shell("activate");
    // The second host's on_start runs while the first one is restricted, or before: either way
    // the first one stays so.
    let free = finish(shell("none"));
    let restricted = finish(restricted);
    assert_eq!(free.matches("\"block\":true").count(), 0, "{free}");
    assert_eq!(
        restricted.matches("\"block\":true").count(),
        2,
        "{restricted}"
    );
}

#[test]
fn an_activation_that_fails_restricts_nothing() {
    let host = Host::stdin().file("bad/SKILL.md", "---\nname: bad\nallowed-tools: Read\n---\n");
    host.starts().allows("skill_bad", &json!({}));
    host.tool("skill_bad", &json!({})).begins("Error: ");
    host.allows("shell_exec", &json!({"command": "ls"}));
    // Arguments that the tool refuses do not activate either.
    let host = host.skill("good", "allowed-tools: Read", "");
    host.allows("skill_good", &json!([1, 2]));
    host.allows("shell_exec", &json!({"command": "ls"}));
    // Removed between the schema, which the host reads once, and the call.
    std::fs::remove_dir_all(host.skills_dir().join("good")).unwrap();
    host.starts().allows("skill_good", &json!({}));
    host.tool("skill_good", &json!({})).begins("Error: ");
    host.allows("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn the_command_line_as_a_tool_is_never_the_models() {
    let host = Host::stdin();
    host.blocks("agent-skills", &json!({"args": ["list"]}))
        .has("not allowed");
}

#[test]
fn pre_api_tools_hides_what_cannot_be_used() {
    // A skill that is not offered is none.
    let host = Host::stdin().file("bad/SKILL.md", "no frontmatter");
    let all = json!({"context_name": "c", "tools": [
        {"name": "shell_exec", "type": "shell"}, {"name": "file_head", "type": "fs_read"},
        {"name": "skill_careful", "type": "plugin"}, {"name": "agent-skills", "type": "plugin"},
    ]});
    let none = host.hook("pre_api_tools", &all);
    assert_eq!(
        none,
        json!({"exclude": [
            "agent-skills", "propose_skill_update", "read_skill_file", "run_skill_script",
            "skill_session",
        ]})
    );
    let host = host.skill("careful", "allowed-tools: Read", "");
    assert_eq!(
        host.hook("pre_api_tools", &all),
        json!({"exclude": ["agent-skills"]})
    );
    host.activates("careful");
    assert_eq!(
        host.hook("pre_api_tools", &all),
        json!({"exclude": ["agent-skills", "shell_exec"]})
    );
}

#[test]
fn our_own_output_but_of_scripts_is_kept_whole() {
    let host = Host::stdin().skill("x", "", "");
    for (tool, ours) in [
        ("skill_x", true),
        ("skill", true),
        ("skill_marketplace", true),
        ("read_skill_file", true),
        ("run_skill_script", false),
        ("skill_other-plugin", false),
        ("shell_exec", false),
    ] {
        let output = json!({"tool_name": tool, "output_size": 9000, "arguments": {}});
        let answer = host.hook("pre_cache_output", &output);
        assert_eq!(answer == json!({"block": true}), ours, "{tool}: {answer}");
    }
}

#[test]
fn a_call_that_cannot_be_read_is_blocked_whatever_is_in_force() {
    // What the host reads of a model's arguments is one level deeper in what it hands over.
    let just_too_deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let unreadable = [
        "garbage".to_owned(),
        "{}".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        "{\"tool_name\":3}".to_owned(),
        format!(
            r#"{{"arguments":{{"args":["remove","x"],"n":{just_too_deep}}},"tool_name":"agent-skills"}}"#
        ),
        format!(
            r#"{{"arguments":{{"command":"ls","n":{just_too_deep}}},"tool_name":"shell_exec"}}"#
        ),
    ];
    for host in Host::both() {
        let host = host
            .skill("careful", "allowed-tools: Read", "")
            .skill("free", "", "");
        let all_are_blocked = || {
            for data in &unreadable {
                let answer = host.raw("hook", "pre_tool", data);
                assert!(answer.contains("\"block\":true"), "{data}: {answer}");
            }
        };
        all_are_blocked();
        host.config("deny = [\"shell_exec\"]");
        host.activates("free");
        all_are_blocked();
        // What other plugins may have made of the arguments.
        let shell = unreadable.last().unwrap();
        host.raw("hook", "pre_shell_exec", shell)
            .has("\"denied\":true");
        host.activates("careful");
        all_are_blocked();
    }
}

#[test]
fn what_is_enforced_is_what_was_activated() {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    host.activates("careful");
    let host = host.skill("careful", "allowed-tools: Bash", "");
    host.blocks("shell_exec", &json!({"command": "ls"}));
    std::fs::remove_dir_all(host.skills_dir().join("careful")).unwrap();
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn without_hooks_the_tool_call_alone_activates() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "");
        host.tool("skill_careful", &json!({"arguments": "now"}));
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn tool_names_suit_providers_and_lead_to_their_skill() {
    let names = [
        "a".repeat(64),
        "a".repeat(58),
        "é".repeat(64),
        "marketplace".to_owned(),
    ];
    let mut host = Host::stdin();
    for name in &names {
        host = host.skill(name, "allowed-tools: Read", &format!("Body of {name}."));
    }
    let tools = host.tool_names();
    assert_eq!(host.skill_tools().len(), names.len());
    for tool in &tools {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(tool.len() <= 64 && tool.chars().all(fits), "{tool}");
        assert_eq!(tools.iter().filter(|other| *other == tool).count(), 1);
    }
    // What `pre_tool` makes of such a name is the skill, too.
    for tool in &host.skill_tools() {
        host.starts().allows(tool, &json!({}));
        host.blocks("shell_exec", &json!({"command": "ls"}));
        host.tool(tool, &json!({})).has("Body of ");
    }
}

#[test]
fn other_plugins_tools_with_our_prefix_are_not_ours() {
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

#[test]
fn a_refused_call_is_told_to_the_person() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "");
        host.activates("careful");
        let call = json!({"tool_name": "shell_exec", "arguments": {"command": "rm -rf build"}});
        let (answer, told) = host.hook_with_stderr("pre_tool", &call);
        assert_eq!(answer["block"], json!(true));
        assert_eq!(told.lines().count(), 1, "{told}");
        told.begins("agent-skills: refused: ")
            .has("shell_exec")
            .has("careful");
        let call = json!({"tool_name": "file_head", "arguments": {"path": "x"}});
        assert_eq!(host.hook_with_stderr("pre_tool", &call).1, "");
    }
}

#[test]
fn what_the_host_kept_of_an_output_is_read_whatever_restricts() {
    let host = Host::stdin().skill("careful", "allowed-tools: Write", "");
    host.activates("careful");
    for kept in [
        json!({"path": "vfs:///sys/tool_cache/default/run_skill_script_1"}),
        json!({"cache_id": "run_skill_script_1"}),
    ] {
        host.allows("file_head", &kept);
    }
    for other in [
        json!({"cache_id": "../x"}),
        json!({"cache_id": "x", "path": "/etc/passwd"}),
        json!({"path": "x"}),
    ] {
        host.blocks("file_head", &other);
    }
}

#[test]
fn the_end_of_a_restriction_is_told_to_the_person() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "")
        .skill("free", "", "");
    let starts = || host.hook_with_stderr("on_start", &json!({})).1;
    host.activates("free");
    assert_eq!(starts(), "");
    let prompt = |name: &str| {
        let (answer, told) =
            host.hook_with_stderr("post_system_prompt", &json!({"context_name": name}));
        (answer.to_string(), told)
    };
    prompt("work");
    host.activates("careful");
    starts().has("no longer restricted by `careful`: the prompt is over");
    let over = "no longer restricting your tools: `careful`";
    prompt("work").0.has(over);
    prompt("other").0.lacks(over);
    prompt("work");
    host.activates("careful");
    prompt("work").0.lacks(over);
    host.starts();
    starts();
    prompt("work").0.lacks(over);
    // Nor does it end unseen, or go on unseen, where conversations keep it.
    host.config("scope = \"context\"");
    starts();
    assert_eq!(prompt("work").1, "");
    host.activates("careful");
    starts().lacks("no longer restricted");
    prompt("work").1.has("still restricted by `careful`");
    host.activates("free");
    starts();
    assert_eq!(prompt("work").1, "");
}
