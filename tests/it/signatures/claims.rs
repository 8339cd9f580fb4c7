//! What a signature, a lockfile or a pattern claims, and who is asked the first time.

use std::fs;

use serde_json::Value;

use super::{LISTED, PDF, World};
use crate::host::Has;
use crate::market_sources::skill;

#[test]
fn a_projects_lockfile_that_lost_its_signer_forgets_nobody() {
    let Some(world) = World::new() else { return };
    world.host.succeeds(&["install", PDF, "--project"]);
    let path = world.host.project().join(".chibi/skills.lock.json");
    let mut lock: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let entry = lock["skills"][0].as_object_mut().unwrap();
    assert!(entry.remove("signer").is_some());
    fs::write(&path, lock.to_string()).unwrap();
    world.change("b\n", "bob");
    let told = world.host.person(&["update", "--project", "--yes"]).stdout;
    told.has("was signed by").has("left as it is");
    let text = world.host.project().join(".chibi/skills/pdf/scripts/a.txt");
    assert_eq!(fs::read_to_string(text).unwrap(), "a\n");
}

#[test]
fn a_pattern_is_no_name_by_which_a_key_could_rotate() {
    let Some(world) = World::new() else { return };
    let keys = world.keys;
    world.lists(&["alice", "bob"].map(|name| keys.line("*@acme.com", "", name)));
    world.host.succeeds(&["install", PDF]);
    let signer = world.signer();
    world.change("b\n", "bob");
    let told = world.host.person(&["update", "--yes"]).stdout;
    told.has("left as it is");
    assert_eq!(
        (world.signer(), world.text().unwrap().as_str()),
        (signer, "a\n")
    );
}

#[test]
fn the_first_signer_of_a_source_needs_its_users_consent() {
    let Some(world) = World::new() else { return };
    world.requires("require = \"known\"");
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.signer().unwrap().1, world.keys.fingerprint("alice"));
    world.host.succeeds(&["remove", "pdf"]);
    world.change("b\n", "bob");
    world.host.fails(&["install", PDF]);
    assert_eq!(world.entry(), Value::Null);
}

#[test]
fn whoever_names_principals_requires_one_of_them() {
    let Some(world) = World::new() else { return };
    let keys = world.keys;
    world.lists(&[
        keys.line("carol@x,alice@x", "", "alice"),
        keys.line("bob@x", "", "bob"),
        keys.line("carol@x,file@x", "namespaces=\"file\"", "alice"),
        keys.line("carol@x,old@x", "valid-before=\"20200101\"", "alice"),
    ]);
    let rules =
        |who: &str| format!("[signing.sources.\"github.com/acme/*\"]\nprincipals = [\"{who}\"]");
    for who in ["bob@x", "file@x", "old@x"] {
        world.requires(&rules(who));
        world.refuses(&["install", PDF], &["may not sign for this source"]);
    }
    for who in ["alice@x", "carol@x", "*@x"] {
        world.requires(&rules(who));
        world.host.succeeds(&["install", PDF]);
        world.host.succeeds(&["remove", "pdf"]);
    }
}

#[test]
fn a_signer_that_comes_with_an_update_is_told() {
    let Some(world) = World::new() else { return };
    let unsigned = ["commit", "-q", "--amend", "--no-gpg-sign", "-m", "x"];
    world.git("alice", &unsigned);
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.signer(), None);
    world.commit("bob");
    let told = world.host.succeeds(&["update", "--yes"]);
    let bob = world.keys.fingerprint("bob");
    told.has("signed from now on").has(&bob);
    assert_eq!(world.signer().unwrap().1, bob);
}

#[test]
fn an_authors_manifest_counts_under_a_forges_merge() {
    let Some(world) = World::new() else { return };
    let keys = world.keys;
    world.lists(&[keys.line("alice@x", "namespaces=\"agent-skill\"", "alice")]);
    world.requires(LISTED);
    let (pdf, key) = (world.repo.join("skills/pdf"), keys.private("alice"));
    fs::write(pdf.join("SKILL.md"), skill("pdf")).unwrap();
    let [pdf, key] = [&pdf, &key].map(|path| path.to_str().unwrap());
    let words = ["package", pdf, "--sign", key, "--in-place"];
    world.host.succeeds(&words);
    world.commit("carol");
    world.host.succeeds(&["install", PDF]);
    let signer = world.entry()["signer"].clone();
    assert_eq!(signer["principal"], "alice@x");
    assert_eq!(signer["signed"], "manifest");
    world.host.succeeds(&["verify"]);
}

#[test]
fn what_one_file_revokes_counts_where_another_requires() {
    let Some(world) = World::listed() else { return };
    world.host.succeeds(&["install", PDF]);
    let gone = world.host.home().join("gone");
    fs::write(gone, world.keys.public("alice") + "\n").unwrap();
    let host = world.host.policy("[signing]\nrevoked = \"gone\"\n");
    host.person(&["info", "pdf"]).stdout.has("revoked");
    host.succeeds(&["list", "--json"]).has("revoked");
}
