//! Installs, updates, rollbacks and removals on a disk that becomes full at any point: each skill is the old or the new
//! one with its entry in the lockfile, and the user is told.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Host;
use crate::repository::{Hub, commit, copy, files};

const READ_ONLY: usize = 1_000_000;

const SKILLS: [&str; 3] = ["pdf", "csv", "zip"];

/// A skill's files and its entry; empty and null where it is not installed.
type State = BTreeMap<&'static str, (Vec<(std::path::PathBuf, Vec<u8>)>, Value)>;

fn state(plugin: &Path) -> State {
    let lock = fs::read(plugin.join("skills.lock.json")).unwrap();
    let lock: Value = serde_json::from_slice(&lock).unwrap();
    let entries = lock["skills"].as_array().unwrap();
    let of = |name: &'static str| {
        let dir = plugin.join("skills").join(name);
        let found = if dir.exists() {
            files(&dir)
        } else {
            Vec::new()
        };
        let entry = entries.iter().find(|entry| entry["name"] == name);
        (name, (found, entry.cloned().unwrap_or_default()))
    };
    SKILLS.map(of).into()
}

/// What a command says, and the plugin directory after it, on a disk with so many free KiB, or one
/// that cannot be written to.
fn on_disk(host: &Host, saved: &Path, words: &[&str], free: usize) -> (i32, String, State) {
    let script = r#"
        filled() {
            mount -t tmpfs -o "size=$1" none "$AGENT_SKILLS_HOME" && cp -a "$SAVED/." "$AGENT_SKILLS_HOME"
        }
        # Not every user may change the size of what is mounted.
        filled 64m && used=$(df -k --output=used "$AGENT_SKILLS_HOME" | tail -n 1) &&
        umount "$AGENT_SKILLS_HOME" && filled $((used + FREE))k || exit 99
        [ "$FREE" != 1000000 ] || mount -o remount,bind,ro "$AGENT_SKILLS_HOME" || exit 99
        "$EXE" "$@"
        status=$?
        cp -a "$AGENT_SKILLS_HOME/." "$AFTER" || exit 99
        exit $status"#;
    let after = tempfile::tempdir().unwrap();
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", script, "sh"]).args(words);
    let mut shell = host.surround(shell);
    shell
        .env("EXE", env!("CARGO_BIN_EXE_agent-skills"))
        .env("SAVED", saved)
        .env("AFTER", after.path())
        .env("FREE", free.to_string())
        .stdin(Stdio::null());
    let output = shell.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let status = output.status.code().unwrap_or(-1);
    assert_ne!(status, 99, "{told}");
    (status, told, state(after.path()))
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_each_skill_old_or_new() {
    let probe = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("skipped: this system gives no mount namespace for a small disk");
        return;
    }
    let hub = Hub::new();
    let dir = hub.skills(&SKILLS);
    let change = |text: &str| {
        for name in SKILLS {
            fs::write(dir.join("skills").join(name).join("a"), text.repeat(2000)).unwrap();
        }
        commit(&dir);
    };
    let host = hub.host();
    host.succeeds(&["config", "set", "unattended", "true"]);
    host.succeeds(&["install", "acme/skills@pdf"]);
    host.succeeds(&["install", "acme/skills@csv"]);
    change("second ");
    host.succeeds(&["update"]);
    change("third ");
    // `pdf` at its new state, `zip`, and no `csv`.
    let other = hub.host();
    other.succeeds(&["install", "acme/skills", "--skill", "pdf,zip"]);
    let list = other.plugin_dir().join("skills.lock.json");
    let list = list.to_str().unwrap();
    let saved = tempfile::tempdir().unwrap();
    copy(&host.plugin_dir(), saved.path());
    let old = state(saved.path());
    for words in [
        &["update"][..],
        &["install", "acme/skills@zip"],
        &["rollback", "pdf"],
        &["remove", "pdf"],
        &["sync", "--layer", "plugin", "--prune", "--yes", list],
    ] {
        let (status, told, new) = on_disk(&host, saved.path(), words, 1 << 16);
        // `sync` says that it has changed something.
        let is_done = |status: i32| status == 0 || (words[0], status) == ("sync", 3);
        assert!(is_done(status) && new != old, "{words:?}: {told}");
        let mut failed = 0;
        for free in [0, 8, 16, 32, 64, 96, 128, 256, 512] {
            let (status, told, now) = on_disk(&host, saved.path(), words, free);
            for name in SKILLS {
                let is_whole = now[name] == old[name] || now[name] == new[name];
                assert!(is_whole, "{words:?}, {free} KiB, {name}: {:?}", now[name]);
            }
            assert!(words[0] != "sync" || now == old || now == new, "{free} KiB");
            if is_done(status) {
                assert_eq!(now, new, "{words:?}, {free} KiB: {told}");
                break;
            }
            failed += 1;
            let told = told.to_lowercase();
            let says = told.contains("no space left") || told.contains("disk is full");
            assert!(
                says && told.contains("hint: "),
                "{words:?}, {free} KiB: {told}"
            );
        }
        assert!(failed > 0, "{words:?}");
        let (status, told, now) = on_disk(&host, saved.path(), words, READ_ONLY);
        let told = told.to_lowercase();
        let says = told.contains("read-only file system") && told.contains("hint: ");
        assert!(says && !is_done(status) && now == old, "{words:?}: {told}");
    }
}
