//! What a refusal says, what is refused beforehand or without a state, and what each part of a decision
//! rests on.

use serde_json::json;

use super::{OurTool, Outcome, Part, ToolCall, decide_unreadable_state, free, never_allowed};
use crate::scene::{Scene, activating, scene};
use crate::settings::Stacking;

#[test]
fn a_refusal_names_skill_tool_part_and_what_is_allowed() {
    let scene = scene().active("Bash(git:*) Read");
    let message = scene.refusal("shell_exec", &json!({"command": "rm -rf x"}));
    for part in [
        "not allowed",
        "`shell_exec`",
        "`pdf`",
        "rm -rf x",
        "shell_exec(git:*)",
        "file_head",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(message.chars().count() <= 600);
    let many = free().active("Bash(git:*) Glob Write Edit");
    let message = many.refusal("x", &json!({}));
    let all = "Allowed: shell_exec(git:*), glob_files, dir_list, write_file, file_edit, vfs_mkdir.";
    assert!(message.contains(all), "{message}");
    let long = free().active("Bash(git log --oneline --graph:*)");
    let message = long.refusal("x", &json!({}));
    let all = "Allowed: shell_exec(git log --oneline --graph:*).";
    assert!(message.contains(all), "{message}");
}

#[test]
fn with_an_unreadable_state_only_reading_goes_on() {
    let arguments = json!({});
    let allows = |tool, ours| {
        let call = ToolCall {
            tool,
            arguments: &arguments,
            ours,
            meant: &[],
        };
        decide_unreadable_state(&call).allows()
    };
    for tool in ["file_head", "grep_files", "call_user", "vfs_list"] {
        assert!(allows(tool, None), "{tool}");
    }
    for tool in [
        "shell_exec",
        "write_file",
        "fetch_url",
        "spawn_agent",
        "vfs_delete",
        "my_tool",
        "scheme_eval",
    ] {
        assert!(!allows(tool, None), "{tool}");
    }
    assert!(allows("skill_pdf", Some(activating("pdf"))));
    assert!(!allows("agent-skills", Some(OurTool::Direct)));
    let call = ToolCall {
        tool: "shell_exec",
        arguments: &arguments,
        ours: None,
        meant: &[],
    };
    let Outcome::Blocked(refusal) = decide_unreadable_state(&call).outcome else {
        panic!("allowed");
    };
    let message = refusal.message();
    assert!(
        message.contains("not allowed") && message.contains("next prompt"),
        "{message}"
    );
    let call = ToolCall {
        tool: "agent-skills",
        arguments: &arguments,
        ours: Some(OurTool::Direct),
        meant: &[],
    };
    let Outcome::Blocked(refusal) = decide_unreadable_state(&call).outcome else {
        panic!("allowed");
    };
    let message = refusal.message();
    assert!(message.contains("skill_marketplace"), "{message}");
}

#[test]
fn what_no_argument_could_make_allowed_is_known_beforehand() {
    let scene = scene().skill("pdf", Some("Bash(git:*) Read(src/**)"), &["index_query"]);
    let tools: [(&str, Option<OurTool>); 11] = [
        ("shell_exec", None),
        ("write_file", None),
        ("fetch_url", None),
        ("index_query", None),
        ("call_user", None),
        ("file_tail", None),
        ("skill_x", Some(activating("x"))),
        ("skill_other_plugins", None),
        (
            "run_skill_script",
            Some(OurTool::RunSkillScript { skill: None }),
        ),
        (
            "skill_marketplace",
            Some(OurTool::Marketplace { action: None }),
        ),
        ("agent-skills", Some(OurTool::Direct)),
    ];
    let forbidden = scene.scoped(|scope| never_allowed(scope, tools.into_iter()));
    let expected = [
        "write_file",
        "fetch_url",
        "index_query",
        "skill_other_plugins",
        "agent-skills",
    ];
    assert_eq!(forbidden, expected);
    let forbidden = |scene: &Scene| {
        let tools = [
            ("agent-skills", Some(OurTool::Direct)),
            ("my_tool", None),
            ("other", None),
        ];
        scene.scoped(|scope| never_allowed(scope, tools.into_iter()).join(" "))
    };
    assert_eq!(forbidden(&free()), "agent-skills");
    let denied = free().skill("a", None, &["my_tool"]);
    assert_eq!(forbidden(&denied), "agent-skills my_tool");
    let always = free()
        .active("Read")
        .with(|settings| settings.always_allowed = vec!["My-Tool".to_owned()]);
    assert_eq!(forbidden(&always), "agent-skills other");
}

/// The outcome's parts: their texts, and what grants them.
fn evidence(
    scene: &Scene,
    tool: &str,
    arguments: &serde_json::Value,
) -> Vec<(String, Option<String>)> {
    let decision = scene.decide(tool, None, arguments);
    let part = |part: Part| (part.text, part.outcome.ok().map(|by| by.to_string()));
    decision.parts.into_iter().map(part).collect()
}

#[track_caller]
fn rests_on(scene: &Scene, command: &str, expected: &[(&str, Option<&str>)]) {
    let found = evidence(scene, "shell_exec", &json!({ "command": command }));
    let found: Vec<_> = found
        .iter()
        .map(|(text, by)| (text.as_str(), by.as_deref()))
        .collect();
    assert_eq!(found, expected, "{command}");
}

#[test]
fn each_part_has_the_rule_that_grants_it_or_a_reason() {
    let scene = scene().active("Bash(git:*) Read");
    let expected = [
        ("curl x", None),
        ("out", None),
        ("git log $(curl x)", Some("Bash(git:*)")),
        ("echo a", Some("it needs no grant")),
    ];
    rests_on(&scene, "git log $(curl x) > out; echo a", &expected);
    let read = evidence(&scene, "file_head", &json!({"path": "x"}));
    assert_eq!(read, [("file_head".to_owned(), Some("Read".to_owned()))]);
    let other = crate::scene::scene().active("Read");
    rests_on(&other, "ls; git log", &[("ls", None), ("git log", None)]);
}

#[test]
fn a_denied_part_names_the_rule_and_whose_it_is() {
    let scene = scene().active("Bash(git:*)").policy(&["Bash(git push:*)"]);
    let command = json!({"command": "git log; git push"});
    let [part] = &scene.decide("shell_exec", None, &command).parts[..] else {
        panic!("one part is refused");
    };
    let why = "`policy` denies it with `Bash(git push:*)`".to_owned();
    assert_eq!((part.text.as_str(), &part.outcome), ("git push", &Err(why)));
}

#[test]
fn the_granting_rules_are_named_once_with_their_skills() {
    let scene = scene()
        .skill("a", Some("Bash(git:*) Bash(ls:*)"), &[])
        .skill("b", Some("Bash"), &[])
        .with(|settings| settings.stacking = Stacking::Intersect);
    let command = json!({"command": "git a; ls; git b; echo"});
    let decision = scene.decide("shell_exec", None, &command);
    let granting = decision.granting().into_iter();
    let granting: Vec<_> = granting
        .map(|by| (by.source.as_str(), by.rule.as_str()))
        .collect();
    assert_eq!(
        granting,
        [("a", "Bash(git:*)"), ("a", "Bash(ls:*)"), ("b", "Bash")]
    );
}
