//! What a lockfile and the files beside it claim of a signer, written by somebody else: by hand, or in
//! a project that comes with them.

use std::fs;

use serde_json::{Value, json};

use super::{PDF, World};
use crate::host::Has;

/// Changes the entry of the skill in a lockfile.
fn edit(world: &World, change: impl FnOnce(&mut Value)) {
    let path = world.host.plugin_dir().join("skills.lock.json");
    let mut lock: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut lock["skills"][0]);
    fs::write(path, serde_json::to_vec_pretty(&lock).unwrap()).unwrap();
}

#[test]
fn a_restored_skill_has_its_signer_or_is_not_there() {
    let Some(world) = World::new() else { return };
    world.host.succeeds(&["install", PDF]);
    let good = world.entry();
    let lose = || fs::remove_dir_all(world.host.skills_dir().join("pdf")).unwrap();
    for words in [&["install"][..], &["verify", "--fix", "--yes", "pdf"]] {
        lose();
        world.host.succeeds(words);
        assert_eq!(world.entry(), good);
    }
    // The lockfile names another signer than the source has.
    let bob = world.keys.fingerprint("bob");
    edit(&world, |entry| entry["signer"]["key"] = json!(bob));
    for words in [&["install"][..], &["verify", "--fix", "--yes", "pdf"]] {
        let _ = fs::remove_dir_all(world.host.skills_dir().join("pdf"));
        world.host.fails(words).has("was signed by").has(&bob);
        assert!(!world.host.skills_dir().join("pdf").exists());
    }
    // Its signer's key was revoked since.
    edit(&world, |entry| *entry = good);
    world.revokes(world.keys.public("alice"));
    for words in [&["install"][..], &["verify", "--fix", "--yes", "pdf"]] {
        world.host.fails(words).has("was revoked");
        assert!(!world.host.skills_dir().join("pdf").exists());
    }
}

#[test]
fn a_signed_tag_is_restored_with_its_signer() {
    let Some(world) = World::new() else { return };
    fs::write(world.repo.join("skills/pdf/scripts/a.txt"), "b").unwrap();
    crate::repository::commit(&world.repo);
    world.git("alice", &["tag", "-s", "-m", "m", "v1"]);
    world.host.succeeds(&["install", "acme/skills@pdf#v1"]);
    let good = world.entry();
    assert_eq!(good["signer"]["signed"], "tag");
    for place in ["skills/pdf", "cache"] {
        let _ = fs::remove_dir_all(world.host.plugin_dir().join(place));
    }
    world.host.succeeds(&["install"]);
    assert_eq!(world.entry(), good);
}

#[test]
fn a_moved_tag_leaves_what_it_signed_restorable() {
    let Some(world) = World::new() else { return };
    world.git("alice", &["tag", "-s", "-m", "m", "v1"]);
    world.host.succeeds(&["install", "acme/skills@pdf#v1"]);
    let good = world.entry();
    world.change("two", "alice");
    for words in [
        &["tag", "-f", "-s", "-m", "m", "v1"][..],
        &["tag", "-d", "v1"],
    ] {
        world.git("alice", words);
        fs::remove_dir_all(world.host.skills_dir().join("pdf")).unwrap();
        world.host.succeeds(&["install"]);
        let restored = world.entry();
        assert_eq!(world.text().unwrap(), "a\n");
        for same in ["commit", "ref", "sha256"] {
            assert_eq!(restored[same], good[same]);
        }
        assert_eq!(restored["signer"]["key"], good["signer"]["key"]);
    }
}

#[test]
fn unsigned_commits_with_the_same_files_change_nothing() {
    let Some(world) = World::new() else { return };
    world.host.succeeds(&["install", PDF]);
    let good = world.entry();
    fs::write(world.repo.join("README"), "x").unwrap();
    crate::repository::commit(&world.repo);
    world.host.succeeds(&["update", "--yes"]);
    assert_eq!(world.entry(), good);
    fs::write(world.repo.join("README"), "y").unwrap();
    world.commit("bob");
    world.host.succeeds(&["update", "--yes"]);
    assert_eq!(world.entry(), good);
    fs::write(world.repo.join("README"), "z").unwrap();
    let commit = world.commit("alice");
    world.host.succeeds(&["update", "--yes"]);
    assert_eq!(world.entry()["commit"], commit);
    assert_eq!(world.entry()["signer"], good["signer"]);
}
