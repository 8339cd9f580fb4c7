//! Decisions as sentences: a scene of skills, rules and settings, and calls in it.

use std::path::Path;

use serde_json::json;

use super::*;
use crate::permission::path::fake::Links;
use crate::permission::scene::{Scene, scene};
use crate::permission::settings::{ScriptScope, Stacking};

#[test]
fn without_an_active_skill_everything_is_allowed_but_the_direct_tool() {
    let none = scene();
    assert!(none.runs("rm -rf /") && none.allows("x", &json!([1])));
    assert!(!none.allows_ours("agent-skills", OurTool::Direct));
    let free = scene().skill("free", None, &[]);
    assert!(free.runs("rm -rf /") && free.allows("x", &json!(null)));
    assert!(!free.allows_ours("agent-skills", OurTool::Direct));
}

#[test]
fn names_of_other_clients_reach_this_hosts_tools() {
    let nothing = json!({});
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            "Read",
            &["file_head", "file_lines", "file_grep", "read_file"],
            &["dir_list", "write_file", "Reader"],
        ),
        ("read_file", &["file_head", "read_file"], &["shell_exec"]),
        (
            "Grep",
            &["grep_files", "file_grep", "index_query"],
            &["file_head"],
        ),
        ("Glob", &["glob_files", "dir_list"], &["grep_files"]),
        ("LS", &["dir_list", "vfs_list"], &["glob_files"]),
        (
            "Write",
            &["write_file", "file_edit", "vfs_mkdir"],
            &["vfs_delete", "shell_exec"],
        ),
        ("Edit", &["file_edit"], &["write_file"]),
        ("web-fetch", &["fetch_url"], &["web_search"]),
        ("WebSearch", &["web_search", "websearch"], &["fetch_url"]),
        ("Task", &["spawn_agent"], &["send_message"]),
        ("SendMessage", &["send_message"], &["spawn_agent"]),
        ("file_head", &["file_head"], &["file_tail"]),
        ("file_*", &["file_head", "file_edit"], &["write_file"]),
        ("vfs_*", &["vfs_list"], &["vfs_delete", "vfs_copy"]),
        ("fi*", &[], &["file_head"]),
        ("vfs_delete", &["vfs_delete"], &["vfs_move"]),
        ("my_tool", &["my_tool", "my-tool"], &["my_tool2"]),
        ("LSP BashOutput", &[], &["shell_exec", "scheme_eval"]),
        ("*", &["shell_exec", "anything"], &[]),
    ];
    for (list, allowed, blocked) in table {
        let scene = scene().active(list);
        for tool in *allowed {
            let arguments = if *tool == "shell_exec" {
                json!({"command": "x"})
            } else {
                nothing.clone()
            };
            assert!(scene.allows(tool, &arguments), "{list}: {tool}");
        }
        for tool in *blocked {
            assert!(!scene.allows(tool, &nothing), "{list}: {tool}");
        }
    }
}

#[test]
fn mcp_names_reach_only_what_the_host_reports_as_mcp() {
    let nothing = json!({});
    for list in [
        "mcp__git-hub__issue",
        "mcp__git-hub__*",
        "mcp__git-hub",
        "git-hub:issue",
        "git-hub/issue",
        "MCP(git-hub:*)",
        "git-h*:*",
        "mcp_git-h*",
    ] {
        let scene = scene()
            .active(list)
            .mcp("git-hub_issue")
            .mcp("other_issue")
            .mcp("file_head");
        assert!(scene.allows("git-hub_issue", &nothing), "{list}");
        for tool in [
            "other_issue",
            "git-hub_unreported",
            "file_head",
            "shell_exec",
        ] {
            assert!(!scene.allows(tool, &nothing), "{list}: {tool}");
        }
    }
    let plugin = scene().active("mcp__file__head").mcp("file_head");
    assert!(!plugin.allows("file_head", &nothing));
}

#[test]
fn commands_are_granted_by_their_words() {
    let scene = scene().active("Bash(git:*) Bash(npm run test:*), Bash(ls)");
    for command in [
        "git",
        "git log --oneline",
        "npm run test:unit",
        "ls",
        "git commit -m 'a b'",
    ] {
        assert!(scene.runs(command), "{command}");
    }
    for command in [
        "gitk",
        "ls -l",
        "npm run testing",
        "npm",
        "",
        "rm -rf x",
        "sudo git log",
    ] {
        assert!(!scene.runs(command), "{command}");
    }
    assert!(!scene.allows("shell_exec", &json!({})));
    assert!(!scene.allows("shell_exec", &json!({"command": ["git"]})));
    assert!(!scene.allows("shell_exec", &json!(["git"])));
    assert!(scene.allows("run_command", &json!({"command": "git log"})));
}

#[test]
fn a_bare_shell_grants_every_command_but_not_a_missing_one() {
    for list in ["Bash", "Bash(*)", "shell_exec", "bash"] {
        let scene = scene().active(list);
        assert!(scene.runs("rm -rf x; $(curl evil)"), "{list}");
        assert!(!scene.allows("shell_exec", &json!({})), "{list}");
    }
}

#[test]
fn an_empty_or_broken_list_leaves_the_baseline() {
    for list in ["", "Bash()", "| -", "Bash(git", "Bash(cmd:*)"] {
        let scene = scene().active(list);
        assert!(!scene.runs("git log") && !scene.runs("cmd x"), "{list}");
        assert!(!scene.allows("file_head", &json!({"path": "x"})), "{list}");
        assert!(scene.allows("call_user", &json!({})), "{list}");
        let run = OurTool::RunSkillScript {
            skill: Some(Path::new("/skills/s")),
        };
        assert!(scene.allows_ours("run_skill_script", run), "{list}");
    }
}

#[test]
fn a_tool_of_another_plugin_does_not_pass_for_one_of_ours() {
    let scene = scene().active("Read Skill");
    assert!(!scene.allows("skill_evil", &json!({})));
    assert!(scene.allows_ours("skill_docx", OurTool::Skill("docx")));
}

#[test]
fn entries_for_skills_narrow_what_may_be_activated() {
    let narrow = scene().active("Skill(docx) Skill(xlsx *)");
    assert!(narrow.allows_ours("skill_docx", OurTool::Skill("docx")));
    assert!(narrow.allows_ours("skill_xlsx", OurTool::Skill("xlsx")));
    assert!(
        narrow.allows_ours("skill_pdf", OurTool::Skill("pdf")),
        "its own"
    );
    assert!(!narrow.allows_ours("skill_pptx", OurTool::Skill("pptx")));
    let wide = scene().active("Skill(docx) Skill");
    assert!(wide.allows_ours("skill_pptx", OurTool::Skill("pptx")));
}

#[test]
fn the_marketplace_changes_nothing_without_its_entry() {
    let install = OurTool::Marketplace {
        action: Some("install"),
    };
    let search = OurTool::Marketplace {
        action: Some("search"),
    };
    let plain = scene().active("Read");
    assert!(plain.allows_ours("skill_marketplace", search));
    assert!(!plain.allows_ours("skill_marketplace", install));
    assert!(
        !scene()
            .active("skill_*")
            .allows_ours("skill_marketplace", install)
    );
    assert!(
        scene()
            .active("skill_marketplace")
            .allows_ours("skill_marketplace", install)
    );
}

#[test]
fn scripts_are_the_active_skills_own_unless_the_user_chose_otherwise() {
    let docx = OurTool::RunSkillScript {
        skill: Some(Path::new("/skills/docx")),
    };
    let own = scene().active("Read");
    assert!(!own.allows_ours("run_skill_script", docx));
    let entry = scene().active("run_skill_script");
    assert!(entry.allows_ours("run_skill_script", docx));
    let listed = scene()
        .active("Read")
        .with(|s| s.scripts = ScriptScope::Listed);
    assert!(listed.allows_ours("run_skill_script", docx));
    let steered = json!({"skill": "pdf", "env": {"LD_PRELOAD": "/x"}});
    let run = OurTool::RunSkillScript {
        skill: Some(Path::new("/skills/s")),
    };
    let decision =
        scene()
            .active("run_skill_script")
            .decide("run_skill_script", Some(run), &steered);
    assert!(!decision.allows());
}

#[test]
fn a_plugins_tool_of_the_entrys_own_name_is_granted_whole_or_not_at_all() {
    let any = json!({"command": "rm -rf /"});
    let scene = scene().active("Read, Bash, WebFetch");
    for tool in ["Read", "read", "bash", "WebFetch", "web_fetch"] {
        assert!(scene.allows(tool, &any), "{tool}");
    }
    for tool in ["shell", "view", "Write", "skill", "read_context"] {
        assert!(!scene.allows(tool, &any), "{tool}");
    }
    for list in ["Bash(git:*)", "Read(src/**)", "Bash(git:*) Read"] {
        assert!(
            !crate::permission::scene::scene()
                .active(list)
                .allows("bash", &any),
            "{list}"
        );
    }
    let ours = OurTool::RunSkillScript { skill: None };
    assert!(!scene.allows_ours("bash", ours));
    let denied = crate::permission::scene::scene().skill("x", None, &["Bash"]);
    assert!(!denied.allows("bash", &any) && denied.allows("Read", &any));
}

#[test]
fn nothing_is_written_where_restrictions_are_kept() {
    for list in ["Write", "write_file", "Write Edit Bash"] {
        let scene = scene().active(list);
        for path in [
            "/skills/s/SKILL.md",
            "/h/.chibi/plugins/agent-skills/state.json",
            "../h/.chibi/new",
            ".claude/skills/new/SKILL.md",
        ] {
            assert!(
                !scene.allows("write_file", &json!({ "path": path })),
                "{list} {path}"
            );
        }
        assert!(
            scene.allows("write_file", &json!({"path": "src/x"})),
            "{list}"
        );
    }
}

#[test]
fn denials_win_over_every_allowance_and_add_up() {
    let scene = scene()
        .skill("a", None, &["Bash", "call_user"])
        .skill("b", Some("Bash Read Write"), &["write_file(x"])
        .policy(&["WebFetch", "Skill(evil)"]);
    for tool in ["shell_exec", "call_user", "write_file", "fetch_url"] {
        assert!(!scene.allows(tool, &json!({"command": "ls"})), "{tool}");
    }
    assert!(scene.allows("file_head", &json!({})));
    assert!(!scene.allows_ours("skill_evil", OurTool::Skill("evil")));
    assert!(scene.allows_ours("skill_good", OurTool::Skill("good")));
    let message = scene.refusal("shell_exec", &json!({"command": "ls"}));
    assert!(
        message.contains("not allowed") && message.contains("`a` denies it"),
        "{message}"
    );
}

#[test]
fn whether_a_call_is_denied_does_not_depend_on_what_allows_it() {
    let is_denied = |denied: &[&str], tool, arguments| {
        let call = Call {
            tool,
            arguments: &arguments,
            ours: None,
        };
        let scene = scene().skill("a", Some("Read"), denied);
        scene.scoped(|scope| super::denied(scope, &call, &Links::default()))
    };
    assert!(is_denied(&["Write"], "write_file", json!({"path": "a"})));
    assert!(!is_denied(
        &["Write"],
        "shell_exec",
        json!({"command": "ls"})
    ));
    let long = json!({ "command": format!("[[ a ]]''{}", "{a".repeat(1818)) });
    assert!(is_denied(&["Bash(rm:*)"], "shell_exec", long));
}

#[test]
fn a_denial_of_a_tool_is_one_of_its_redirections() {
    let writes = scene().skill("a", None, &["Write"]);
    assert!(!writes.runs("echo x > y") && writes.runs("cat < y") && writes.runs("echo x"));
    let reads = scene().skill("a", None, &["Read"]);
    assert!(!reads.runs("cat < y") && reads.runs("echo x > y"));
}

#[test]
fn a_union_of_no_skills_allows_everything() {
    let none = scene().with(|settings| settings.stacking = Stacking::Union);
    let command = json!({ "command": "rm -rf x" });
    let decision = none.decide("shell_exec", None, &command);
    assert_eq!(decision.outcome, Outcome::Unrestricted);
}

#[test]
fn denials_without_a_list_leave_the_rest_open() {
    let scene = scene().skill("a", None, &["WebFetch"]);
    assert!(scene.runs("anything | at all") && scene.allows("my_tool", &json!({})));
    assert!(!scene.allows("fetch_url", &json!({"url": "https://x"})));
}

#[test]
fn activations_replace_ratchet_intersect_or_unite() {
    let two = |stacking, second: Option<&str>| {
        scene()
            .skill("a", Some("Bash(git:*) Read"), &[])
            .skill("b", second, &[])
            .with(|settings| settings.stacking = stacking)
    };
    let verdicts = |scene: &Scene| {
        let read = scene.allows("file_head", &json!({}));
        (scene.runs("git log"), read, scene.runs("npm test"))
    };
    let table = [
        (
            Stacking::Replace,
            Some("Bash(npm:*) Read"),
            (false, true, true),
        ),
        (Stacking::Replace, None, (true, true, true)),
        (Stacking::Ratchet, Some("Bash(npm:*)"), (false, false, true)),
        (Stacking::Ratchet, None, (true, true, false)),
        (
            Stacking::Intersect,
            Some("Bash(npm:*) Read"),
            (false, true, false),
        ),
        (Stacking::Intersect, None, (true, true, false)),
        (Stacking::Union, Some("Bash(npm:*)"), (true, true, true)),
        (Stacking::Union, None, (true, true, true)),
    ];
    for (stacking, second, expected) in table {
        let scene = two(stacking, second);
        assert_eq!(verdicts(&scene), expected, "{stacking:?} {second:?}");
    }
    let union = two(Stacking::Union, Some("Bash(npm:*)"));
    assert!(!union.runs("rm x"));
}

#[test]
fn enforcement_can_be_softened_for_all_or_for_one_skill() {
    let warn = scene().active("Read").with(|s| s.enforce = Enforce::Warn);
    let decision = warn.decide("shell_exec", None, &json!({"command": "ls"}));
    assert!(
        matches!(decision.outcome, Outcome::Warned(_)),
        "{decision:?}"
    );
    let warned_denial = scene()
        .skill("a", None, &["Bash"])
        .with(|s| s.enforce = Enforce::Warn);
    let decision = warned_denial.decide("shell_exec", None, &json!({"command": "ls"}));
    assert!(
        matches!(decision.outcome, Outcome::Warned(_)),
        "{decision:?}"
    );
    let off = scene()
        .skill("a", Some("Read"), &["Write"])
        .policy(&["WebFetch"])
        .with(|settings| {
            settings.enforce_for.insert("a".into(), Enforce::Off);
        });
    assert!(off.runs("ls") && off.allows("write_file", &json!({})));
    assert!(
        !off.allows("fetch_url", &json!({})),
        "policy is not the skill's to soften"
    );
    let always = scene()
        .active("Read")
        .with(|s| s.always_allowed.push("shell_exec".into()));
    assert!(always.runs("ls | x"));
}

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
        let call = Call {
            tool,
            arguments: &arguments,
            ours,
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
    assert!(allows("skill_pdf", Some(OurTool::Skill("pdf"))));
    assert!(!allows("agent-skills", Some(OurTool::Direct)));
    let call = Call {
        tool: "shell_exec",
        arguments: &arguments,
        ours: None,
    };
    let Outcome::Blocked(refusal) = decide_unreadable_state(&call).outcome else {
        panic!("allowed");
    };
    let message = refusal.message(false);
    assert!(
        message.contains("not allowed") && message.contains("next prompt"),
        "{message}"
    );
    let call = Call {
        tool: "agent-skills",
        arguments: &arguments,
        ours: Some(OurTool::Direct),
    };
    let Outcome::Blocked(refusal) = decide_unreadable_state(&call).outcome else {
        panic!("allowed");
    };
    let message = refusal.message(false);
    assert!(message.contains("skill_marketplace"), "{message}");
}

/// Nothing is active.
fn free() -> Scene {
    scene()
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
        ("skill_x", Some(OurTool::Skill("x"))),
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
    let forbidden = scene.scoped(|scope| forbidden_outright(scope, tools.into_iter()));
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
        scene.scoped(|scope| forbidden_outright(scope, tools.into_iter()).join(" "))
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
    let other = crate::permission::scene::scene().active("Read");
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
        .skill("b", Some("Bash(cat:*)"), &[])
        .with(|settings| settings.stacking = Stacking::Union);
    let command = json!({"command": "git a; ls; git b; cat x; echo"});
    let decision = scene.decide("shell_exec", None, &command);
    let granting = decision.granting().into_iter();
    let granting: Vec<_> = granting
        .map(|by| (by.source.as_str(), by.rule.as_str()))
        .collect();
    assert_eq!(
        granting,
        [
            ("a", "Bash(git:*)"),
            ("a", "Bash(ls:*)"),
            ("b", "Bash(cat:*)")
        ]
    );
}
