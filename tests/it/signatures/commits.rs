//! Signed commits and tags: forged, moved, taken from elsewhere, in unusual forms.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{LISTED, PDF, World, output};
use crate::host::{Has, finish};
use crate::repository::git;

/// Writes a commit or tag as it is, and returns its id.
fn write(repo: &Path, kind: &str, text: &[u8]) -> String {
    let words = ["hash-object", "-w", "--literally", "-t", kind, "--stdin"];
    let mut command = crate::repository::command(repo);
    let ran = finish(command.args(words).stdout(Stdio::piped()), text);
    ran.ends(0).stdout.trim().to_owned()
}

fn raw(world: &World, kind: &str, name: &str) -> String {
    let mut command = Command::new("git");
    command.args(["cat-file", kind, name]);
    output(command.current_dir(&world.repo))
}

#[test]
fn an_unsigned_commit_is_taken_only_where_nothing_is_required() {
    let Some(world) = World::listed() else { return };
    fs::write(world.repo.join("skills/pdf/scripts/a.txt"), "b").unwrap();
    crate::repository::commit(&world.repo);
    world.refuses(&["install", PDF], &["requires a listed signer", "unsigned"]);
    world.requires("");
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.signer(), None);
    assert_eq!(super::kept(&world.host), Vec::<std::path::PathBuf>::new());
}

#[test]
fn the_signature_of_another_commit_is_none() {
    let Some(world) = World::listed() else { return };
    let first = raw(&world, "commit", "HEAD");
    world.change("evil", "bob");
    let tree = world.git("bob", &["rev-parse", "HEAD^{tree}"]);
    let (_, rest) = first.split_once('\n').unwrap();
    // Alice's signature, over another tree, another message, and once more behind her own.
    let own: Vec<&str> = first.split_inclusive('\n').collect();
    let signature = own.iter().skip_while(|line| !line.starts_with("gpgsig "));
    let signature =
        signature.take_while(|line| line.starts_with("gpgsig ") || line.starts_with(' '));
    let signature: String = signature.copied().collect();
    let bobs = raw(&world, "commit", "HEAD");
    let moved = format!("tree {tree}\n{rest}");
    let twice = bobs.replacen("gpgsig ", &format!("{signature}gpgsig "), 1);
    let renamed = moved.replace("gpgsig ", "gpgsig-sha256 ");
    let reworded = first.replace("\n\nchange", "\n\nother");
    for (forged, why) in [
        (moved, "it is not of these files"),
        (reworded, "it is not of these files"),
        (twice, "it is not of these files"),
        (renamed, "unsigned"),
    ] {
        let commit = write(&world.repo, "commit", forged.as_bytes());
        git(&world.repo, &["update-ref", "refs/heads/main", &commit]);
        world.refuses(&["install", PDF], &[why]);
    }
}

#[test]
fn a_moved_tag_is_found_even_if_its_content_is_signed() {
    let Some(world) = World::listed() else { return };
    let v1 = "acme/skills@pdf#v1";
    for signed in [false, true] {
        let tag = |force: &[&str]| {
            let kind: &[&str] = if signed { &["-s", "-m", "m"] } else { &[] };
            world.git("alice", &[&["tag"], kind, force, &["v1"]].concat());
        };
        world.change("one", "alice");
        tag(&["-f"]);
        world.host.succeeds(&["install", v1]);
        let covers = if signed { "tag" } else { "commit" };
        assert_eq!(world.entry()["signer"]["signed"], covers);
        let before = (world.entry(), world.text());
        world.change("two", "alice");
        tag(&["-f"]);
        let told = world.host.person(&["update"]);
        (told.stdout + &told.stderr).has("v1").has("moved");
        assert_eq!((world.entry(), world.text()), before);
        world.host.succeeds(&["remove", "pdf"]);
    }
}

#[test]
fn a_tag_counts_by_the_name_that_was_signed() {
    let Some(world) = World::listed() else { return };
    world.git("alice", &["tag", "-s", "-m", "m", "v1"]);
    let old = world.git("alice", &["rev-parse", "v1"]);
    world.change("fixed", "alice");
    world.git("alice", &["tag", "v2", &old]);
    let why = ["is invalid", "signed as `v1`"];
    world.refuses(&["install", "acme/skills@pdf#v2"], &why);
    world.host.succeeds(&["install", "acme/skills@pdf#v1"]);
    assert_eq!(world.entry()["signer"]["signed"], "tag");
}

#[test]
fn a_tag_counts_only_for_the_commit_that_it_names() {
    let Some(world) = World::listed() else { return };
    world.git("alice", &["tag", "-s", "-m", "m", "v1"]);
    let good = raw(&world, "tag", "v1");
    world.change("evil", "bob");
    let evil = world.git("bob", &["rev-parse", "HEAD"]);
    let (_, rest) = good.split_once('\n').unwrap();
    let forged = format!("object {evil}\n{rest}");
    let forged = write(&world.repo, "tag", forged.as_bytes());
    git(&world.repo, &["update-ref", "refs/tags/v1", &forged]);
    world.refuses(&["install", "acme/skills@pdf#v1"], &["is invalid"]);
    // A tag of a tag leads to no commit of its own.
    world.git("alice", &["tag", "-f", "-s", "-m", "m", "v1"]);
    world.git("alice", &["tag", "-s", "-m", "m", "outer", "v1"]);
    let why = ["is invalid", "another commit"];
    world.refuses(&["install", "acme/skills@pdf#outer"], &why);
    // An unsigned one leaves it to the commit.
    world.git("alice", &["tag", "-a", "-m", "m", "plain", "main"]);
    world.refuses(&["install", "acme/skills@pdf#plain"], &["listed signer"]);
}

#[test]
fn merges_long_ids_and_foreign_forms_are_understood() {
    let Some(world) = World::listed() else { return };
    // A merge of a signed tag carries that tag's signature in a header.
    git(&world.repo, &["checkout", "-q", "-b", "side"]);
    world.change("side", "bob");
    world.git("bob", &["tag", "-s", "-m", "m", "side-tag"]);
    git(&world.repo, &["checkout", "-q", "main"]);
    let merge = ["merge", "-q", "-S", "--no-ff", "-m", "merge", "side-tag"];
    world.git("alice", &merge);
    raw(&world, "commit", "HEAD").has("mergetag");
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.signer().unwrap().0.as_deref(), Some("alice@x"));
    world.host.succeeds(&["remove", "pdf"]);
    let text = raw(&world, "commit", "HEAD").replace("SSH SIGNATURE", "SIGNED MESSAGE");
    let commit = write(&world.repo, "commit", text.as_bytes());
    git(&world.repo, &["update-ref", "refs/heads/main", &commit]);
    world.refuses(&["install", PDF], &["in a form that is not checked here"]);

    let long = ["init", "-q", "-b", "main", "--object-format=sha256"];
    let world = World::with(&long).unwrap();
    world.lists(&[world.keys.line("alice@x", "", "alice")]);
    world.requires(LISTED);
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.entry()["commit"].as_str().unwrap().len(), 64);
    assert_eq!(world.signer().unwrap().0.as_deref(), Some("alice@x"));
}
