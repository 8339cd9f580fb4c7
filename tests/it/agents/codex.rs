//! Codex CLI.

use agent_skills::host::Agent;
use serde_json::json;

use super::{Form, World};

pub static FORM: Form = Form {
    agent: Agent::Codex,
    release: "codex-0.169.0",
    shell: ("pre-tool-use-bash", "Bash"),
    skills: ".agents/skills",
    skill: "",
    write: ("apply_patch", "patch"),
    keys: ["session_id", "turn_id", "cwd"],
};

#[test]
fn a_dollar_name_in_the_prompt_activates() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    let mut prompt = world.payload("user-prompt-submit");
    prompt["prompt"] = json!("use $pdf for $5");
    assert!(world.hook(&prompt).is_silent());
    assert!(world.run("touch x").is_denied());
}

#[test]
fn a_run_of_a_script_activates() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    world.file("home/.agents/skills/pdf/scripts/run.sh", "echo hi\n");
    let script = world.home().join(".agents/skills/pdf/scripts/run.sh");
    assert!(world.run(&format!("bash {}", script.display())).is_silent());
    assert!(world.run("touch x").is_denied());
    // The skill's own script goes on working, as it is.
    assert!(
        world
            .run(&format!("bash {} a b", script.display()))
            .is_silent()
    );
    assert!(
        world
            .run(&format!("bash {} > x", script.display()))
            .is_denied()
    );
    assert!(
        world
            .run(&format!("bash {}; touch x", script.display()))
            .is_denied()
    );
}

#[test]
fn a_read_elsewhere_or_behind_a_link_activates() {
    for command in [
        "cat ~/.agents/skills/pdf/SKILL.md",
        "head -50 \"$HOME/.agents/skills/pdf/SKILL.md\"",
        "cd ~/.agents/skills && cat pdf/SKILL.md",
        "cd ~/.agents; cd -P skills/pdf; sed -n 1,9p SKILL.md",
        "cat ~/.chibi/plugins/agent-skills/skills/csv/SKILL.md",
        "cd ~/.chibi/plugins && cat agent-skills/skills/csv/SKILL.md",
    ] {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
        // As `install` has an agent find a skill.
        let text = "---\nname: csv\ndescription: d\nallowed-tools: Read\n---\n";
        world.file("home/.chibi/plugins/agent-skills/skills/csv/SKILL.md", text);
        let link = world.home().join(".agents/skills/csv");
        std::os::unix::fs::symlink(world.data().join("skills/csv"), link).unwrap();
        assert!(world.run("touch x").is_silent());
        assert!(world.run(command).is_silent(), "{command}");
        assert!(world.run("touch x").is_denied(), "{command}");
    }
}

#[test]
fn paths_are_read_from_the_patch() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Write(docs/**), Bash(apply_patch:*)");
    world.activate("pdf");
    assert!(world.write(&world.project().join("docs/x")).is_silent());
    assert!(world.write(&world.project().join("x")).is_denied());
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch\nEOF";
    assert!(world.run(patch).is_denied());
}

#[test]
fn a_shell_that_could_be_typed_into_is_not_started() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Bash");
    world.activate("pdf");
    for command in [
        "python3.12 -q",
        "bash /dev/stdin",
        "psql app",
        "python3 -q -i x.py",
        "bash",
        "python3",
        "env bash -i",
        "ssh host",
        "cd sub && node",
        "vim x",
    ] {
        assert!(world.run(command).is_denied(), "{command}");
    }
    for command in ["python3 x.py", "bash -c 'echo hi'", "git log", "ls"] {
        assert!(world.run(command).is_silent(), "{command}");
    }
}

#[test]
fn a_subagents_prompt_ends_nothing() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    world.activate("pdf");
    let mut prompt = world.payload("user-prompt-submit");
    prompt["agent_id"] = json!("a1");
    prompt["turn_id"] = json!("other");
    world.hook(&prompt);
    let mut call = world.calling("Bash", json!({"command": "touch x"}));
    call["agent_id"] = json!("a1");
    call["turn_id"] = json!("other");
    assert!(world.hook(&call).is_denied());
    assert!(world.run("touch x").is_denied());
}

#[test]
fn however_the_file_is_named_its_read_activates() {
    for words in [
        "cat D/SKILL.m*",
        "cat D/*",
        "cat D/SKI''LL.md",
        "find D -type f",
        "f=S; cat D/$f",
    ] {
        let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
        let dir = world
            .home()
            .join(".agents/skills/pdf")
            .display()
            .to_string();
        assert!(world.run(&words.replace('D', &dir)).is_silent(), "{words}");
        assert!(world.run("touch x").is_denied(), "{words}");
    }
}

#[test]
fn the_skills_own_files_can_be_read_by_commands() {
    let world = World::of(&FORM).skill("pdf", "allowed-tools: Read");
    world.file("home/.agents/skills/pdf/references/a.md", "x");
    world.activate("pdf");
    let dir = world
        .home()
        .join(".agents/skills/pdf")
        .display()
        .to_string();
    for words in [
        "cat D/SKILL.md",
        "sed -n 1,120p D/references/a.md",
        "ls -la D",
        "head -n 20 D/SKILL.md",
    ] {
        assert!(world.run(&words.replace('D', &dir)).is_silent(), "{words}");
    }
    for words in [
        "cat D/SKILL.md /etc/hosts",
        "cat D/../../x",
        "sed -n -i p D/SKILL.md",
        "cat D/SKILL.md > x",
        "head -c 5 x D/SKILL.md",
    ] {
        assert!(world.run(&words.replace('D', &dir)).is_denied(), "{words}");
    }
}
