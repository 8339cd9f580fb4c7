//! A signer that changes, or that vanishes, and what stays true of the signer in every command that
//! changes a skill.

use std::fs;

use super::{PDF, World, kept};
use crate::host::Has;
use crate::repository::commit;

/// Checks that an update stops with these words, and changes nothing.
#[track_caller]
fn stops(world: &World, why: &[&str]) {
    let before = (world.entry(), world.text(), kept(&world.host));
    let told = world.host.person(&["update", "--yes"]);
    let told = told.stdout + &told.stderr;
    let mut parts = why.iter().chain(&["--accept-signer"]);
    assert!(parts.all(|why| told.contains(why)), "{why:?}: {told}");
    assert_eq!((world.entry(), world.text(), kept(&world.host)), before);
}

#[test]
fn another_signer_or_none_stops_an_update() {
    let Some(world) = World::new() else { return };
    world.host.succeeds(&["install", PDF]);
    let [alice, bob] = ["alice", "bob"].map(|name| world.keys.fingerprint(name));
    world.change("by bob", "bob");
    stops(&world, &["was signed by", &alice, &bob]);
    world.host.succeeds(&["update", "--yes", "--accept-signer"]);
    assert_eq!(world.signer(), Some((None, bob.clone())));
    assert_eq!(world.text().unwrap(), "by bob");
    fs::write(world.repo.join("skills/pdf/scripts/a.txt"), "by nobody").unwrap();
    commit(&world.repo);
    stops(&world, &["was signed by", &bob, "unsigned now"]);
    world.host.succeeds(&["update", "--yes", "--accept-signer"]);
    assert_eq!(world.signer(), None);
    assert_eq!(world.text().unwrap(), "by nobody");
    // A first signer of a skill is taken, even if its files are the same.
    world.commit("alice");
    world.host.succeeds(&["update", "--yes"]);
    assert_eq!(world.signer(), Some((None, alice)));
}

#[test]
fn a_list_of_another_machine_brings_no_other_signer() {
    let Some(world) = World::new() else { return };
    world.host.succeeds(&["install", PDF]);
    let before = (world.entry(), world.text());
    world.change("by bob", "bob");
    let other = world.hub.host();
    other.succeeds(&["config", "set", "unattended", "true"]);
    other.succeeds(&["install", PDF]);
    let list = other.plugin_dir().join("skills.lock.json");
    let list = list.to_str().unwrap();
    let told = world
        .host
        .fails(&["sync", "--yes", "--layer", "plugin", list]);
    told.has("was signed by").has("--accept-signer");
    assert_eq!((world.entry(), world.text()), before);
}

#[test]
fn a_rotated_key_passes_if_one_name_lists_both() {
    let Some(world) = World::new() else { return };
    let line = |principal: &str, key: &str| world.keys.line(principal, "", key);
    world.lists(&[line("alice@x", "alice"), line("bob@x", "bob")]);
    world.host.succeeds(&["install", PDF]);
    world.change("rotated", "bob");
    stops(&world, &["alice@x", "bob@x"]);
    world.lists(&[line("alice@x", "alice"), line("alice@x", "bob")]);
    world.host.succeeds(&["update", "--yes"]);
    let bob = world.keys.fingerprint("bob");
    assert_eq!(world.signer(), Some((Some("alice@x".to_owned()), bob)));
    assert_eq!(world.text().unwrap(), "rotated");
}

#[test]
fn an_update_to_what_is_not_allowed_keeps_what_is_there() {
    let Some(world) = World::new() else { return };
    world.host.succeeds(&["install", PDF]);
    let before = (world.entry(), world.text());
    world.change("evil", "bob");
    world.revokes(world.keys.public("bob"));
    for words in [
        &["update", "--yes"][..],
        &["update", "--yes", "--accept-signer"],
        &["update", "--yes", "--accept-signer", "--force"],
    ] {
        let ran = world.host.person(words);
        assert_ne!(ran.status, 0, "{ran:?}");
        (ran.stdout + &ran.stderr).has("was revoked");
        assert_eq!((world.entry(), world.text()), before);
    }
}

#[test]
fn the_signer_stays_that_of_the_files() {
    let Some(world) = World::new() else { return };
    world.lists(&["alice", "bob"].map(|name| world.keys.line(&format!("{name}@x"), "", name)));
    world.host.succeeds(&["install", PDF]);
    let state = || (world.entry(), world.text().unwrap());
    let old = state();
    world.change("two", "bob");
    world.host.succeeds(&["update", "--yes", "--accept-signer"]);
    let new = world.entry();
    assert_ne!(old.0["signer"], new["signer"]);
    world.host.succeeds(&["rollback", "pdf"]);
    assert_eq!(state(), old);
    world.host.succeeds(&["update", "--yes", "--accept-signer"]);
    assert_eq!(world.entry(), new);
    // What was changed by hand is put aside; what comes is what was signed.
    let text = world.host.skills_dir().join("pdf/scripts/a.txt");
    fs::write(&text, "by hand").unwrap();
    world.host.succeeds(&["verify", "--fix", "--yes", "pdf"]);
    assert_eq!(state(), (new.clone(), "two".to_owned()));
    fs::write(&text, "by hand").unwrap();
    world.change("three", "bob");
    world.host.succeeds(&["update", "--yes", "--force"]);
    assert_eq!(world.entry()["signer"], new["signer"]);
    assert_eq!(world.text().unwrap(), "three");
    // What no source can bring back comes back from here, with its entry.
    fs::write(&text, "by hand").unwrap();
    let removed = world.entry();
    world.host.succeeds(&["remove", "--yes", "pdf"]);
    world.host.succeeds(&["rollback", "pdf"]);
    assert_eq!(state(), (removed, "by hand".to_owned()));
}
