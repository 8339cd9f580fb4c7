//! opencode, as our plugin in it calls.

use agent_skills::host::Agent;
use agent_skills::run_context::RunContext;
use agent_skills::sys::Env;
use serde_json::json;

use super::{Form, World};

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
    let prompt = world.payload("chat-message");
    assert!(world.hook(&prompt).is_silent());
    assert!(world.run("touch x").is_denied());
    world.hook(&prompt);
    assert!(world.run("touch x").is_silent());
}

#[test]
fn a_subagent_belongs_to_its_parent() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    world.activate("pdf");
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
    assert!(
        reason.contains("several skills have the name `pdf`"),
        "{reason}"
    );
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
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Bash(git log:*)");
    world.activate("pdf");
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
    assert!(command.contains(" confine --skill "), "{command}");
    assert!(command.ends_with("-c 'git log -3 | head -5'"), "{command}");
    assert_eq!(
        answer["args"]["description"], "run",
        "the other arguments stay"
    );
    // Another hook of the same call gets it, and no other text of that kind passes.
    assert_eq!(world.run(command).stdout, "");
    assert!(world.run(&command.replace("git log", "touch")).is_denied());
    let elsewhere = json!({"command": command, "workdir": "sub"});
    assert!(
        world.call("bash", elsewhere).is_denied(),
        "it was judged in another directory"
    );
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
    let parts = RunContext::parts_of(&world.project());
    let trusted = RunContext::new(env, None).trust(&world.project(), &parts, false);
    assert!(trusted.unwrap().is_empty());
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
