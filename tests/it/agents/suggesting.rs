//! What is recorded about an agent's calls, and the entries that `suggest` makes of them.

use agent_skills::host::agent::table::AgentProfile;
use serde_json::{Value, json};
use skill_permission::vocabulary::Capability;
use skill_permission::vocabulary::{AgentTool, HOST_TOOLS, McpNaming};

use super::all::worlds;
use super::{World, claude_code, codex};
use crate::host::Has;

/// Arguments with which a tool does something outside the project.
fn arguments(tool: &AgentTool) -> Option<Value> {
    let with = |value: &str| json!({ tool.keys[0]: value });
    Some(match tool.does {
        Capability::Shell => with("make test"),
        Capability::ReadFile => with("/var/lib/x/a"),
        Capability::WriteFile => with("/var/lib/x/b"),
        Capability::EditFile => with("/var/lib/x/c"),
        Capability::Patch => with("*** Begin Patch\n*** Add File: out/a\n+x\n*** End Patch"),
        Capability::SearchContent | Capability::ListDirectory => with("/var/lib/x"),
        Capability::FindFiles => json!({ tool.keys[0]: "/var/lib/x", "pattern": "*.md" }),
        Capability::Fetch => {
            json!({ tool.keys[0]: "https://a.org/b", "prompt": "read https://a.org/b" })
        }
        Capability::SubAgent => with("general"),
        Capability::WebSearch | Capability::Todo | Capability::AskUser => json!({}),
        _ => return None,
    })
}

fn mcp(table: &AgentProfile) -> &'static str {
    match table.vocabulary.mcp {
        McpNaming::DoubleUnderscores => "mcp__docs__look-up",
        McpNaming::Underscores => "mcp_docs_look-up",
        McpNaming::Hyphen => "docs-look_up",
        McpNaming::Underscore => "docs_look-up",
    }
}

fn suggested(world: &World, skill: &str) -> Value {
    serde_json::from_str(&world.person(&["suggest", skill, "--json"])).unwrap()
}

/// As `--local` does for a person at a terminal.
fn apply(world: &World, found: &Value) {
    let entries = found["entries"].as_array().unwrap().iter();
    let entries: Vec<&Value> = entries.map(|one| &one["entry"]).collect();
    let text = format!("[skills.pdf]\nallow = {}\n", json!(entries));
    world.file("home/.chibi/plugins/agent-skills/config.toml", &text);
}

#[test]
fn what_is_suggested_lets_the_call_pass_in_its_agent() {
    for world in worlds() {
        let agent = world.form.agent;
        let world = world.using("pdf", "allowed-tools: Bash(git log:*)");
        let table = agent.table();
        let tools = table.vocabulary.tools.iter();
        let each =
            |tool: &'static AgentTool| tool.names.iter().map(move |name| (*name, arguments(tool)));
        let tools = tools.flat_map(each);
        let tools = tools.filter_map(|(name, arguments)| Some((name, arguments?)));
        let others = [(mcp(table), json!({"q": "x"})), ("Strange", json!({}))];
        let calls: Vec<_> = tools.chain(others).collect();
        let mut refused = Vec::new();
        for (tool, arguments) in calls {
            if world.call(tool, arguments.clone()).is_denied() {
                refused.push((tool, arguments));
            }
        }
        let shell = table
            .vocabulary
            .tools
            .iter()
            .find(|tool| tool.does == Capability::Shell);
        let of_shell = |(tool, _): &(&str, _)| shell.is_some_and(|it| it.names.contains(tool));
        assert!(refused.iter().any(of_shell));
        let found = suggested(&world, "pdf");
        assert_eq!(found["left_out"], json!([]), "{agent}");
        let entries = found["entries"].as_array().unwrap().iter();
        let entries: Vec<&str> = entries.map(|one| one["entry"].as_str().unwrap()).collect();
        assert!(
            entries.iter().any(|it| it.starts_with("mcp__docs__look")),
            "{agent}: {entries:?}"
        );
        for entry in &entries {
            let name = entry.split('(').next().unwrap();
            assert!(
                HOST_TOOLS.iter().all(|tool| tool.name != name),
                "{agent}: {entry}"
            );
        }
        apply(&world, &found);
        for (tool, arguments) in refused {
            let answer = world.call(tool, arguments.clone());
            assert!(
                !answer.is_denied(),
                "{agent}: {tool} {arguments}: {answer:?}\n{entries:?}"
            );
        }
    }
}

#[test]
fn the_audit_has_the_agents_own_name_of_a_tool() {
    for world in worlds() {
        let world = world.using("pdf", "allowed-tools: Read");
        world.run("touch x");
        let tool = world.form.shell.1;
        let lines = world.audit();
        let line = lines.lines().last().unwrap();
        for part in [
            r#""tool":"run_command""#,
            &format!(r#""agent_tool":"{tool}""#),
        ] {
            line.has(part);
        }
        world
            .person(&["audit"])
            .has(&format!("tool=run_command agent_tool={tool} "));
    }
}

#[test]
fn what_no_entry_lets_pass_is_said_with_its_reason() {
    let world = World::of(&codex::FORM).using("pdf", "allowed-tools: Bash");
    for command in ["vi x", "python3"] {
        let denied = codex::recorded(&world, command, r#"{"cmd":"x","tty":true}"#);
        assert!(denied.is_denied(), "{denied:?}");
    }
    let found = suggested(&world, "pdf");
    assert_eq!(found["entries"], json!([]));
    assert_eq!(found["left_out"][0]["reason"], "typed");
    assert_eq!(found["left_out"][0]["calls"], 2);
}

#[test]
fn a_skill_that_may_not_become_active_lacks_no_entry() {
    let world = World::of(&claude_code::FORM).skill("csv", "allowed-tools: Read");
    assert!(!world.activate("csv").is_denied());
    world.file(
        "home/.claude/skills/csv/SKILL.md",
        "---\nname: csv\ndescription: d\nallowed-tools: Read\n---\n!`touch x`\n",
    );
    assert!(world.activate("csv").is_denied());
    let found = suggested(&world, "csv");
    assert_eq!(found["recorded"]["calls"], 0, "{found}");
}

#[test]
fn a_read_by_sed_is_suggested_and_passes() {
    let world = World::of(&codex::FORM).using("pdf", "allowed-tools: Bash(git log:*)");
    let read = "sed -n '1,200p' .codex/skills/x/SKILL.md";
    assert!(world.run(read).is_denied());
    apply(&world, &suggested(&world, "pdf"));
    assert!(world.run(read).is_silent());
}

#[test]
fn a_skill_that_a_list_forbids_is_named_in_an_entry() {
    let world = World::of(&claude_code::FORM)
        .using("pdf", "allowed-tools: Read, Skill(other)")
        .skill("csv", "allowed-tools: Read");
    assert!(world.activate("csv").is_denied());
    let found = suggested(&world, "pdf");
    assert_eq!(found["entries"][0]["entry"], "Skill(csv)", "{found}");
    apply(&world, &found);
    assert!(!world.activate("csv").is_denied());
}
