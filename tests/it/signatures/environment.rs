//! A user's git configuration, variables and hooks, and those of a repository, that try to turn the
//! check off; programs that are missing, slow or not what they seem.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::{PDF, World};
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
fn programs_are_not_looked_for_where_skills_are_unpacked() {
    let Some(world) = World::listed() else { return };
    let programs = few_programs();
    let relative = format!(".:bin:{}:", programs.path().display());
    let host = world.host.var("PATH", &relative);
    World { host, ..world }.refuses(&["install", PDF], &[MISSING]);
}
