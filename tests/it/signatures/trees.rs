//! Skills in repositories of every shape: what is installed of a signed commit is signed, and stays so.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::{PDF, World, entry};
use crate::host::write_at;
use crate::market_sources::skill;
use crate::repository::git;

/// Checks that the skill is installed with its signer, and that it still holds.
#[track_caller]
fn holds(world: &World, words: &[&str], name: &str) {
    world.host.succeeds(words);
    let signer = entry(&world.host, name)["signer"]["principal"].clone();
    assert_eq!(signer, "alice@x");
    world.host.succeeds(&["verify", name]);
}

#[test]
fn links_are_what_they_lead_to_in_the_signed_commit() {
    let Some(world) = World::listed() else { return };
    let at = |path: &str| world.repo.join(path);
    write_at(at("shared/lib.txt"), "lib");
    write_at(at("shared/deep/er/x.txt"), "x");
    symlink("shared/deep", at("short")).unwrap();
    let skill_at = |path: &str| at("skills/pdf").join(path);
    symlink("../../shared/lib.txt", skill_at("lib.txt")).unwrap();
    symlink("../../short/er/x.txt", skill_at("x.txt")).unwrap();
    symlink("../../shared", skill_at("all")).unwrap();
    for (out, to) in [
        ("out", "/etc/passwd"),
        ("up", "../../../.."),
        ("nowhere", "../../short/none/x.txt"),
        ("circle", "circle"),
    ] {
        symlink(to, skill_at(out)).unwrap();
    }
    world.commit("alice");
    holds(&world, &["install", PDF], "pdf");
    let installed = world.host.skills_dir().join("pdf");
    assert_eq!(fs::read(installed.join("all/deep/er/x.txt")).unwrap(), b"x");
    assert!(!installed.join("out").exists());
}

#[test]
fn a_skill_at_the_root_is_checked_without_the_skills_in_it() {
    let Some(world) = World::listed() else { return };
    let at = |path: &str| world.repo.join(path);
    write_at(at("SKILL.md"), skill("root"));
    write_at(at("texts/deep/x.md"), "x");
    write_at(at("skills/pdf/more/deep/x.md"), "x");
    world.commit("alice");
    holds(&world, &["install", "acme/skills@root"], "root");
    holds(&world, &["install", PDF], "pdf");
}

#[test]
fn odd_names_and_content_are_compared_as_they_are() {
    let Some(world) = World::listed() else { return };
    let at = |path: &str| world.repo.join("skills/pdf").join(path);
    for name in [
        "sp ace",
        "\"quoted\"",
        "back\\slash",
        "tab\there",
        "-dash",
        "umläut",
        "#",
    ] {
        fs::write(at(name), name).unwrap();
    }
    fs::write(at("run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(at("crlf.txt"), "a\r\nb\r\n").unwrap();
    fs::write(at("empty"), "").unwrap();
    fs::write(at("binary"), [0, 255, 10, 13, 0]).unwrap();
    git(&world.repo, &["-c", "core.autocrlf=false", "add", "skills"]);
    // What git would make of the files in a working copy is not what is signed.
    let attributes = "* text=auto eol=crlf ident\n*.txt filter=x\n";
    fs::write(world.repo.join(".gitattributes"), attributes).unwrap();
    git(&world.repo, &["add", ".gitattributes"]);
    world.git("alice", &["commit", "-q", "-S", "-m", "odd"]);
    holds(&world, &["install", PDF], "pdf");
}

#[test]
fn a_name_that_is_no_text_is_left_out() {
    let Some(world) = World::listed() else { return };
    let dir = world.repo.join("skills/pdf");
    fs::write(dir.join("a\nb"), "x").unwrap();
    let bytes = Path::new(std::ffi::OsStr::from_bytes(b"raw\xff"));
    fs::write(dir.join(bytes), "x").unwrap();
    world.commit("alice");
    holds(&world, &["install", PDF], "pdf");
}
