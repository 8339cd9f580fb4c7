//! A user's git configuration, variables and hooks, and those of a repository, that try to turn the
//! check off; programs that are missing, slow or not what they seem.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{PDF, World};
use crate::repository::git;

const LISTED: &str = "require = \"listed\"";

/// A directory with links to some of the programs that the user has.
fn path_of(dir: &Path, programs: &[&str]) -> PathBuf {
    let path = dir.join("bin");
    fs::create_dir_all(&path).unwrap();
    for program in programs {
        let found = which::which(program).unwrap();
        symlink(found.canonicalize().unwrap(), path.join(program)).unwrap();
    }
    path
}

#[test]
fn what_replaces_a_commit_in_its_repository_proves_nothing() {
    let Some(world) = World::new() else { return };
    world.lists(&[world.keys.line("alice@x", "", "alice")]);
    world.requires(LISTED);
    let good = world.git("alice", &["rev-parse", "HEAD"]);
    let evil = world.change("evil", "bob");
    git(&world.repo, &["replace", &evil, &good]);
    git(
        &world.repo,
        &[
            "config",
            "remote.origin.fetch",
            "+refs/replace/*:refs/replace/*",
        ],
    );
    fs::write(world.repo.join(".git/info/grafts"), format!("{evil}\n")).unwrap();
    world.refuses(&["install", PDF], &["requires a listed signer"]);
}

#[test]
fn a_missing_program_is_named_and_counts_as_no_signature() {
    let Some(mut world) = World::new() else {
        return;
    };
    world.lists(&[world.keys.line("alice@x", "", "alice")]);
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let path = path_of(dir.path(), &["git", "sh", "curl"]);
    world.host = world.host.var("PATH", path.to_str().unwrap());
    world.requires(LISTED);
    let why = "ssh-keygen, which checks it, is not installed";
    world.refuses(&["install", PDF], &["requires a listed signer", why]);
    world.requires("");
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.signer(), None);
}

#[test]
fn programs_are_not_looked_for_where_skills_are_unpacked() {
    let Some(mut world) = World::new() else {
        return;
    };
    world.lists(&[world.keys.line("alice@x", "", "alice")]);
    world.requires(LISTED);
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let path = path_of(dir.path(), &["git", "sh", "curl"]);
    let relative = format!(".:bin:{}:", path.display());
    world.host = world.host.var("PATH", &relative);
    let why = "ssh-keygen, which checks it, is not installed";
    world.refuses(&["install", PDF], &[why]);
}
