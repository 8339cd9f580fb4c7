//! `sync` killed at any moment, many at once, and without permission.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use crate::Host;
use crate::host::Has;
use crate::syncing::{Fleet, layer};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Puts a copy of a layer in place of the present one.
fn put(host: &Host, saved: &std::path::Path) {
    let chibi = host.home().join(".chibi");
    for name in ["skills", "previous", "stash"] {
        let _ = fs::remove_dir_all(chibi.join(name));
    }
    let _ = fs::remove_file(chibi.join("skills.lock.json"));
    crate::repository::copy(saved, &chibi);
}

#[test]
fn a_sync_killed_anywhere_leaves_the_old_or_the_new_list() {
    let fleet = Fleet::new(&NAMES);
    let host = fleet.machine();
    let old_list = fleet.hub.dir().join("old.json");
    fs::copy(&fleet.list, &old_list).unwrap();
    let old_list = old_list.to_str().unwrap();
    assert_eq!(host.unattended(&["sync", "--yes", old_list]).status, 3);
    let old = layer(&host);
    let saved = tempfile::tempdir().unwrap();
    for name in ["skills", "skills.lock.json"] {
        let from = host.home().join(".chibi").join(name);
        if from.is_dir() {
            crate::repository::copy(&from, &saved.path().join(name));
        } else {
            fs::copy(&from, saved.path().join(name)).unwrap();
        }
    }
    // One is replaced, one only recorded, one new, one removed.
    fleet.change(&["a", "b"], "new");
    let new_list = fleet.without("d");
    let words = ["sync", "--yes", "--prune", new_list.to_str().unwrap()];
    let started = Instant::now();
    assert_eq!(host.unattended(&words).status, 3);
    let duration = started.elapsed();
    let new = layer(&host);
    assert_ne!(old, new);
    let (mut were_old, mut were_new) = (0, 0);
    for attempt in 0..16 {
        put(&host, saved.path());
        assert_eq!(layer(&host), old);
        let share = [300, 700, 800, 850, 900, 930, 960, 990][attempt % 8];
        let share = share + u32::try_from(attempt).unwrap();
        let mut child = host.command().args(words).spawn().unwrap();
        std::thread::sleep(duration * share / 1000);
        child.kill().unwrap();
        child.wait().unwrap();
        // The next command completes or undoes it.
        host.person(&["remove", "--layer", "personal", "none"]);
        let now = layer(&host);
        assert!(now == old || now == new, "at {share}: {}", now.1);
        were_old += usize::from(now == old);
        were_new += usize::from(now == new);
        let status = host.unattended(&words).status;
        assert_eq!(status, if now == new { 0 } else { 3 }, "at {share}");
        assert_eq!(layer(&host), new);
    }
    println!("{were_old} were undone, {were_new} completed");
}

#[test]
fn without_permission_nothing_changes() {
    if rustix::process::geteuid().is_root() {
        println!("skipped: root may write anywhere");
        return;
    }
    let fleet = Fleet::new(&NAMES);
    let host = fleet.machine();
    let list = fleet.hub.dir().join("old.json");
    fs::copy(&fleet.list, &list).unwrap();
    host.unattended(&["sync", "--yes", list.to_str().unwrap()]);
    let old = layer(&host);
    fleet.change(&["a", "b"], "new");
    let skills = host.home().join(".chibi/skills");
    fs::set_permissions(&skills, fs::Permissions::from_mode(0o500)).unwrap();
    let ran = host.unattended(&[
        "sync",
        "--yes",
        "--prune",
        fleet.without("d").to_str().unwrap(),
    ]);
    fs::set_permissions(&skills, fs::Permissions::from_mode(0o755)).unwrap();
    ran.ends(1).stderr.has("check the permissions");
    assert_eq!(layer(&host), old);
}
