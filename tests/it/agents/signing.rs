//! A skill that is required to be signed and is not does not become active in any agent, however it
//! is called and whatever the hook is for.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::World;
use super::all::worlds;
use crate::host::Has;
use crate::signed_packages::ssh_key;

/// With a policy that lists the signer `key`, if this machine can make one.
fn required(world: World) -> Option<World> {
    world.file(
        "policy/policy.toml",
        "[signing]\nrequire = \"listed\"\nsigners = \"signers\"\n",
    );
    let policy = world.home().with_file_name("policy");
    ssh_key(&policy, "key")?;
    let key = fs::read_to_string(policy.join("key.pub")).unwrap();
    world.file("policy/signers", &format!("alice@example.com {key}"));
    Some(world)
}

fn sign(world: &World, dir: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-skills"));
    command.args(["package", "--yes", "--in-place", "--sign"]);
    command
        .arg(world.home().with_file_name("policy/key"))
        .arg(dir);
    command
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin")
        .env("AGENT_SKILLS_HOME", world.data());
    let (_ours, theirs) = crate::terminal::terminal(0);
    let signed = command.stdin(theirs).output().unwrap();
    assert!(signed.status.success(), "{signed:?}");
}

#[test]
fn an_unsigned_skill_is_refused_in_every_agent_and_mode() {
    for mode in [None, Some("grant")] {
        for world in worlds() {
            let agent = world.form.agent;
            let Some(mut world) = required(world.skill("pdf", "")) else {
                return;
            };
            world.mode = mode;
            let refused = world.activate("pdf");
            assert!(refused.is_denied(), "{agent} {mode:?}: {refused:?}");
            let (_, reason) = refused.decision();
            let expected = "requires a listed signer, and it is unsigned";
            reason.has(expected);
            sign(&world, &world.home().join(world.form.skills).join("pdf"));
            let activated = world.activate("pdf");
            assert!(!activated.is_denied(), "{agent} {mode:?}: {activated:?}");
        }
    }
}

#[test]
fn typing_and_reading_activate_no_unsigned_skill() {
    for (form, typed) in [
        (&super::claude_code::FORM, "user-prompt-expansion-typed"),
        (&super::codex::FORM, "user-prompt-submit-typed"),
        (&super::copilot::FORM, "user-prompt-submit-typed"),
        (&super::qwen_code::FORM, "user-prompt-expansion-typed"),
    ] {
        let agent = form.agent;
        let Some(world) = required(World::of(form).skill("probe", "").in_mode("grant")) else {
            return;
        };
        let dir = world.home().join(form.skills).join("probe");
        let read = || world.run(&format!("cat {}", dir.join("SKILL.md").display()));
        let refused = world.hook(&world.payload(typed));
        assert!(refused.is_denied(), "{agent}: {refused:?}");
        // Elsewhere reading a file makes no skill active.
        let (_, reason) = read().decision();
        if agent.table().reads_activate {
            reason.has("it is unsigned");
        }
        sign(&world, &dir);
        assert!(!world.hook(&world.payload(typed)).is_denied(), "{agent}");
        assert!(!read().is_denied(), "{agent}");
    }
}

#[test]
fn what_has_no_readable_signature_is_refused_too() {
    for mode in ["grant", "restrict"] {
        let world = World::of(&super::claude_code::FORM).in_mode(mode);
        let Some(world) = required(world) else {
            return;
        };
        // Not ours to read, though the agent may take it.
        world.file("home/.claude/skills/odd/SKILL.md", "---\n\tname: [\n---\n");
        // Of a project that nobody trusts.
        world.file(
            "project/.claude/skills/csv/SKILL.md",
            "---\nname: csv\ndescription: d\n---\nx\n",
        );
        for name in ["odd", "csv"] {
            let refused = world.activate(name);
            assert!(refused.is_denied(), "{mode} {name}: {refused:?}");
        }
    }
}
