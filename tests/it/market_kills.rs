//! Changes killed at any moment, and several at once.

use std::fs;
use std::time::{Duration, Instant};

use crate::Host;
use crate::host::write_at;
use crate::repository::{Hub, commit, files};

/// Starts a command, kills it at `share` thousandths of `duration`, and lets the next one clean up.
pub fn kill(host: &Host, words: &[&str], duration: Duration, share: u32) {
    let (_ours, theirs) = crate::terminal::terminal(0);
    let mut child = host.command().args(words).stdin(theirs).spawn().unwrap();
    std::thread::sleep(duration * share / 1000);
    child.kill().unwrap();
    child.wait().unwrap();
    // Any command that changes something puts right what was left. What a dying git of the killed
    // one still writes is litter for the next.
    let staging = host.plugin_dir().join("staging");
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        assert_eq!(host.person(&["remove", "none"]).status, 1);
        if !staging.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("litter: {:?}", files(&staging));
}

/// Of each skill the text and the commit that the lockfile has for it.
fn states(host: &Host) -> Vec<(Option<String>, Option<String>)> {
    let lock = fs::read_to_string(host.plugin_dir().join("skills.lock.json")).unwrap_or_default();
    let lock: serde_json::Value = serde_json::from_str(&lock).unwrap_or_default();
    let entries = lock["skills"].as_array().cloned().unwrap_or_default();
    let state = |name: &&str| {
        let entry = entries.iter().find(|entry| entry["name"] == **name);
        let commit = entry.map(|entry| entry["commit"].as_str().unwrap().to_owned());
        let text = fs::read_to_string(host.skills_dir().join(name).join("a")).ok();
        (text, commit)
    };
    MANY.iter().map(state).collect()
}

const MANY: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn many_at_once_killed_anywhere_are_each_old_or_new() {
    let hub = Hub::new();
    let dir = hub.skills(&MANY);
    let change = |text: &str| {
        for name in MANY {
            fs::write(dir.join("skills").join(name).join("a"), text).unwrap();
        }
        commit(&dir);
    };
    change("old");
    let host = hub.host();
    host.succeeds(&["config", "set", "unattended", "true"]);
    let time = |words: &[&str]| {
        let started = Instant::now();
        host.succeeds(words);
        started.elapsed()
    };
    let installing = time(&["install", "acme/skills", "--all"]);
    let old = states(&host);
    let lock = fs::read_to_string(host.plugin_dir().join("skills.lock.json")).unwrap();
    let before = files(&host.skills_dir());
    change("new");
    let updating = time(&["update"]);
    let new = states(&host);
    assert!(
        old.iter()
            .zip(&new)
            .all(|(old, new)| old.0 != new.0 && old.1 != new.1)
    );
    let lockfile = host.plugin_dir().join("skills.lock.json");
    let put = |lock: Option<&str>| {
        for name in MANY {
            let _ = fs::remove_dir_all(host.skills_dir().join(name));
        }
        let Some(lock) = lock else {
            let _ = fs::remove_file(&lockfile);
            return;
        };
        for (path, bytes) in &before {
            let path = host.skills_dir().join(path);
            write_at(path, bytes);
        }
        fs::write(&lockfile, lock).unwrap();
    };
    // Most kills aim at the end, where things are moved into place.
    for share in [100, 500, 800, 850, 900, 930, 960, 980, 1000] {
        put(None);
        let words = ["install", "acme/skills", "--all"];
        kill(&host, &words, installing, share);
        for (name, now) in MANY.iter().zip(states(&host)) {
            let is_new = new.contains(&now);
            assert!(
                is_new || now == (None, None),
                "install {name} at {share}: {now:?}"
            );
        }
        put(Some(&lock));
        assert_eq!(states(&host), old);
        kill(&host, &["update"], updating, share);
        for (name, now) in MANY.iter().zip(states(&host)) {
            let known = old.contains(&now) || new.contains(&now);
            assert!(known, "update {name} at {share}: {now:?}");
        }
    }
}

#[test]
fn different_changes_at_once_all_end_well() {
    let hub = Hub::new();
    hub.skills(&["a", "b", "c", "d"]);
    let host = hub.host();
    // What is killed here has no terminal.
    host.succeeds(&["config", "set", "unattended", "true"]);
    host.succeeds(&["install", "acme/a"]);
    let commands = [
        &["install", "acme/b"][..],
        &["install", "acme/c"],
        &["remove", "a"],
        &["update"],
        &["install", "acme/b"],
        &["verify"],
        &["list", "--offline"],
    ];
    let running: Vec<_> = commands
        .iter()
        .map(|words| host.command().args(*words).spawn().unwrap())
        .collect();
    for (child, words) in running.into_iter().zip(commands) {
        let output = child.wait_with_output().unwrap();
        // The last two look at what is there just then.
        let may_fail = matches!(words[0], "verify" | "list");
        assert!(
            output.status.success() || may_fail,
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert_eq!(host.skill_tools(), ["skill_b", "skill_c"]);
    host.succeeds(&["verify"]);
}
