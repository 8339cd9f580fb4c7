//! opencode, as our plugin in it calls.

use agent_skills::facts::Facts;
use agent_skills::host::Agent;
use agent_skills::policy::{Ledger, SeenPart, parts_of};
use agent_skills::sys::Env;
use serde_json::json;

use super::{Form, World};
use crate::host::Has;

pub static FORM: Form = Form {
    agent: Agent::OpenCode,
    release: "opencode-plugin",
    shell: ("tool-execute-before-bash", "bash"),
    skills: ".config/opencode/skills",
    skill: "tool-execute-before-skill",
    write: ("write", "filePath"),
    keys: ["sessionID", "", "directory"],
};

#[test]
fn a_typed_command_survives_its_own_prompt() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let typed = world.payload("command-execute-before");
    assert!(world.hook(&typed).is_silent());
    let mut prompt = world.payload("chat-message");
    assert!(world.hook(&prompt).is_silent());
    assert!(world.run("touch x").is_denied());
    prompt["messageID"] = json!("msg_2");
    world.hook(&prompt);
    assert!(world.run("touch x").is_silent());
}

#[test]
fn two_plugins_tell_of_one_prompt_twice() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let mut prompt = world.payload("chat-message");
    let typed = world.payload("command-execute-before");
    for message in ["msg_1", "msg_2"] {
        prompt["messageID"] = json!(message);
        for payload in [&typed, &typed, &prompt, &prompt] {
            assert!(world.hook(payload).is_silent());
        }
        assert!(world.run("touch x").is_denied(), "{message}");
    }
    prompt["messageID"] = json!("msg_3");
    world.hook(&prompt);
    world.hook(&prompt);
    assert!(world.run("touch x").is_silent());
}

#[test]
fn skills_are_found_in_each_of_its_directories() {
    let text = "---\nname: pdf\ndescription: d\nallowed-tools: Read\n---\n";
    for dir in [
        "home/.opencode/skill",
        "home/.opencode/skills",
        "home/.config/opencode/skill",
        "moved/skill",
        "moved/skills",
    ] {
        let world = World::of(&FORM);
        let moved = world.project().with_file_name("moved");
        let world = world.with_variable("OPENCODE_CONFIG_DIR", moved.clone());
        world.file(&format!("{dir}/pdf/SKILL.md"), text);
        assert!(world.activate("pdf").is_silent(), "{dir}");
        assert!(world.run("touch evil").is_denied(), "{dir}");
        let plugin = moved.join("plugins/x.js");
        let denied = world.skill("free", "allowed-tools: Write, Read, Bash");
        denied.activate("free");
        assert!(denied.write(&plugin).is_denied(), "{dir}");
    }
}

#[test]
fn no_command_is_changed_that_a_rule_may_look_at() {
    let rule = "permission:\n  bash:\n    \"rm *\": deny\n";
    let confined = |change: &dyn Fn(&World)| {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Bash(git log:*)");
        let world = world.config("skills.pdf.sandbox = \"auto\"\n");
        change(&world);
        world.activate("pdf");
        world.run("git log").json()["args"]["command"].is_string()
    };
    assert!(confined(&|_| {}));
    assert!(confined(&|world| {
        world.file("project/opencode.json", "{\"theme\": \"x\"}");
        world.file("project/.opencode/agent/plan.md", "Plan.");
        world.file("project/agent/rules.md", rule);
    }));
    for file in [
        "project/.opencode/opencode.json",
        "project/.opencode/opencode.jsonc",
        "project/.opencode/agent/plan.md",
        "project/.opencode/agents/deep/plan.md",
        "project/.opencode/mode/plan.md",
        "home/.opencode/opencode.json",
        "home/.config/opencode/agents/plan.md",
    ] {
        assert!(!confined(&|world| world.file(file, rule)), "{file}");
    }
    let many = |world: &World| {
        for at in 0..100 {
            world.file(&format!("project/.opencode/agent/{at}.md"), "Plan.");
        }
    };
    assert!(!confined(&many), "too many to look at");
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Bash(git log:*)");
    let world = world.config("skills.pdf.sandbox = \"require\"\n");
    let world = world.with_variable("OPENCODE_PERMISSION", "{}".into());
    world.activate("pdf");
    assert!(world.run("git log").is_denied());
}

#[test]
fn a_copy_in_an_untrusted_project_asks_for_trust() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let own = world.home().join(".config/opencode/skills/pdf/SKILL.md");
    let text = std::fs::read_to_string(own).unwrap();
    world.file("project/.opencode/skills/pdf/SKILL.md", &text);
    let (_, reason) = world.activate("pdf").decision();
    reason.has("until you trust it");
    world.file("project/.opencode/skills/pdf/SKILL.md", &(text + "More.\n"));
    let (_, reason) = world.activate("pdf").decision();
    reason.has("several skills have the name");
}

#[test]
fn a_subagent_belongs_to_its_parent() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Read");
    let mut prompt = world.payload("chat-message");
    let mut call = world.calling("bash", json!({"command": "touch x"}));
    for payload in [&mut prompt, &mut call] {
        payload["sessionID"] = json!("sub");
        payload["parentID"] = json!(world.session);
    }
    world.hook(&prompt);
    assert!(world.hook(&call).is_denied());
    assert!(world.run("touch x").is_denied());
}

#[test]
fn which_of_several_skills_is_used_is_not_guessed() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    world.file(
        "home/.claude/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: d\n---\n",
    );
    let (_, reason) = world.activate("pdf").decision();
    reason.has("several skills have the name `pdf`");
}

#[test]
fn a_skill_deeper_in_a_directory_of_skills_is_found() {
    let world = World::of(&FORM);
    let text = "---\nname: pdf\ndescription: d\nallowed-tools: Read\n---\n";
    world.file("home/.agents/skills/group/pdf/SKILL.md", text);
    assert!(world.activate("pdf").is_silent());
    assert!(world.run("touch x").is_denied());
}

#[test]
fn nothing_is_granted_by_a_pattern_where_another_shell_reads() {
    let world = World::of(&FORM).using("pdf", "allowed-tools: Bash(git log:*)");
    let call = world
        .calling("bash", json!({"command": "git log"}))
        .to_string();
    let with = |shell: &str| {
        world.hook_with(call.as_bytes(), &|command| {
            command.env("SHELL", shell);
        })
    };
    assert!(with("/bin/zsh").is_silent());
    assert!(with("/usr/bin/fish").is_denied());
}

#[test]
fn a_granted_command_is_handed_back_confined() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Bash(git log:*)");
    let world = world.config("skills.pdf.sandbox = \"auto\"\n");
    world.activate("pdf");
    let arguments = json!({"command": "git log -3 | head -5", "description": "run"});
    let answer = world.call("bash", arguments).json();
    let command = answer["args"]["command"].as_str().unwrap();
    command.has(" confine --skill ");
    command.finishes("-c 'git log -3 | head -5'");
    assert_eq!(
        answer["args"]["description"], "run",
        "the other arguments stay"
    );
    // Another hook of the same call gets it, and no other text of that kind passes.
    assert_eq!(world.run(command).stdout, "");
    assert!(world.run(&command.replace("git log", "touch")).is_denied());
    let elsewhere = json!({"command": command, "workdir": "sub"});
    world
        .call("bash", elsewhere)
        .stops("it was judged in another directory");
    assert!(world.run("touch x").is_denied());
    let rules = "{\"permission\": {\"bash\": {\"git *\": \"allow\"}}}";
    world.file("project/opencode.json", rules);
    assert_eq!(
        world.run("git log -4").stdout,
        "",
        "a rule of the user's would not match"
    );
}

#[test]
fn a_group_of_skills_is_trusted_with_its_project() {
    let world = World::of(&FORM);
    let text = "---\nname: log\ndescription: d\nallowed-tools: Read\n---\n";
    world.file("project/.agents/skills/group/log/SKILL.md", text);
    assert!(world.activate("log").is_denied());
    let vars = [("HOME", world.home()), ("AGENT_SKILLS_HOME", world.data())];
    let env = Env::new(vars, &world.project());
    let record = Ledger::trusted(Facts::new(env, None).state());
    let seen = SeenPart::all(parts_of(&world.project()), None);
    assert!(
        record
            .trust_seen(&world.project(), seen, false)
            .unwrap()
            .is_empty()
    );
    assert!(world.activate("log").is_silent());
    assert!(world.run("touch x").is_denied());
    let mut world = world;
    world.session = "s2".to_owned();
    world.file(
        "project/.agents/skills/group/log/SKILL.md",
        &text.replace("Read", "Bash"),
    );
    assert!(world.activate("log").is_denied(), "it changed");
}
