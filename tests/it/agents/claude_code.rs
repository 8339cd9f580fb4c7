//! Claude Code.

use agent_skills::host::Agent;
use serde_json::{Value, json};

use super::{Form, World};
use crate::host::Has;

pub static FORM: Form = Form {
    agent: Agent::ClaudeCode,
    release: "claude-code-2.1.330",
    shell: ("pre-tool-use-bash", "Bash"),
    skills: ".claude/skills",
    skill: "pre-tool-use-skill",
    write: ("Write", "file_path"),
    keys: ["session_id", "prompt_id", "cwd"],
};

const READ: &str = "allowed-tools: Read";
const LOG: &str = "allowed-tools: Bash(git log:*)";
const CAT: &str = "allowed-tools: Bash(cat docs/x)";
const CAT_DIR: &str = "arguments: dir\nallowed-tools: Bash(cat docs/x)";
const NO_TOUCH: &str = "disallowed-tools: Bash(touch:*)";

fn typed(world: &World, name: &str, arguments: &str) -> Value {
    let mut payload = world.payload("user-prompt-expansion-typed");
    payload["command_name"] = json!(name);
    payload["command_args"] = json!(arguments);
    payload
}

#[test]
fn a_typed_name_activates_before_the_first_call() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    world
        .hook(&world.payload("user-prompt-submit-typed"))
        .passes("");
    assert!(world.hook(&typed(&world, "pdf", "")).is_silent());
    assert!(world.run("touch evil").is_denied());
    // A built-in command or one of another kind is none of ours.
    assert!(world.hook(&typed(&world, "help", "")).is_silent());
}

#[test]
fn commands_run_at_activation_need_the_skills_own_list() {
    let with_body = |list: &str, body: &str| {
        let world = World::of(&FORM);
        let text = format!("---\nname: pdf\ndescription: d\n{list}\n---\n{body}\n");
        world.file("home/.claude/skills/pdf/SKILL.md", &text);
        world
    };
    for (list, body, args, allowed) in [
        (LOG, "!`git log -3`", "", true),
        (LOG, "!`git log -3; touch x`", "", false),
        (READ, "```!\ntouch x\n```", "", false),
        ("", "!`touch x`", "", true),
        (NO_TOUCH, "!`touch x`", "", false),
        (LOG, "see (!`touch x`)", "", true),
        (LOG, "!`git log $1`", "main", true),
        (LOG, "!`git log $1`", "x; touch y", false),
        (LOG, "!`git $ARGUMENTS`", "push", false),
        // What the shell takes for a variable is judged as one.
        (CAT, "!`cat $HOME/x`", "docs", false),
        (CAT, "!`cat $ARGUMENTS/x`", "docs", true),
        (CAT_DIR, "!`cat $dir/x`", "docs", true),
        (CAT, "!`cat $dir/x`", "docs", false),
        // The text's own placeholder does not spoil the command.
        (LOG, "Fix $1. !`git log -3`", "it's 'broken'", true),
        ("allowed-tools: Bash", "!`git log $1`", "x; touch y", true),
        (NO_TOUCH, "!`git log $1`", "x; touch y", false),
        // A backtick in the arguments completes a command that was none.
        (LOG, "!`touch x", "y`", false),
    ] {
        let world = with_body(list, body);
        let mut by_tool = world.payload("pre-tool-use-skill");
        by_tool["tool_input"] = json!({"skill": "pdf", "args": args});
        let by_tool = world.hook(&by_tool);
        let world = with_body(list, body);
        let by_prompt = world.hook(&typed(&world, "pdf", args));
        for answer in [by_tool, by_prompt] {
            let row = format!("{list} {body} {args}: {answer:?}");
            assert_eq!(!answer.is_denied(), allowed, "{row}");
            // It is not active, and is not called so.
            assert!(!row.contains("active skill"), "{row}");
        }
    }
}

#[test]
fn a_hook_in_the_frontmatter_needs_the_skills_own_list() {
    let hook = |hook: &str| format!("hooks: {{PostToolUse: [{{matcher: Bash, hooks: [{hook}]}}]}}");
    let command = |text: &str| hook(&format!("{{type: command, command: {text}}}"));
    let of_git = |args: &str| hook(&format!("{{type: command, command: git, args: [{args}]}}"));
    let http = |host: &str| hook(&format!("{{type: http, url: 'https://{host}/x'}}"));
    let shell = hook("{type: command, command: git log, shell: powershell}");
    let of_skill = "allowed-tools: Bash(cat ${CLAUDE_SKILL_DIR}/x)";
    let of_web = "allowed-tools: WebFetch(domain:a.org)";
    let stop = "hooks: {Stop: [{type: command, command: ls}]}".to_owned();
    for (list, hooks, allowed) in [
        (LOG, command("git log -1"), true),
        (LOG, command("touch x"), false),
        (LOG, command("\"git log; touch x\""), false),
        (NO_TOUCH, command("touch x"), false),
        ("", command("touch x"), true),
        (READ, "hooks: ./hooks.json".to_owned(), false),
        (READ, stop, false),
        (LOG, shell, false),
        ("", hook("{type: agent, prompt: Look}"), true),
        (LOG, of_git("log, '-1'"), true),
        (LOG, of_git("push"), false),
        (of_skill, command("'cat ${CLAUDE_SKILL_DIR}/x'"), true),
        (of_web, http("a.org"), true),
        (of_web, http("b.org"), false),
        (READ, hook("{type: prompt, prompt: Is it well?}"), true),
        (READ, hook("{type: agent, prompt: Look}"), false),
        (READ, hook("{type: mcp_tool, server: s, tool: t}"), false),
        (READ, hook("{command: touch x}"), false),
        (READ, "hooks: {pre: a.sh}".to_owned(), true),
    ] {
        for form in [&FORM, &super::qwen_code::FORM, &super::copilot::FORM] {
            let world = World::of(form).skill("pdf", &format!("{list}\n{hooks}"));
            let answer = world.activate("pdf");
            // Copilot runs none.
            let allowed = allowed || form.agent == Agent::Copilot;
            let row = format!("{} {list} {hooks}: {answer:?}", form.agent);
            assert_eq!(!answer.is_denied(), allowed, "{row}");
        }
    }
}

#[test]
fn nested_and_plugin_skills_are_found() {
    let text = "---\nname: deploy\ndescription: d\nallowed-tools: Read\n---\n";
    for (file, name) in [
        (
            "project/apps/web/.claude/skills/deploy/SKILL.md",
            "apps/web:deploy",
        ),
        ("project/apps/web/.claude/skills/deploy/SKILL.md", "deploy"),
        (
            "home/.claude/plugins/cache/m/ops/1.0/skills/deploy/SKILL.md",
            "ops:deploy",
        ),
    ] {
        let world = World::of(&FORM);
        world.file(file, text);
        let activated = world.activate(name);
        if file.starts_with("project") {
            assert!(activated.is_denied(), "untrusted: {activated:?}");
            let (_, reason) = activated.decision();
            reason.has("until you trust it");
            continue;
        }
        assert!(activated.is_silent(), "{activated:?}");
        assert!(world.run("touch evil").is_denied(), "{name}");
    }
}

#[test]
fn skills_are_found_where_a_variable_moved_the_agents_home() {
    let text = "---\nname: pdf\ndescription: d\nallowed-tools: Read\n---\n";
    for (form, file) in [
        (&FORM, "moved/skills"),
        (&FORM, "moved/plugins/cache/m/ops/1.0/skills"),
        (&super::codex::FORM, "moved/skills"),
        (&super::copilot::FORM, "moved/skills"),
        (&super::gemini::FORM, "moved/.gemini/skills"),
        (&super::gemini::FORM, "moved/.agents/skills"),
        (&super::qwen_code::FORM, "moved/skills"),
        (&super::opencode::FORM, "moved/opencode/skills"),
    ] {
        let world = World::of(form);
        let variable = form.agent.table().home.variable.unwrap();
        let moved = world.project().with_file_name("moved");
        let world = world.with_variable(variable, moved.clone());
        let file = format!("{file}/pdf/SKILL.md");
        world.file(&file, text);
        let used = match form.skill {
            "" => world.run(&format!("cat {}/skills/pdf/SKILL.md", moved.display())),
            _ => world.activate("pdf"),
        };
        assert!(!used.is_denied(), "{file}: {used:?}");
        assert!(world.run("touch evil").is_denied(), "{variable} {file}");
    }
}

#[test]
fn a_skill_that_ships_inside_the_agent_restricts_nothing() {
    let world = World::of(&FORM);
    assert!(world.activate("built-in").is_silent());
    assert!(world.run("touch x").is_silent());
    world.audit().has("\"unknown-skill\"");
}

#[test]
fn a_grant_begins_when_the_agent_has_activated_the_skill() {
    let list = "allowed-tools: Bash(git log:*), Bash, Write(docs/**), Read";
    let world = World::of(&FORM).skill("pdf", list).in_mode("grant");
    let allowed = |command: &str| world.run(command).decision().0;
    assert!(world.activate("pdf").is_silent());
    // Claude may yet refuse the skill.
    assert_eq!(allowed("git log -3"), "silence");
    let mut done = world.payload("post-tool-use-skill");
    done["tool_input"] = json!({"skill": "pdf"});
    assert!(world.hook(&done).is_silent());
    assert_eq!(allowed("git log -3"), "allow");
    // A bare entry proves nothing.
    assert_eq!(allowed("git log -3 && touch x"), "silence");
    assert_eq!(allowed("git log \"$(touch x)\""), "silence");
    let writes = |path: &str| world.write(&world.project().join(path)).decision().0;
    assert_eq!(writes("docs/x"), "allow");
    assert_eq!(writes("x"), "silence");
}

#[test]
fn both_denies_and_grants() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Bash(git log:*)");
    let world = world.in_mode("both");
    assert!(world.hook(&typed(&world, "pdf", "")).is_silent());
    assert_eq!(world.run("git log").decision().0, "allow");
    assert!(world.run("touch x").is_denied());
}

#[test]
fn the_person_is_asked_about_what_is_not_listed() {
    let list = "allowed-tools: Read\ndisallowed-tools: Bash(rm:*)";
    let world = World::of(&FORM)
        .using("pdf", list)
        .config("hosts.claude-code.mode = \"ask\"\n");
    let answer = world.run("touch x");
    let (decision, reason) = answer.decision();
    assert_eq!(decision, "ask");
    reason.has("the skill `pdf` does not permit it");
    assert_eq!(answer.json()["systemMessage"], reason);
    assert!(world.run("rm x").is_denied(), "a denial is no question");
    world.audit().has("\"asked\"");
}

#[test]
fn settings_read_by_other_agents_are_judged_by_their_tables() {
    let world = World::of(&FORM);
    let text = "---\nname: pdf\ndescription: d\nallowed-tools: Bash(git log:*)\n---\n";
    world.file("home/.copilot/skills/pdf/SKILL.md", text);
    let copilot = World::of(&super::copilot::FORM);
    let mut skill = copilot.payload("pre-tool-use-skill");
    skill["tool_input"] = json!({"skill": "pdf"});
    assert!(world.hook(&skill).is_silent());
    let mut bash = copilot.payload("pre-tool-use-bash");
    bash["tool_input"]["command"] = json!("touch x");
    assert!(world.hook(&bash).is_denied());
    world.audit().has("\"copilot\"");
}

#[test]
fn a_change_of_directory_hides_no_skill() {
    let world = World::of(&FORM);
    let text = "---\nname: deploy\ndescription: d\nallowed-tools: Bash(./run.sh:*)\n---\n";
    world.file("project/.claude/skills/deploy/SKILL.md", text);
    let in_project = |payload: &Value| {
        let start = world.project();
        world.hook_with(payload.to_string().as_bytes(), &|command| {
            command.env("CLAUDE_PROJECT_DIR", &start).current_dir("/");
        })
    };
    let mut skill = world.payload("pre-tool-use-skill");
    skill["tool_input"] = json!({"skill": "deploy"});
    skill["cwd"] = json!("/");
    // It is found, and not trusted.
    assert!(in_project(&skill).is_denied());
    let world = World::of(&FORM).using("pdf", "allowed-tools: Bash(./run.sh:*)");
    let mut call = world.calling("Bash", json!({"command": "./run.sh"}));
    assert!(world.hook(&call).is_silent());
    call["cwd"] = json!(world.project().join("sub"));
    world.hook(&call).stops("another program of that name");
}

#[test]
fn the_model_is_told_what_it_may_use() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read\ndisallowed-tools: Bash(rm:*)");
    let told = world.activate("pdf").json();
    assert_eq!(
        told["hookSpecificOutput"]["additionalContext"],
        "While the skill pdf is active, only these may be used, besides its own files: Read; never: \
         Bash(rm:*)."
    );
    let world = World::of(&FORM).skill("free", "");
    assert_eq!(world.activate("free").stdout, "");
}

#[test]
fn tools_that_chibi_lacks_are_granted_by_name() {
    let list = "mcp__plugin_my-plug_my-server__do, LSP, TeamCreate, SlashCommand, Edit, \
                Bash(echo:*)";
    let world = World::of(&FORM).skill("pdf", &format!("allowed-tools: {list}"));
    let world = world.skill("free", "");
    world.activate("pdf");
    for (tool, arguments, granted) in [
        ("mcp__plugin_my-plug_my-server__do", json!({}), true),
        ("mcp__plugin_other_my-server__do", json!({}), false),
        ("mcp__plugin_my-plug_my-server__undo", json!({}), false),
        ("LSP", json!({}), true),
        ("TeamCreate", json!({}), true),
        ("EnterWorktree", json!({}), false),
        // To edit is to rewrite, whatever writes.
        ("Write", json!({"file_path": "/tmp/x", "content": ""}), true),
        ("Bash", json!({"command": "echo x > /tmp/x"}), true),
        ("Skill", json!({"skill": "free"}), true),
    ] {
        assert_eq!(world.call(tool, arguments).is_silent(), granted, "{tool}");
    }
}

#[test]
fn a_slash_means_nothing_and_a_plugin_is_denied_whole() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: SlashCommand(/free:*)");
    let world = world.skill("free", "").skill("other", "");
    world.activate("pdf");
    let calls = |name: &str| world.call("Skill", json!({ "skill": name }));
    assert!(calls("other").is_denied());
    assert!(calls("free").is_silent());
    let denied = "disallowed-tools: SlashCommand(/free) mcp__plugin_foo_*";
    let world = World::of(&FORM).using("pdf", denied);
    assert!(
        world
            .call("SlashCommand", json!({"command": "/free"}))
            .is_denied()
    );
    assert!(world.call("mcp__plugin_foo_srv__do", json!({})).is_denied());
    assert!(world.call("mcp__srv__do", json!({})).is_silent());
}

#[test]
fn what_a_subagent_activates_lasts_for_the_prompt() {
    let mut world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let mut skill = world.payload("pre-tool-use-skill");
    skill["tool_input"] = json!({"skill": "pdf"});
    skill["agent_id"] = json!("a1");
    assert!(world.hook(&skill).is_silent());
    assert!(world.run("touch x").is_denied());
    assert!(world.run("touch x").is_denied());
    world.prompt = "p2".to_owned();
    assert!(world.prompted("go on").is_silent());
    assert!(world.run("touch x").is_silent());
}

#[test]
fn a_command_that_has_to_be_confined_does_not_run_otherwise() {
    for (sandbox, denied) in [("require", true), ("auto", false)] {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Bash(git log:*)");
        let world = world.config(&format!("skills.pdf.sandbox = \"{sandbox}\"\n"));
        world.activate("pdf");
        let answer = world.run("git log");
        assert_eq!(answer.is_denied(), denied, "{sandbox}: {answer:?}");
    }
}

#[test]
fn what_the_agent_takes_for_a_name_is_one_here() {
    for written in ["\u{feff}pdf", " /pdf", "pdf\u{feff} "] {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
        assert!(world.activate(written).is_silent(), "{written:?}");
        assert!(world.run("touch x").is_denied(), "{written:?}");
    }
}

#[test]
fn a_command_with_a_list_is_not_run_unheld() {
    let world = World::of(&FORM);
    let text = "---\ndescription: d\nallowed-tools: Read\n---\nDo.\n";
    world.file("project/.claude/commands/ops/ship.md", text);
    world.file("home/.claude/commands/live.md", "Look: !`id`\n");
    world.file("home/.claude/commands/plain.md", "Look.\n");
    for (name, denied) in [
        ("ops:ship", true),
        ("live", true),
        ("plain", false),
        ("none", false),
    ] {
        let by_prompt = world.hook(&typed(&world, name, ""));
        assert_eq!(world.activate(name).is_denied(), denied, "{name}");
        assert_eq!(by_prompt.is_denied(), denied, "typed {name}");
    }
}

#[test]
fn a_plugins_command_is_treated_like_any_other() {
    let list = "---\ndescription: d\nallowed-tools: Read\n---\nDo.\n";
    let plugin = "home/.claude/plugins/cache/m/ops/1.0.0";
    for (file, text, name, denied) in [
        ("commands/ship.md", list, "ops:ship", true),
        ("commands/ship.md", list, "ship", true),
        ("commands/sub/ship.md", list, "ops:sub:ship", true),
        ("commands/ship.md", "Look: !`id`\n", "ops:ship", true),
        ("commands/ship.md", "Look.\n", "ops:ship", false),
        // The plugin's manifest may name other places.
        ("more/ship.md", list, "ops:ship", true),
        ("more/ship.md", list, "ops:other", true),
        ("commands/ship.md", list, "others:thing", false),
        ("agents/ship.md", "Look.\n", "ship", false),
    ] {
        let world = World::of(&FORM);
        world.file(&format!("{plugin}/{file}"), text);
        assert_eq!(world.activate(name).is_denied(), denied, "{file} {name}");
        let answer = world.hook(&typed(&world, name, ""));
        assert_eq!(answer.is_denied(), denied, "typed {file} {name}");
    }
    let world = World::of(&FORM);
    world.file(
        &format!("{plugin}/more/pdf/SKILL.md"),
        "---\nname: pdf\ndescription: d\nallowed-tools: Read\n---\n",
    );
    assert!(world.activate("ops:pdf").is_silent());
    assert!(world.run("touch evil").is_denied());
}
