//! Which keys count: those that are listed for this purpose and time, and not revoked.

use std::fs;
use std::process::Command;

use super::{LISTED, PDF, World, lapses, output};
use crate::host::Has;

#[test]
fn an_unlisted_key_counts_as_known_and_not_as_listed() {
    let Some(world) = World::new() else { return };
    world.lists(&[world.keys.line("bob@x", "", "bob")]);
    world.requires(LISTED);
    let key = world.keys.fingerprint("alice");
    world.refuses(&["install", PDF], &["requires a listed signer", &key]);
    world.requires("");
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.signer(), Some((None, key.clone())));
    // It has been accepted for this source.
    world.host.succeeds(&["remove", "pdf"]);
    world.requires("require = \"known\"");
    world.host.succeeds(&["install", PDF]);
    assert_eq!(world.signer(), Some((None, key)));
}

#[test]
fn a_key_counts_for_its_purpose_and_time_only() {
    let Some(world) = World::new() else { return };
    let day = |days: &str| output(Command::new("date").args(["-d", days, "+%Y%m%d"]));
    let (past, future) = (day("-2 days"), day("+2 days"));
    let before = |day: &str| format!("valid-before=\"{}\"", day.trim());
    let after = |day: &str| format!("valid-after=\"{}\"", day.trim());
    for (options, holds) in [
        (before(&past), false),
        (before(&future), true),
        (after(&future), false),
        (after(&past), true),
        ("namespaces=\"agent-skill\"".to_owned(), false),
        ("namespaces=\"file,git\"".to_owned(), true),
    ] {
        world.lists(&[world.keys.line("alice@x", &options, "alice")]);
        // It is refused whatever is required.
        let rules: &[&str] = if holds { &[LISTED] } else { &["", LISTED] };
        for rules in rules {
            world.requires(rules);
            if holds {
                world.host.succeeds(&["install", PDF]);
                world.host.succeeds(&["remove", "pdf"]);
            } else {
                let told = world.host.fails(&["install", PDF]);
                told.has("is invalid")
                    .has("listed, but not for this purpose and time");
                assert!(world.entry().is_null(), "{options}");
            }
        }
    }
}

#[test]
fn a_revoked_key_counts_nowhere_and_in_no_form() {
    let Some(world) = World::new() else { return };
    let (public, key) = (world.keys.public("alice"), world.keys.fingerprint("alice"));
    let listed = world.keys.line("alice@x", "", "alice");
    // It was accepted before it was revoked.
    world.host.succeeds(&["install", PDF]);
    world.host.succeeds(&["remove", "pdf"]);
    for bytes in [public.as_bytes(), key.as_bytes()] {
        for signers in [&[][..], std::slice::from_ref(&listed)] {
            world.revokes(bytes);
            world.lists(signers);
            for rules in ["", "require = \"known\""] {
                world.requires(rules);
                let why = format!("is invalid: the key {key} was revoked");
                world.host.fails(&["install", PDF]).has(&why);
                assert!(world.entry().is_null());
            }
        }
    }
    // Another's key is not.
    world.requires("");
    world.revokes(world.keys.public("bob"));
    world.host.succeeds(&["install", PDF]);
    world.host.succeeds(&["verify"]);
    world.revokes(public);
    lapses(&world, "was revoked");
}

#[test]
fn nobody_counts_while_a_file_of_keys_cannot_be_read() {
    let Some(world) = World::listed() else { return };
    let listed = world.keys.line("alice@x", "", "alice");
    for (signers, revocations, why) in [
        (format!("{listed}bob"), "", "line 2: it has no key"),
        (listed.clone(), "SHA256:short", "line 1: it is not a key"),
        (listed.clone(), "alice", "line 1: it is not a key"),
        // A binary list of ssh-keygen's.
        (listed.clone(), "SSHKRL\n\0x", "line 1: it is not a key"),
        (
            world.keys.line("*@x", "cert-authority", "carol"),
            "",
            "line 1: certificates do not count here",
        ),
    ] {
        world.lists(&[signers]);
        world.revokes(revocations);
        world.refuses(&["install", PDF], &["requires a listed signer", why]);
    }
}

#[test]
fn a_certificate_counts_for_nobody() {
    let Some(world) = World::new() else { return };
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for name in ["alice", "alice.pub"] {
        fs::copy(world.keys.private(name), at(name)).unwrap();
    }
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-s"]).arg(world.keys.private("carol"));
    command.args(["-I", "id", "-n", "alice@x"]);
    output(command.arg(at("alice.pub")));
    fs::write(world.repo.join("skills/pdf/scripts/a.txt"), "cert").unwrap();
    let commit = ["commit", "-q", "-a", "-S", "-m", "by certificate"];
    super::author(&world.repo, &at("alice-cert.pub"), &["add", "-A"]);
    super::author(&world.repo, &at("alice-cert.pub"), &commit);
    world.requires(LISTED);
    // Neither by who issued it nor by the key in it.
    for name in ["carol", "alice"] {
        world.lists(&[world.keys.line("alice@x", "", name)]);
        world.refuses(
            &["install", PDF],
            &["by a certificate; certificates are not accepted"],
        );
    }
}

#[test]
fn an_old_time_that_a_commit_states_helps_no_key() {
    let Some(world) = World::new() else { return };
    let mut command = crate::repository::command(&world.repo);
    command.env("GIT_COMMITTER_DATE", "2020-06-01T00:00:00Z");
    let key = format!("user.signingkey={}", world.keys.private("alice").display());
    command.args(["-c", "gpg.format=ssh", "-c", &key]);
    output(command.args(["commit", "-q", "--allow-empty", "-S", "-m", "old"]));
    for (options, holds) in [
        ("valid-before=\"20210101\"", false),
        ("valid-after=\"20210101\"", true),
    ] {
        world.lists(&[world.keys.line("alice@x", options, "alice")]);
        world.requires(LISTED);
        if holds {
            world.host.succeeds(&["install", PDF]);
        } else {
            world.refuses(&["install", PDF], &["not for this purpose and time"]);
        }
    }
    // What is installed counts as long as its key does.
    world.lists(&[world
        .keys
        .line("alice@x", "valid-before=\"20210101\"", "alice")]);
    lapses(&world, "not for this purpose and time");
}
