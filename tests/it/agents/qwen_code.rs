//! Qwen Code.

use agent_skills::host::Agent;

use super::{Form, World};

pub static FORM: Form = Form {
    agent: Agent::QwenCode,
    release: "qwen-code-0.24.4",
    shell: ("pre-tool-use-run-shell-command", "run_shell_command"),
    skills: ".qwen/skills",
    skill: "pre-tool-use-skill",
    write: ("write_file", "file_path"),
    keys: ["session_id", "prompt_id", "cwd"],
};

#[test]
fn the_event_that_comes_after_each_step_ends_nothing() {
    let world = World::of(&FORM).skill("probe", "allowed-tools: Read");
    assert!(world.activate("probe").is_silent());
    assert!(
        world
            .hook(&world.payload("user-prompt-submit-2"))
            .is_silent()
    );
    assert!(world.run("touch x").is_denied());
}

#[test]
fn a_typed_name_activates() {
    let world = World::of(&FORM).skill("probe", "allowed-tools: Read");
    assert!(
        world
            .hook(&world.payload("user-prompt-expansion-typed"))
            .is_silent()
    );
    assert!(
        world
            .hook(&world.payload("user-prompt-submit-typed"))
            .is_silent()
    );
    assert!(world.run("touch x").is_denied());
}

#[test]
fn an_empty_prompt_resets_no_damaged_record() {
    let world = World::of(&FORM).skill("probe", "allowed-tools: Read");
    world.activate("probe");
    world.file("home/.chibi/plugins/agent-skills/state.json", "garbage");
    let _ = std::fs::remove_dir_all(world.home().join(".local"));
    world.hook(&world.payload("user-prompt-submit-2"));
    assert!(world.run("touch x").is_denied());
    // The user's own does.
    world.hook(&world.payload("user-prompt-submit"));
    assert!(world.run("touch x").is_silent());
}
