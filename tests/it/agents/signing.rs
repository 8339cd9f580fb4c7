//! A skill that is required to be signed and is not does not become active in any agent, however it
//! is called and whatever the hook is for.

use std::fs;
use std::path::Path;

use super::World;
use super::all::worlds;
use crate::host::Has;
use crate::signatures::ssh_key;

/// With a policy that lists the signer `key`, if this machine can make one.
fn required(world: World) -> Option<World> {
    let rules = "[signing]\nrequire = \"listed\"\nsigners = \"signers\"\n";
    world.file("policy/policy.toml", rules);
    let policy = world.home().with_file_name("policy");
    ssh_key(&policy, "key")?;
    let key = fs::read_to_string(policy.join("key.pub")).unwrap();
    world.file("policy/signers", &format!("alice@example.com {key}"));
    Some(world)
}

fn sign(world: &World, dir: &Path) {
    let key = world.home().with_file_name("policy/key");
    let [key, dir] = [&key, dir].map(|path| path.to_str().unwrap());
    world.person(&["package", "--yes", "--in-place", "--sign", key, dir]);
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
            refused.stops((&agent, &mode));
            let (_, reason) = refused.decision();
            reason.has("requires a listed signer, and it is unsigned");
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
        world.hook(&world.payload(typed)).stops(agent);
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
        let Some(world) = required(world) else { return };
        // Not ours to read, though the agent may take it.
        world.file("home/.claude/skills/odd/SKILL.md", "---\n\tname: [\n---\n");
        // Of a project that nobody trusts.
        world.skill_in("project/.claude/skills/csv", "csv", "");
        for name in ["odd", "csv"] {
            world.activate(name).stops((mode, name));
        }
    }
}
