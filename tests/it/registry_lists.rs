//! What a registry lists wrongly, too long or more than once, and what is not pushed to one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;
use crate::registry_pull::{MANIFEST, collection, versioned};
use crate::registry_push::{author, runs};
use crate::registry_stub::Registry;
use crate::syncing::layer;

const SIGNATURE: &str = "application/vnd.agentskills.signature.v1";

fn machine() -> Host {
    let host = Host::stdin();
    host.succeeds(&["config", "set", "unattended", "true"]);
    host
}

/// Publishes these skills as `all`.
fn list(registry: &Registry, names: &[&str]) -> String {
    let skills: Vec<_> = names
        .iter()
        .map(|name| (*name, versioned(registry, name, "one")))
        .collect();
    let members: Vec<_> = skills.iter().map(|(name, skill)| (*name, skill)).collect();
    registry.publish("all", "latest", &collection(registry, &members));
    registry.reference("all")
}

#[test]
fn a_list_with_an_unreadable_entry_changes_nothing() {
    let (registry, host) = (Registry::new(), machine());
    let all = list(&registry, &["csv", "pdf"]);
    runs(&host, &["sync", "--yes", &all], 3);
    let before = layer(&host);
    for names in [&["pdf", "c/sv"][..], &["pdf", ""], &[]] {
        list(&registry, names);
        let told = runs(&host, &["sync", "--yes", "--prune", &all], 1);
        let why = ["without a skill's name", "the list is empty"];
        assert!(told.contains(why[usize::from(names.is_empty())]), "{told}");
        assert_eq!(layer(&host), before);
    }
}

#[test]
fn one_good_signature_among_others_is_enough() {
    let Some(keys) = crate::signatures::keys() else {
        return;
    };
    let registry = Registry::new();
    let (host, dir) = author();
    let (pdf, to) = (dir.join("pdf"), registry.reference("acme/pdf"));
    let key = keys.private("alice");
    let words = ["publish", pdf.to_str().unwrap(), &to, "--yes", "--sign"];
    runs(&host, &[&words[..], &[key.to_str().unwrap()]].concat(), 0);
    let (tag, listed) = {
        let tags = registry.behaviour.tags.lock().unwrap();
        let found = tags.iter().find(|(tag, _)| tag.contains("/sha256-"));
        let (tag, listed) = found.unwrap();
        (tag.rsplit('/').next().unwrap().to_owned(), listed.clone())
    };
    let read = |digest: &str| -> Value {
        let blobs = registry.behaviour.blobs.lock().unwrap();
        serde_json::from_slice(&blobs[digest]).unwrap()
    };
    let mut index = read(&listed);
    // One that does not hold, and one that is not there.
    let mut bad = read(index["manifests"][0]["digest"].as_str().unwrap());
    let kind = bad["layers"][1]["mediaType"].as_str().unwrap().to_owned();
    bad["layers"][1] = registry.blob(&kind, b"-----BEGIN SSH SIGNATURE-----\n");
    let mut bad = registry.manifest(&bad);
    bad["artifactType"] = json!(SIGNATURE);
    let missing = json!({"mediaType": MANIFEST, "artifactType": SIGNATURE, "size": 3,
        "digest": format!("sha256:{}", "0".repeat(64))});
    index["manifests"]
        .as_array_mut()
        .unwrap()
        .extend([bad, missing]);
    registry.publish("acme/pdf", &tag, &index);
    runs(&host, &["install", &to, "--yes"], 0);
    let info = host.succeeds(&["info", "pdf"]);
    assert!(info.contains(&keys.fingerprint("alice")), "{info}");
}

#[test]
fn what_may_hold_secrets_is_not_pushed() {
    let registry = Registry::new();
    let (host, dir) = author();
    let (pdf, to) = (dir.join("pdf"), registry.reference("acme/pdf"));
    fs::create_dir(pdf.join(".ssh")).unwrap();
    for name in [".env", "prod.env", "id_rsa", ".npmrc", ".ssh/k"] {
        fs::write(pdf.join(name), "x").unwrap();
    }
    let words = ["publish", pdf.to_str().unwrap(), &to, "--yes"];
    runs(&host, &words, 1)
        .has(".env, .npmrc, .ssh/k, id_rsa, prod.env of `pdf` may contain secrets");
    assert!(registry.take_seen().is_empty());
    runs(&host, &[&words[..], &["--accept-findings"]].concat(), 0);
}

#[test]
fn a_push_needs_no_right_to_read_and_any_place_to_upload() {
    let registry = Registry::new();
    let (host, dir) = author();
    let (all, to) = (dir.to_str().unwrap(), registry.reference("acme/all"));
    let tag = "/v2/acme/all/manifests/latest";
    registry.instead(tag, 403, &[], b"{}");
    let uploads = "/v2/acme/all/blobs/uploads/";
    registry.instead(uploads, 202, &[("Location", "7?state=x%3D")], b"");
    for (path, method) in [(tag, "HEAD"), (uploads, "POST")] {
        let mut instead = registry.behaviour.instead.lock().unwrap();
        instead.get_mut(path).unwrap().method = method;
    }
    let publish = ["publish", all, &to, "--yes", "--collection"];
    for (more, why) in [
        (&[" "][..], "cannot be the name of a collection"),
        (&["a\u{202e}b"], "cannot be the name of a collection"),
        (&["all", "--", all], ""),
    ] {
        let told = runs(
            &host,
            &[&publish[..], more].concat(),
            if why.is_empty() { 2 } else { 1 },
        );
        told.has(why);
    }
    let twice = ["publish", all, all, &to, "--yes", "--collection", "all"];
    runs(&host, &twice, 1).has("would have `csv` twice");
    assert!(registry.take_seen().is_empty());
    runs(&host, &[&publish[..], &["all"]].concat(), 0);
}

#[test]
fn a_policy_that_came_later_refuses_the_list() {
    let (registry, host) = (Registry::new(), machine());
    let all = list(&registry, &["pdf"]);
    runs(&host, &["sync", "--yes", &all], 3);
    let lock = host.home().join(".chibi/skills.lock.json");
    let copy = host.home().join("list.json");
    fs::copy(lock, &copy).unwrap();
    let block = format!("[sources]\nblock = [\"{}\"]\n", registry.reference("all"));
    let host = host.policy(&block);
    registry.take_seen();
    let told = runs(&host, &["sync", "--yes", copy.to_str().unwrap()], 1);
    assert!(
        told.contains("policy") && registry.take_seen().is_empty(),
        "{told}"
    );
    // A policy that cannot be read is named, to a program as well.
    let host = host.policy("[");
    let ran = host.unattended(&["sync", "--yes", "--json", copy.to_str().unwrap()]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.status, &answer["result"]), (1, &json!("refused")));
    answer["error"].as_str().unwrap().has("policy.toml");
}

#[test]
fn a_link_in_the_place_of_a_skill_is_not_pruned() {
    let (registry, host) = (Registry::new(), machine());
    let all = list(&registry, &["csv", "pdf"]);
    runs(&host, &["sync", "--yes", &all], 3);
    let csv = host.home().join(".chibi/skills/csv");
    let mine = host.home().join("mine");
    fs::rename(&csv, &mine).unwrap();
    symlink(&mine, &csv).unwrap();
    list(&registry, &["pdf"]);
    for more in [&["--dry-run"][..], &[]] {
        runs(
            &host,
            &[&["sync", "--yes", "--prune", &all], more].concat(),
            3,
        )
        .lacks("`csv`");
        assert!(csv.is_symlink() && mine.join("SKILL.md").exists());
    }
}

#[test]
fn what_root_installs_for_all_everybody_can_read() {
    let (registry, host) = (Registry::new(), machine());
    let mut pdf = versioned(&registry, "pdf", "one");
    pdf["annotations"]["x"] = json!("y");
    registry.publish("all", "latest", &collection(&registry, &[("pdf", &pdf)]));
    let of_all = host.home().join("all");
    fs::create_dir(&of_all).unwrap();
    let host = host.var("AGENT_SKILLS_ENTERPRISE_DIR", of_all.to_str().unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", "umask 077; exec \"$@\"", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_agent-skills"));
    command.args(["sync", "--yes", "--layer", "enterprise"]);
    command.arg(registry.reference("all"));
    let ran = host.surround(command).output().unwrap();
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    for (path, mode) in [
        ("", 0o755),
        ("skills", 0o755),
        ("skills/pdf", 0o755),
        ("skills/pdf/a", 0o755),
        ("skills/pdf/SKILL.md", 0o644),
        ("skills.lock.json", 0o644),
    ] {
        let found = fs::metadata(of_all.join(path))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(found & 0o777, mode, "{path}");
    }
}
