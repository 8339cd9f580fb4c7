//! Decisions as sentences: a scene of skills, rules and settings, and calls in it.

mod protected;
mod reasons;
mod stacking;

use std::path::Path;

use serde_json::json;

use super::*;
use crate::scene::{Scene, activating, scene};
use crate::settings::ScriptScope;

#[test]
fn without_an_active_skill_all_but_the_direct_tool_is_allowed() {
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
        ("Edit", &["file_edit", "write_file"], &["vfs_mkdir"]),
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
fn a_denial_reaches_what_a_grant_may_not() {
    let nothing = json!({});
    let market = OurTool::Marketplace {
        action: Some("list"),
    };
    let file = OurTool::ReadSkillFile { skill: None };
    let script = OurTool::RunSkillScript { skill: None };
    let table: &[(&str, &str, Option<OurTool>)] = &[
        ("vfs_*", "vfs_copy", None),
        ("vfs_*", "vfs_move", None),
        ("vfs_*", "vfs_delete", None),
        ("vfs-*", "vfs_delete", None),
        ("send_*", "send_message", None),
        ("update_*", "update_goals", None),
        ("update_*", "update_reflection", None),
        ("sche*", "scheme_eval", None),
        ("read_*", "read_context", None),
        ("read_*", "read_skill_file", Some(file)),
        ("run_skill_*", "run_skill_script", Some(script)),
        ("skill_*", "skill_session", Some(OurTool::Session)),
        ("skill_*", "skill_marketplace", Some(market)),
        ("Bash*", "shell_exec", None),
        ("Web*", "fetch_url", None),
        ("mcp__github__*", "github_delete_repo", None),
        ("mcp__github__delete_repo", "github_delete_repo", None),
        ("mcp_git*", "github_delete_repo", None),
        ("github:delete_repo", "github_delete_repo", None),
        ("Bash(rm:*)", "bash", None),
        ("curl", "curl", None),
        ("LSP", "lsp", None),
    ];
    for (entry, tool, ours) in table {
        let denies = |scene: Scene| !scene.decide(tool, *ours, &nothing).allows();
        assert!(denies(scene().policy(&[entry])), "policy: {entry}: {tool}");
        let skill = scene().skill("s", None, &[entry]);
        assert!(denies(skill), "skill: {entry}: {tool}");
    }
    for (entry, tool) in [
        ("vfs_*", "file_head"),
        ("read_*", "file_head"),
        ("mcp__file__head", "file_head"),
        ("mcp__vfs", "vfs_list"),
        ("mcp__github__x", "github_y"),
        ("Skill(deploy)", "skill"),
    ] {
        assert!(scene().policy(&[entry]).allows(tool, &nothing), "{entry}");
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
    for list in ["", "Bash()", "| -", "Bash(git", "Bash(cmd:*)", "Bash:*"] {
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
    assert!(scene.allows_ours("skill_docx", activating("docx")));
}

#[test]
fn entries_for_skills_narrow_what_may_be_activated() {
    let narrow = scene().active("Skill(docx) Skill(xlsx *)");
    assert!(narrow.allows_ours("skill_docx", activating("docx")));
    assert!(narrow.allows_ours("skill_xlsx", activating("xlsx")));
    let (name, dir) = ("pdf", Path::new("/skills/s"));
    assert!(narrow.allows_ours("skill_pdf", OurTool::Skill { name, dir }));
    assert!(
        !narrow.allows_ours("skill_pdf", activating("pdf")),
        "a namesake"
    );
    assert!(!narrow.allows_ours("skill_pptx", activating("pptx")));
    let wide = scene().active("Skill(docx) Skill");
    assert!(wide.allows_ours("skill_pptx", activating("pptx")));
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
fn scripts_are_the_active_skills_own_unless_configured() {
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
fn a_plugins_tool_is_granted_whole_or_not_at_all() {
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
            !crate::scene::scene().active(list).allows("bash", &any),
            "{list}"
        );
    }
    let ours = OurTool::RunSkillScript { skill: None };
    assert!(!scene.allows_ours("bash", ours));
    let denied = crate::scene::scene().skill("x", None, &["Bash"]);
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

/// Nothing is active.
fn free() -> Scene {
    scene()
}

#[test]
fn a_link_behind_a_climb_is_judged_as_it_will_be_opened() {
    let disk = [
        ("/p/docs/l", "/h/.ssh"),
        ("/p/docs/m", "/h/.chibi/plugins"),
        ("/p/docs/src", "/p/src"),
        ("/p/round", ""),
    ];
    let granted = scene().active("Write(docs/**)").on(&disk);
    let denied = scene()
        .skill("a", Some("Write"), &["Write(~/.ssh/**)"])
        .on(&disk);
    for path in ["docs/new/../l/key", "docs/src/../l/key", "round/../docs/x"] {
        let arguments = json!({"path": path, "content": ""});
        assert!(!granted.allows("write_file", &arguments), "{path}");
        assert!(!denied.allows("write_file", &arguments), "{path}");
    }
    let shell = scene()
        .active("Bash(mkdir:*) Bash(echo:*) Bash(cd:*) Bash(git:*) Bash(tee:*) Write(**)")
        .on(&disk);
    for command in [
        "mkdir -p docs/new && echo x > docs/new/../m/config.toml",
        "mkdir -p docs/new && echo x | tee docs/new/../m/config.toml",
        "cd docs/src/.. && echo x > m/config.toml",
        "cd docs/src/.. && echo x | tee m/config.toml",
        "git -C docs/m/../.. clone u .chibi/x",
        "mkdir vfs: && echo x > vfs:///../docs/m/config.toml",
    ] {
        assert!(!shell.runs(command), "{command}");
    }
    for command in ["echo x > docs/new/../x", "cd docs && echo x > ../x"] {
        assert!(shell.runs(command), "{command}");
    }
}
