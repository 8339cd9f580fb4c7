//! `publish`, and `sync` with a collection, against the stand-in registry.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::Host;
use crate::host::Has;
use crate::market::skill;
use crate::registry_stub::Registry;
use crate::syncing::layer;

/// A machine whose commands need no terminal, with two skills of its author.
pub fn author() -> (Host, PathBuf) {
    let host = Host::stdin();
    host.succeeds(&["config", "set", "unattended", "true"]);
    let dir = host.home().join("work");
    for name in ["csv", "pdf"] {
        fs::create_dir_all(dir.join(name).join("scripts")).unwrap();
        fs::write(dir.join(name).join("SKILL.md"), skill(name)).unwrap();
        fs::write(dir.join(name).join("scripts/x.sh"), "#!/bin/sh\necho x\n").unwrap();
    }
    (host, dir)
}

/// A script runs it; what it says.
#[track_caller]
pub fn runs(host: &Host, words: &[&str], status: i32) -> String {
    let ran = host.unattended(words);
    assert_eq!(ran.status, status, "{words:?}: {ran:?}");
    ran.stdout + &ran.stderr
}

#[test]
fn what_is_published_is_installed_and_updated() {
    let registry = Registry::new();
    let (host, dir) = author();
    let pdf = dir.join("pdf");
    let (pdf, to) = (pdf.to_str().unwrap(), registry.reference("acme/pdf:1"));
    let would = runs(&host, &["publish", pdf, &to, "--dry-run"], 0);
    would.has("would publish `pdf` to oci://");
    let wrote = |seen: &[String]| {
        seen.iter()
            .filter(|one| !one.starts_with(['H', 'G']))
            .count()
    };
    assert_eq!(wrote(&registry.take_seen()), 0);
    let told = runs(&host, &["publish", pdf, &to, "--yes"], 0);
    told.has("published `pdf` to oci://");
    let digest = told
        .lines()
        .find(|line| line.starts_with("  sha256:"))
        .unwrap()
        .trim();
    would.has(digest);
    runs(&host, &["publish", pdf, &to, "--yes"], 0).has(" is `pdf` already");
    runs(&host, &["install", &to, "--yes"], 0);
    let text = fs::read_to_string(host.skills_dir().join("pdf/SKILL.md")).unwrap();
    assert_eq!(text, skill("pdf"));
    fs::write(dir.join("pdf/new"), "new").unwrap();
    runs(&host, &["publish", pdf, &to, "--yes"], 0).has(&format!("the tag moved from {digest}"));
    runs(&host, &["update", "--yes"], 0);
    assert!(host.skills_dir().join("pdf/new").exists());
    runs(&host, &["rollback", "pdf"], 0);
    assert!(!host.skills_dir().join("pdf/new").exists());
    // The form of the manifest.
    let blobs = registry.behaviour.blobs.lock().unwrap();
    let manifest: Value = serde_json::from_slice(&blobs[digest]).unwrap();
    assert_eq!(
        manifest["artifactType"],
        "application/vnd.agentskills.skill.v1"
    );
    assert_eq!(manifest["annotations"]["io.agentskills.skill.name"], "pdf");
    let config: Value =
        serde_json::from_slice(&blobs[manifest["config"]["digest"].as_str().unwrap()]).unwrap();
    assert_eq!(
        (&config["name"], &config["schemaVersion"]),
        (&"pdf".into(), &"1".into())
    );
}

#[test]
fn a_signature_goes_along_with_and_without_referrers() {
    let Some(keys) = crate::signatures::keys() else {
        return;
    };
    for has_referrers in [true, false] {
        let registry = Registry::new();
        registry
            .behaviour
            .has_referrers
            .store(has_referrers, Ordering::SeqCst);
        let (host, dir) = author();
        let (dir, to) = (dir.to_str().unwrap(), registry.reference("acme/all"));
        let key = keys.private("alice");
        let words = [
            "publish",
            dir,
            &to,
            "--collection",
            "all",
            "--yes",
            "--sign",
        ];
        runs(&host, &[&words[..], &[key.to_str().unwrap()]].concat(), 0);
        runs(&host, &["install", &to, "--all", "--yes"], 0);
        let info = host.succeeds(&["info", "csv"]);
        assert!(info.contains(&keys.fingerprint("alice")), "{info}");
    }
}

#[test]
fn what_cannot_be_published_is_told() {
    let registry = Registry::new();
    let (host, dir) = author();
    let (all, to) = (dir.to_str().unwrap(), registry.reference("acme/all"));
    runs(&host, &["publish", all, &to, "--yes"], 1).has("`--collection NAME`");
    runs(&host, &["publish", all, &to, "--collection", "x"], 1).has("accept");
    fs::write(dir.join("pdf/SKILL.md"), "no frontmatter").unwrap();
    let pdf = dir.join("pdf");
    runs(&host, &["publish", pdf.to_str().unwrap(), &to, "--yes"], 1).has("agent-skills validate ");
    registry.instead("/v2/acme/csv/manifests/latest", 404, &[], b"{}");
    registry.instead("/v2/acme/csv/blobs/uploads/", 403, &[], b"{}");
    let csv = dir.join("csv");
    let to = registry.reference("acme/csv");
    runs(&host, &["publish", csv.to_str().unwrap(), &to, "--yes"], 1)
        .has("log in with `docker login");
    let digest = format!("{to}@sha256:{}", "0".repeat(64));
    runs(
        &host,
        &["publish", csv.to_str().unwrap(), &digest, "--yes"],
        2,
    );
    assert!(registry.behaviour.tags.lock().unwrap().is_empty());
}

#[test]
fn a_layer_becomes_what_a_collection_lists() {
    let registry = Registry::new();
    let (host, dir) = author();
    let (all, to) = (dir.to_str().unwrap(), registry.reference("acme/all"));
    let publish = || {
        runs(
            &host,
            &["publish", all, &to, "--collection", "all", "--yes"],
            0,
        )
    };
    publish();
    let machine = Host::stdin();
    machine.succeeds(&["config", "set", "unattended", "true"]);
    let sync = ["sync", "--yes", "--prune", &to];
    runs(&machine, &sync, 3).has("installed `csv` from oci://");
    let first = layer(&machine);
    // One request says that nothing has changed.
    registry.take_seen();
    for words in [&sync[..], &["sync", "--dry-run", &to]] {
        runs(&machine, words, 0);
        assert_eq!(registry.take_seen(), ["HEAD /v2/acme/all/manifests/latest"]);
    }
    assert_eq!(layer(&machine), first);
    fs::write(dir.join("pdf/new"), "new").unwrap();
    fs::rename(dir.join("csv"), dir.join("tsv")).unwrap();
    fs::write(dir.join("tsv/SKILL.md"), skill("tsv")).unwrap();
    publish();
    let told = runs(&machine, &sync, 3);
    for line in ["replaced `pdf` at ", "installed `tsv` ", "removed `csv`"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let skills = machine.home().join(".chibi/skills");
    assert!(skills.join("pdf/new").exists() && !skills.join("csv").exists());
    // One that cannot be had keeps everything as it is.
    let second = layer(&machine);
    fs::write(dir.join("pdf/newer"), "newer").unwrap();
    publish();
    let broken: Vec<String> = {
        let mut blobs = registry.behaviour.blobs.lock().unwrap();
        let is_layer = |(_, bytes): &(&String, &Vec<u8>)| bytes.starts_with(&[0x1f, 0x8b]);
        let layers: Vec<String> = blobs
            .iter()
            .filter(is_layer)
            .map(|(key, _)| key.clone())
            .collect();
        for key in &layers {
            blobs.insert(key.clone(), b"other".to_vec());
        }
        layers
    };
    assert!(!broken.is_empty());
    runs(&machine, &sync, 1);
    assert_eq!(layer(&machine), second);
    let skill = registry.reference("acme/pdf");
    runs(
        &host,
        &[
            "publish",
            dir.join("tsv").to_str().unwrap(),
            &skill,
            "--yes",
        ],
        0,
    );
    runs(&machine, &["sync", "--yes", &skill], 1).has("is one skill, and no collection");
}
