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
fn no_configuration_or_variable_weakens_the_check() {
    let Some(mut world) = World::new() else {
        return;
    };
    // Alice is listed, and bob has signed: every way below would make bob count.
    world.lists(&[world.keys.line("alice@x", "", "alice")]);
    world.requires(LISTED);
    world.change("evil", "bob");
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    fs::write(at("all"), world.keys.line("alice@x", "", "bob")).unwrap();
    // What is called in place of a verifier leaves a trace.
    let trace = "#!/bin/sh\necho 'Good \"git\" signature for alice@x with ED25519 key SHA256:x'\n";
    fs::write(at("yes"), format!("{trace}touch {}\n", at("called"))).unwrap();
    git(dir.path(), &["init", "-q", "hooks"]);
    fs::set_permissions(
        at("yes"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let config = format!(
        "[gpg]\nformat = ssh\nprogram = {0}\nminTrustLevel = never\n\
         [gpg \"ssh\"]\nprogram = {0}\nallowedSignersFile = {1}\n\
         [gpg \"openpgp\"]\nprogram = {0}\n[core]\nhooksPath = {2}\nautocrlf = true\n\
         [include]\npath = {3}\n",
        at("yes"),
        at("all"),
        at("hooks"),
        at("included"),
    );
    fs::write(at("included"), &config).unwrap();
    fs::write(world.host.home().join(".gitconfig"), &config).unwrap();
    for line in config.lines().filter(|line| line.contains("program")) {
        assert!(line.contains("yes"));
    }
    git(&world.repo, &["config", "gpg.ssh.program", &at("yes")]);
    let vars = [
        ("GIT_CONFIG_GLOBAL", at("included")),
        ("GIT_CONFIG_COUNT", "2".to_owned()),
        ("GIT_CONFIG_KEY_0", "gpg.ssh.program".to_owned()),
        ("GIT_CONFIG_VALUE_0", at("yes")),
        ("GIT_CONFIG_KEY_1", "gpg.ssh.allowedSignersFile".to_owned()),
        ("GIT_CONFIG_VALUE_1", at("all")),
        (
            "GIT_CONFIG_PARAMETERS",
            format!("'gpg.ssh.program'='{}'", at("yes")),
        ),
        ("GIT_GRAFT_FILE", at("all")),
        ("GIT_REPLACE_REF_BASE", "refs/evil".to_owned()),
        ("GNUPGHOME", at("gnupg")),
        ("SSH_SK_PROVIDER", at("yes")),
        ("LD_PRELOAD", at("none.so")),
    ];
    world.refuses(&["install", PDF], &["requires a listed signer"]);
    for (name, value) in vars {
        world.host = world.host.var(name, &value);
    }
    let ran = world.host.person(&["install", PDF]);
    assert_ne!(ran.status, 0, "{ran:?}");
    assert!(
        world.entry().is_null() && !Path::new(&at("called")).exists(),
        "{ran:?}"
    );
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
