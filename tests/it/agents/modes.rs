//! What a mode never allows, and what it does not let pass without a question.

use serde_json::{Value, json};

use super::all::worlds;
use super::{World, claude_code, codex, copilot, qwen_code};
use crate::host::Has;

#[test]
fn no_mode_lets_a_protected_place_be_changed() {
    // `restrict` is what holds in every agent (all.rs).
    for mode in ["grant", "both", "ask"] {
        for world in worlds() {
            let agent = world.form.agent;
            let world = world.using("pdf", "allowed-tools: Read").in_mode(mode);
            for file in [
                world.project().join(".claude/settings.json"),
                world.home().join(".codex/hooks.json"),
                world.data().join("config.toml"),
            ] {
                let denied = world.write(&file);
                assert!(denied.is_denied(), "{agent} {mode}: {denied:?}");
                for program in ["touch", "rm -rf"] {
                    let denied = world.run(&format!("{program} {}", file.display()));
                    assert!(denied.is_denied(), "{agent} {mode}: {denied:?}");
                }
            }
        }
    }
}

#[test]
fn a_protected_place_is_named_where_the_person_would_be_asked() {
    let world = World::of(&claude_code::FORM).skill("pdf", "allowed-tools: Read");
    let world = world.in_mode("ask");
    world.activate("pdf");
    let (_, reason) = world.run("touch ~/.claude/settings.json").decision();
    reason.has("~/.claude/settings.json");
    reason.has("their restrictions");
    assert_eq!(world.run("touch x").decision().0, "ask");
    let ours = env!("CARGO_BIN_EXE_agent-skills");
    assert!(world.run(&format!("{ours} deactivate")).is_denied());
}

fn confirmed(world: World) -> World {
    world.activate("pdf");
    let mut done = world.payload("post-tool-use-skill");
    done["tool_input"] = json!({"skill": "pdf"});
    world.hook(&done);
    world
}

#[test]
fn an_argument_that_is_not_known_is_never_granted() {
    let list = "allowed-tools: Bash(git log:*), Write(docs/**), mcp__x__y(a:*)";
    let world = World::of(&claude_code::FORM).skill("pdf", list);
    let world = confirmed(world.in_mode("grant"));
    let file = world.project().join("docs/x");
    for (tool, arguments, decision) in [
        ("Bash", json!({"command": "git log", "timeout": 9}), "allow"),
        (
            "Bash",
            json!({"command": "git log", "dangerouslyDisableSandbox": true}),
            "silence",
        ),
        ("Bash", json!({"command": "git log", "new": 1}), "silence"),
        ("Write", json!({"file_path": file, "content": "x"}), "allow"),
        ("Write", json!({"file_path": file, "force": 1}), "silence"),
        ("mcp__x__y", json!({"a": "b"}), "silence"),
    ] {
        let answer = world.call(tool, arguments.clone());
        assert_eq!(answer.decision().0, decision, "{tool} {arguments}");
    }
}

#[test]
fn a_grant_does_not_begin_with_a_failure() {
    let failures: [(&str, Value); 5] = [
        ("tool_response", json!({"success": false})),
        ("tool_response", json!({"success": true, "is_error": true})),
        ("tool_response", json!({"error": "no such skill"})),
        ("error", json!("no such skill")),
        ("tool_response", Value::Null),
    ];
    for form in [&claude_code::FORM, &qwen_code::FORM] {
        let (question, granted) = match form.agent.as_str() {
            "qwen-code" => ("PermissionRequest", "\"allow\""),
            _ => ("PreToolUse", "\"allow\""),
        };
        for (key, told) in &failures {
            let world = World::of(form).skill("pdf", "allowed-tools: Bash(git log:*)");
            let world = world.in_mode("grant");
            world.activate("pdf");
            let mut done = world.payload("post-tool-use-skill");
            done["tool_input"] = json!({"skill": "pdf"});
            done[*key] = told.clone();
            world.hook(&done);
            let mut call = world.calling(form.shell.1, json!({"command": "git log"}));
            call["hook_event_name"] = json!(question);
            assert!(world.hook(&call).is_silent(), "{} {told}", form.agent);
            done = world.payload("post-tool-use-skill");
            done["tool_input"] = json!({"skill": "pdf"});
            world.hook(&done);
            let answer = world.hook(&call);
            assert!(answer.stdout.contains(granted), "{}", form.agent);
        }
    }
    for result in ["failure", "denied", "rejected"] {
        let world = World::of(&copilot::FORM).skill("pdf", "allowed-tools: Bash(git log:*)");
        let world = world.in_mode("grant");
        world.activate("pdf");
        let mut done = world.payload("post-tool-use-skill");
        done["tool_input"] = json!({"skill": "pdf"});
        done["tool_result"]["result_type"] = json!(result);
        world.hook(&done);
        assert!(world.run("git log").is_silent(), "{result}");
        let world = confirmed(world);
        assert_eq!(world.run("git log").decision().0, "allow", "{result}");
    }
}

#[test]
fn a_moved_home_and_the_usual_one_are_protected() {
    for (form, variable, files) in [
        (
            &codex::FORM,
            "CODEX_HOME",
            &["moved/hooks.json", "home/.codex/hooks.json"][..],
        ),
        (
            &claude_code::FORM,
            "CLAUDE_CONFIG_DIR",
            &[
                "moved/settings.json",
                "moved/.claude.json",
                "home/.claude/settings.json",
                "home/.claude.json",
            ],
        ),
        (
            &qwen_code::FORM,
            "QWEN_HOME",
            &["moved/settings.json", "home/.qwen/settings.json"],
        ),
    ] {
        let world = World::of(form);
        let root = world.project().with_file_name("");
        let world = world.with_variable(variable, root.join("moved"));
        let text = "---\nname: pdf\ndescription: d\nallowed-tools: Read, Write, Edit, Bash\n---\n";
        world.file("moved/skills/pdf/SKILL.md", text);
        match form.skill {
            "" => world.run(&format!("cat {}/moved/skills/pdf/SKILL.md", root.display())),
            _ => world.activate("pdf"),
        };
        for file in files {
            world.write(&root.join(file)).stops((&variable, &file));
        }
        assert!(world.write(&world.project().join("x")).is_silent());
    }
}
