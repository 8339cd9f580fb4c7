//! Enforce around the rules: configuration, final arguments, notes, repeated refusals, and
//! what a model may install.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::Host;
use crate::host::Has;

#[test]
fn final_arguments_are_checked_again() {
    let host = Host::stdin().skill("careful", "allowed-tools: Bash(git status) WebFetch", "");
    let shell = |command: &str| {
        host.hook(
            "pre_shell_exec",
            &json!({"tool_name": "shell_exec", "command": command}),
        )
    };
    assert_eq!(shell("rm -rf x"), json!({}), "nothing is active");
    host.activates("careful");
    assert_eq!(shell("git status"), json!({}));
    let denied = shell("rm -rf x");
    assert_eq!(denied["denied"], json!(true));
    assert!(
        denied["reason"].as_str().unwrap().contains("not allowed"),
        "{denied}"
    );
    let write = json!({"tool_name": "write_file", "path": "x", "content": "y"});
    assert_eq!(host.hook("pre_file_write", &write)["denied"], json!(true));
    let read = json!({"tool_name": "file_head", "path": "/etc/passwd"});
    assert_eq!(host.hook("pre_file_read", &read)["denied"], json!(true));
    let fetch = json!({"tool_name": "fetch_url", "url": "https://example.com/", "safety": "x", "reason": "y"});
    assert_eq!(host.hook("pre_fetch_url", &fetch), json!({}));
    assert_eq!(
        host.hook("pre_shell_exec", &json!({}))["denied"],
        json!(true)
    );
}

#[test]
fn a_repeated_refusal_says_not_to_retry() {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    host.activates("careful");
    let call = json!({"command": "ls"});
    assert!(!host.blocks("shell_exec", &call).contains("do not retry"));
    assert!(host.blocks("shell_exec", &call).contains("do not retry"));
    assert!(
        !host
            .blocks("shell_exec", &json!({"command": "ls -l"}))
            .contains("do not retry")
    );
}

#[test]
fn mcp_entries_reach_only_tools_that_the_host_says_are_mcp() {
    let host = Host::stdin().skill("careful", "allowed-tools: mcp__docs__search", "");
    host.activates("careful");
    host.blocks("docs_search", &json!({}));
    let tools = json!({"tools": [{"name": "docs_search", "type": "mcp"}, {"name": "shell_exec", "type": "shell"}]});
    let hidden = host.hook("pre_api_tools", &tools)["exclude"].clone();
    assert!(
        hidden.to_string().contains("shell_exec") && !hidden.to_string().contains("docs_search")
    );
    host.allows("docs_search", &json!({}));
    host.starts().activates("careful");
    host.blocks("docs_search", &json!({}));
}

#[test]
fn a_script_is_run_and_not_read() {
    let host = Host::stdin()
        .skill("tool", "", "body")
        .file("tool/scripts/x.sh", "echo x\n")
        .file("tool/notes.md", "notes\n");
    host.activates("tool");
    let script = host.skills_dir().join("tool/scripts/x.sh");
    let ours = json!({"skill": "tool", "path": "scripts/x.sh"});
    let theirs = json!({"path": script.to_str().unwrap()});
    host.allows("read_skill_file", &ours)
        .allows("file_head", &theirs);
    let advice = "run it with run_skill_script {\"skill\":\"tool\",\"script\":\"scripts/x.sh\"";
    assert!(host.tool("read_skill_file", &ours).contains(advice));
    let output = |path: &str| {
        host.hook(
            "pre_tool_output",
            &json!({"tool_name": "file_head", "arguments": {"path": path}, "output": "echo x"}),
        )
    };
    let noted = output(script.to_str().unwrap());
    assert!(
        noted["output"].as_str().unwrap().starts_with("echo x\n")
            && noted.to_string().contains("run_skill_script"),
        "{noted}"
    );
    assert_eq!(
        output(host.skills_dir().join("tool/notes.md").to_str().unwrap()),
        json!({})
    );

    let host = host.configured("script_reads = \"block\"");
    assert!(host.blocks("read_skill_file", &ours).contains(advice));
    assert!(host.blocks("file_head", &theirs).contains(advice));
    host.allows(
        "read_skill_file",
        &json!({"skill": "tool", "path": "notes.md"}),
    );
    host.starts().allows("file_head", &theirs);
}

#[test]
fn enforcement_can_be_a_warning_or_nothing() {
    let host =
        Host::stdin()
            .configured("enforce = \"warn\"")
            .skill("careful", "allowed-tools: Read", "");
    host.activates("careful")
        .allows("shell_exec", &json!({"command": "ls"}));
    let data = json!({"tool_name": "shell_exec", "arguments": {"command": "ls"}, "output": "a"});
    let noted = host.hook("pre_tool_output", &data);
    assert!(
        noted["output"].as_str().unwrap().contains("not allowed"),
        "{noted}"
    );
    let host = host.configured("enforce = \"off\"");
    host.allows("shell_exec", &json!({"command": "ls"}));
    assert_eq!(host.hook("pre_tool_output", &data), json!({}));
}

#[test]
fn always_allowed_tools_are_allowed_and_a_mistake_closes() {
    let host = Host::stdin()
        .configured("always_allowed = [\"my_notes\"]")
        .skill("careful", "allowed-tools: Read", "");
    host.activates("careful").allows("my_notes", &json!({}));
    for mistake in ["enforce = \"maybe\"", "enforcement = \"off\"", "enforce ="] {
        let host = &host;
        host.config(format!("\n{mistake}"));
        host.blocks("shell_exec", &json!({"command": "ls"}))
            .has("not allowed")
            .has("line 2");
        host.allows("file_head", &json!({"path": "x"}));
    }
}

#[test]
fn what_only_its_user_decides_is_not_decided_by_a_warning() {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    host.config("enforce = \"warn\"");
    host.activates("careful")
        .allows("shell_exec", &json!({"command": "ls"}));
    for arguments in [
        json!({"action": "install", "skill_ref": "https://example.org/a/b"}),
        json!({"args": ["install", "https://example.org/a/b"]}),
        json!({"args": ["config", "set", "unattended", "true"]}),
    ] {
        host.blocks("skill_marketplace", &arguments)
            .has("without the user");
    }
}

#[test]
fn a_model_installs_from_configured_sources_only() {
    let host = Host::stdin();
    let install = |reference: &str| json!({"action": "install", "skill_ref": reference});
    host.allows("skill_marketplace", &install("anthropics/skills@pdf"));
    let pinned = host.pre_tool("skill_marketplace", &install("anthropics/pdf"));
    assert_eq!(
        pinned["arguments"]["skill_ref"],
        json!("github:anthropics/skills@pdf")
    );
    host.blocks("skill_marketplace", &install("stranger/skill"))
        .has("install stranger/skill")
        .has("chibi -");
    host.allows("skill_marketplace", &json!({"action": "list_installed"}));
    let host = host.configured("model_installs = \"any\"");
    host.allows("skill_marketplace", &install("stranger/skill"));
    let host = host.configured("model_installs = \"off\"");
    host.blocks("skill_marketplace", &install("anthropics/skills@pdf"));
    // While a skill restricts, installing needs an entry of its own.
    let host =
        host.configured("model_installs = \"any\"")
            .skill("careful", "allowed-tools: Read", "");
    host.activates("careful")
        .blocks("skill_marketplace", &install("stranger/skill"));
}

#[test]
fn what_is_written_is_the_path_that_was_judged() {
    let host = Host::stdin().skill("docs", "allowed-tools: Write(docs/**)", "");
    let project = host.project().canonicalize().unwrap();
    let docs = project.join("docs");
    fs::create_dir(&docs).unwrap();
    symlink(host.home().join(".ssh"), docs.join("link")).unwrap();
    symlink("round", docs.join("round")).unwrap();
    host.activates("docs");
    for path in [
        "docs/link/key",
        "docs/new/../link/key",
        "docs/round/../x",
        "vfs://../.claude/skills/evil/SKILL.md",
        "vfs://docs/x",
    ] {
        let arguments = json!({"path": path, "content": ""});
        host.blocks("write_file", &arguments);
        let last = json!({"tool_name": "write_file", "path": path, "content": ""});
        let answer = host.hook("pre_file_write", &last);
        assert_eq!(answer["denied"], true, "{path}: {answer}");
    }
    let handed = host.pre_tool(
        "write_file",
        &json!({"path": "docs/new/../x", "content": ""}),
    );
    let path = handed["arguments"]["path"].as_str().unwrap();
    path.finishes("/docs/x").lacks("..");
}
