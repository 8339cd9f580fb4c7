//! Installs and updates of signed skills that are killed anywhere, or many at once: each skill is the
//! old or the new one with its own signer, and what is kept proves it.

use std::time::Instant;

use serde_json::Value;

use super::{PDF, World};
use crate::market_kills::kill;

/// What is there: the text, and the entry.
fn state(world: &World) -> (Option<String>, Value) {
    (world.text(), world.entry())
}

#[test]
fn kills_leave_no_signer_without_its_skill() {
    let Some(world) = World::new() else { return };
    world.lists(&[
        world.keys.line("alice@x", "", "alice"),
        world.keys.line("alice@x", "", "bob"),
    ]);
    world.requires("require = \"listed\"");
    let time = |words: &[&str]| {
        let started = Instant::now();
        world.host.succeeds(words);
        started.elapsed()
    };
    let installing = time(&["install", PDF]);
    let old = state(&world);
    world.change("new", "bob");
    let updating = time(&["update", "--yes"]);
    let new = state(&world);
    let rolling = time(&["rollback", "pdf"]);
    assert_eq!(state(&world), old);
    assert_ne!(old.1["signer"], new.1["signer"]);
    let gone = (None, Value::Null);
    let mut landed = 0;
    for attempt in 0..12_u32 {
        // Most kills aim between the check and the swap.
        let shares = [300, 600, 700, 800, 850, 900, 950, 980];
        let share = shares[attempt as usize % shares.len()] + attempt;
        for (words, duration) in [
            (&["update", "--yes"][..], updating),
            (&["rollback", "pdf"], rolling),
            (&["install", PDF], installing),
        ] {
            if words[0] == "install" {
                world.host.succeeds(&["remove", "--yes", "pdf"]);
            }
            let before = state(&world);
            kill(&world.host, words, duration, share);
            let now = state(&world);
            let known = [&old, &new, &gone];
            assert!(known.contains(&&now), "{words:?} at {share}: {now:?}");
            assert!(now != gone || before == gone, "{words:?} at {share}");
            landed += usize::from(now != before);
        }
        if state(&world) == gone {
            world.host.succeeds(&["install", PDF]);
        }
        // What is kept proves the signer, or it would not be offered.
        assert_eq!(world.host.skill_tools(), ["skill_pdf"]);
    }
    println!("{landed} of 36 had landed when they were killed");
}

#[test]
fn sixteen_at_once_install_one_skill_with_its_signer() {
    let Some(world) = World::new() else { return };
    world.lists(&[world.keys.line("alice@x", "", "alice")]);
    world.requires("require = \"listed\"");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| world.host.person(&["install", PDF]));
        }
    });
    assert_eq!(world.signer().unwrap().0.as_deref(), Some("alice@x"));
    assert_eq!(world.host.skill_tools(), ["skill_pdf"]);
    let known = world.host.plugin_dir().join("known-signers.json");
    let known: Value = serde_json::from_slice(&std::fs::read(known).unwrap()).unwrap();
    let sources = known["sources"].as_object().unwrap();
    assert!(
        sources
            .values()
            .all(|keys| keys.as_array().unwrap().len() == 1)
    );
}
