//! What a lockfile and the files beside it claim of a signer, written by somebody else: by hand, or in
//! a project that comes with them.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{PDF, World};

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
        let told = world.host.fails(words);
        assert!(
            told.contains("was signed by") && told.contains(&bob),
            "{told}"
        );
        assert!(!world.host.skills_dir().join("pdf").exists());
    }
    // Its signer's key was revoked since.
    edit(&world, |entry| *entry = good);
    let revoked = world.host.plugin_dir().join("revoked");
    fs::write(revoked, world.keys.public("alice")).unwrap();
    for words in [&["install"][..], &["verify", "--fix", "--yes", "pdf"]] {
        let told = world.host.fails(words);
        assert!(told.contains("was revoked"), "{told}");
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
    for place in ["skills/pdf", "signatures", "cache"] {
        let _ = fs::remove_dir_all(world.host.plugin_dir().join(place));
    }
    world.host.succeeds(&["install"]);
    assert_eq!(world.entry(), good);
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

#[test]
fn damaged_evidence_is_written_again() {
    let Some(world) = World::new() else { return };
    world.host.succeeds(&["install", PDF]);
    let id = world.entry()["evidence"].as_str().unwrap().to_owned();
    let path = world.host.plugin_dir().join("signatures").join(id);
    let good = fs::read(&path).unwrap();
    world.host.succeeds(&["remove", "pdf"]);
    fs::write(&path, "damaged").unwrap();
    world.host.succeeds(&["install", PDF]);
    assert_eq!(fs::read(&path).unwrap(), good);
}

/// Changes the objects of what is kept for the skill, and names that in the lockfile.
fn tamper(world: &World, change: impl FnOnce(&mut Vec<Value>)) {
    let dir = world.host.plugin_dir().join("signatures");
    let id = world.entry()["evidence"].as_str().unwrap().to_owned();
    let mut kept: Value = serde_json::from_slice(&fs::read(dir.join(id)).unwrap()).unwrap();
    change(kept["git"]["objects"].as_array_mut().unwrap());
    let bytes = serde_json::to_vec(&kept).unwrap();
    let id = format!("{:x}", Sha256::digest(&bytes));
    fs::write(dir.join(&id), bytes).unwrap();
    edit(world, |entry| entry["evidence"] = json!(id));
}

fn content(object: &Value) -> Vec<u8> {
    STANDARD.decode(object["bytes"].as_str().unwrap()).unwrap()
}

#[test]
fn what_the_evidence_leaves_out_the_skill_may_not() {
    let Some(world) = World::new() else { return };
    fs::create_dir_all(world.repo.join("shared/deep")).unwrap();
    fs::write(world.repo.join("shared/deep/x.txt"), "x").unwrap();
    let link = world.repo.join("skills/pdf/x.txt");
    std::os::unix::fs::symlink("../../shared/deep/x.txt", link).unwrap();
    world.commit("alice");
    world.lists(&[world.keys.line("alice@x", "", "alice")]);
    world.requires("require = \"listed\"");
    world.host.succeeds(&["install", PDF]);
    let good = world.entry();
    let offered = || world.host.skill_tools() == ["skill_pdf"];
    assert!(offered());
    let skill = world.host.skills_dir().join("pdf");
    // A directory of the skill, the one that a link leads through, and where the link leads.
    for (inside, file) in [
        (&b" a.txt\0"[..], "scripts/a.txt"),
        (b" deep\0", "x.txt"),
        (b"../../shared", "x.txt"),
    ] {
        let path = skill.join(file);
        let text = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        if file.starts_with("scripts") {
            fs::remove_dir(skill.join("scripts")).unwrap();
        }
        assert!(!offered(), "{file}");
        tamper(&world, |objects| {
            let before = objects.len();
            let has = |object: &Value| {
                content(object)
                    .windows(inside.len())
                    .any(|part| part == inside)
            };
            objects.retain(|object| !has(object));
            assert_eq!(objects.len(), before - 1);
        });
        assert!(!offered(), "{file}");
        edit(&world, |entry| *entry = good.clone());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        assert!(offered());
    }
    // Another commit's objects, and ones that are none.
    for bytes in [&b"tree x\n\n"[..], b"40000 a\0", b""] {
        tamper(&world, |objects| {
            for object in objects {
                object["bytes"] = json!(STANDARD.encode(bytes));
            }
        });
        assert!(!offered());
        edit(&world, |entry| *entry = good.clone());
    }
    assert!(offered());
}
