use super::*;
use crate::host::Agent;
use skill_permission::vocabulary::HOST_TOOLS;

fn ours(agent: Agent, tool: &str, arguments: Value) -> Vec<(String, Value)> {
    let used = ToolUse {
        tool: tool.to_owned(),
        arguments,
    };
    let calls = translate(agent.table(), &used, Path::new("/p/sub")).unwrap();
    let calls = calls.into_iter();
    calls.map(|call| (call.tool, call.arguments)).collect()
}

fn one(agent: Agent, tool: &str, arguments: Value) -> (String, Value) {
    let mut all = ours(agent, tool, arguments);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn paths_are_what_the_agent_means() {
    for (agent, tool, arguments, ours, path) in [
        (
            Agent::ClaudeCode,
            "Read",
            json!({"file_path": "/a"}),
            "read_file",
            "/a",
        ),
        (
            Agent::ClaudeCode,
            "Grep",
            json!({"pattern": "x"}),
            "grep_files",
            "/p/sub",
        ),
        (
            Agent::Gemini,
            "replace",
            json!({"file_path": "../x"}),
            "file_edit",
            "/p/sub/../x",
        ),
        (
            Agent::QwenCode,
            "list_directory",
            json!({"path": "d"}),
            "dir_list",
            "/p/sub/d",
        ),
        (
            Agent::OpenCode,
            "write",
            json!({"filePath": "x"}),
            "write_file",
            "/p/sub/x",
        ),
        (
            Agent::Copilot,
            "Read",
            json!({"path": "/x"}),
            "read_file",
            "/x",
        ),
    ] {
        let (name, arguments) = one(agent, tool, arguments);
        assert_eq!(
            (name.as_str(), arguments["path"].as_str()),
            (ours, Some(path))
        );
    }
}

#[test]
fn a_call_of_several_files_is_several() {
    let changes = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: /b\n*** Move to: ../c\n\
                 *** Delete File: d\n*** End Patch";
    let paths = |calls: Vec<(String, Value)>| -> Vec<String> {
        let path = |(_, arguments): (String, Value)| arguments["path"].as_str().unwrap().to_owned();
        calls.into_iter().map(path).collect()
    };
    let patched = ours(Agent::Codex, "apply_patch", json!({"command": changes}));
    assert_eq!(
        paths(patched),
        ["/p/sub/a", "/b", "/p/sub/../c", "/p/sub/d"]
    );
    let searched = ours(
        Agent::Copilot,
        "grep",
        json!({"pattern": "x", "paths": ["/a", "b"]}),
    );
    assert_eq!(paths(searched), ["/a", "/p/sub/b"]);
    let text = json!({"prompt": "compare https://a.org/x and HTTP://b.org"});
    let fetched = ours(Agent::Gemini, "web_fetch", text);
    assert_eq!(fetched[0].1["url"], "https://a.org/x");
    assert_eq!(fetched[1].1["url"], "HTTP://b.org");
}

#[test]
fn a_pattern_begins_where_its_plain_part_leads() {
    for (pattern, path, rest) in [
        ("**/*.rs", "/p/sub", "**/*.rs"),
        ("/etc/*.conf", "/etc", "*.conf"),
        ("../../*", "/p/sub/../..", "*"),
        ("a/b", "/p/sub/a/b", ""),
        (
            "{src,.github}/*.{rs,ts}",
            "/p/sub",
            "{src,.github}/*.{rs,ts}",
        ),
    ] {
        let found = one(Agent::ClaudeCode, "Glob", json!({ "pattern": pattern }));
        assert_eq!(found.1, json!({"path": path, "pattern": rest}), "{pattern}");
    }
}

#[test]
fn other_tools_keep_a_name_that_is_no_tool_of_ours() {
    for (agent, tool, name, is_mcp) in [
        (
            Agent::ClaudeCode,
            "mcp__github__get_issue",
            "github-get_issue",
            true,
        ),
        (Agent::Gemini, "mcp_file_head", "file-head", true),
        (Agent::Copilot, "github-get_issue", "github-get_issue", true),
        (Agent::OpenCode, "shell_exec", "shell-exec", true),
        (Agent::ClaudeCode, "Monitor", "Monitor", false),
        (Agent::ClaudeCode, "call_user", "call-user", false),
    ] {
        let calls = agent
            .table()
            .vocabulary
            .calls(tool, &json!({}), Path::new("/"));
        let call = &calls.unwrap()[0];
        assert_eq!((&*call.tool, call.is_mcp), (name, is_mcp), "{tool}");
    }
    for tool in HOST_TOOLS {
        assert!(tool.name.contains('_'), "{}", tool.name);
    }
}

#[test]
fn a_call_without_what_decides_is_an_error() {
    for (agent, tool, arguments) in [
        (Agent::ClaudeCode, "Read", json!({"file": "/x"})),
        (Agent::ClaudeCode, "Bash", json!({"command": 3})),
        (Agent::ClaudeCode, "Bash", json!(null)),
        (Agent::Codex, "apply_patch", json!({"command": "nothing"})),
        (
            Agent::QwenCode,
            "web_fetch",
            json!({"url": "https://a.org\n.b.org/"}),
        ),
        (Agent::Gemini, "glob", json!({"pattern": "{/etc/host*,x}"})),
        (Agent::Gemini, "glob", json!({"pattern": "[.][.]/*"})),
        (Agent::Gemini, "glob", json!({"pattern": "{.,x}./*"})),
        (Agent::Copilot, "grep", json!({"paths": [3]})),
    ] {
        let used = ToolUse {
            tool: tool.to_owned(),
            arguments,
        };
        assert!(
            translate(agent.table(), &used, Path::new("/p")).is_err(),
            "{used:?}"
        );
    }
}
