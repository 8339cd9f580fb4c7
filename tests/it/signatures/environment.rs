//! A user's git configuration, variables and hooks, and those of a repository, that try to turn the
//! check off; programs that are missing, slow or not what they seem.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::{LISTED, PDF, World};
use crate::repository::git;

/// A directory with links to the programs of the user that a fetch needs.
fn few_programs() -> TempDir {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    for program in ["git", "sh", "curl"] {
        let found = which::which(program).unwrap();
        symlink(found.canonicalize().unwrap(), dir.path().join(program)).unwrap();
    }
    dir
}

const MISSING: &str = "ssh-keygen, which checks it, is not installed";

#[test]
fn what_replaces_a_commit_in_its_repository_proves_nothing() {
    let Some(world) = World::listed() else { return };
    let good = world.git("alice", &["rev-parse", "HEAD"]);
    let evil = world.change("evil", "bob");
    git(&world.repo, &["replace", &evil, &good]);
    let refs = "+refs/replace/*:refs/replace/*";
    git(&world.repo, &["config", "remote.origin.fetch", refs]);
    fs::write(world.repo.join(".git/info/grafts"), format!("{evil}\n")).unwrap();
    world.refuses(&["install", PDF], &["requires a listed signer"]);
}

#[test]
fn a_missing_program_is_named_and_counts_as_no_signature() {
    let Some(world) = World::listed() else { return };
    let programs = few_programs();
    let host = world.host.var("PATH", programs.path().to_str().unwrap());
    let world = World { host, ..world };
    world.refuses(&["install", PDF], &["requires a listed signer", MISSING]);
    world.requires("");
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.signer(), None);
}

#[test]
fn a_program_that_fails_says_nothing_of_a_signature() {
    let Some(world) = World::listed() else { return };
    let bin = tempfile::tempdir_in("/tmp").unwrap();
    let path = format!(
        "{}:{}",
        bin.path().display(),
        std::env::var("PATH").unwrap()
    );
    let host = world.host.var("PATH", &path);
    let world = World { host, ..world };
    let real = which::which("git").unwrap();
    let old_git = |fails: &str| {
        format!(
            "case \" $* \" in\n' version ') echo git version 2.33.1;;\n*' verify-'*) {fails};;\n\
             *) exec {} \"$@\";;\nesac",
            real.display()
        )
    };
    let (old, untold) = ("git 2.34 or later is needed", "git could not check it");
    for (program, script, why) in [
        ("ssh-keygen", "echo unknown option -- Y >&2; exit 1", untold),
        ("ssh-keygen", "exit 127", untold),
        (
            "git",
            &old_git("echo error: no signature found >&2; exit 1"),
            old,
        ),
        (
            "git",
            &old_git("echo \"BUG: gpg-interface.c:283: bad signature '-----\" >&2; kill -ABRT $$"),
            old,
        ),
    ] {
        let file = bin.path().join(program);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        world.requires(LISTED);
        world.refuses(&["install", PDF], &["requires a listed signer", why]);
        world.requires("");
        world.host.succeeds(&["install", PDF]);
        assert_eq!(world.signer(), None, "{script}");
        world.host.succeeds(&["remove", "pdf"]);
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn programs_are_not_looked_for_where_skills_are_unpacked() {
    let Some(world) = World::listed() else { return };
    let programs = few_programs();
    let relative = format!(".:bin:{}:", programs.path().display());
    let host = world.host.var("PATH", &relative);
    World { host, ..world }.refuses(&["install", PDF], &[MISSING]);
}
