//! Signed manifests: in a directory, in and beside an archive, on a site.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Keys, entry, keys};
use crate::Host;
use crate::archives::zip;
use crate::host::write_at;
use crate::market_sources::skill;
use crate::server::Server;

/// The manifest of these files, as it is signed.
fn manifest(name: &str, files: &[(&str, &str)]) -> String {
    let digest = |text: &str| format!("{:x}", Sha256::digest(text));
    let files: BTreeMap<&str, String> = files
        .iter()
        .map(|(path, text)| match path.strip_suffix('*') {
            Some(path) => (path, digest(text) + "+x"),
            None => (*path, digest(text)),
        })
        .collect();
    let files: Vec<String> = files
        .iter()
        .map(|(path, digest)| format!("    {}: \"{digest}\"", json!(path)))
        .collect();
    let files = files.join(",\n");
    format!("{{\n  \"manifest\": 1,\n  \"name\": \"{name}\",\n  \"files\": {{\n{files}\n  }}\n}}\n")
}

struct World {
    keys: &'static Keys,
    host: Host,
    dir: tempfile::TempDir,
}

fn world() -> Option<World> {
    let keys = keys()?;
    let host = Host::stdin();
    let line = keys.line("alice@x", "namespaces=\"agent-skill\"", "alice");
    let bob = keys.line("bob@x", "namespaces=\"git\"", "bob");
    write_at(host.plugin_dir().join("signers"), line + &bob);
    let config = "unattended = true\n[signing]\nrequire = \"listed\"\n";
    host.config(config);
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    Some(World { keys, host, dir })
}

impl World {
    /// Writes an archive with these files, and beside it what is given.
    fn archive(&self, files: &[(&str, &str)], beside: Option<(&str, &str)>) -> PathBuf {
        let path = self.dir.path().join("pdf.zip");
        fs::write(&path, zip(files)).unwrap();
        for (end, text) in [
            (".manifest", beside.map(|beside| beside.0)),
            (".manifest.sig", beside.map(|beside| beside.1)),
        ] {
            let path = self.dir.path().join(format!("pdf.zip{end}"));
            match text {
                Some(text) => fs::write(path, text).unwrap(),
                None => drop(fs::remove_file(path)),
            }
        }
        path
    }

    #[track_caller]
    fn says(&self, path: &str, why: &str) {
        let told = self.host.fails(&["install", path]);
        assert!(told.contains(why), "{why}: {told}");
        assert_eq!(entry(&self.host, "pdf"), Value::Null);
        assert!(!self.host.skills_dir().join("pdf").exists());
    }
}

#[test]
fn a_manifest_counts_for_exactly_its_files_name_and_purpose() {
    let Some(world) = world() else { return };
    let text = skill("pdf");
    let files = [("SKILL.md", &*text), ("run.sh*", "#!/bin/sh\n")];
    let good = manifest("pdf", &files);
    let other = manifest("other", &files);
    let sign = |name: &str, purpose: &str, text: &str| world.keys.sign(name, purpose, text);
    let by_alice = sign("alice", "agent-skill", &good);
    let path = world.archive(&files, Some((&good, &by_alice)));
    let path = path.to_str().unwrap();
    world.host.succeeds(&["install", path]);
    let installed = entry(&world.host, "pdf");
    assert_eq!(installed["signer"]["principal"], "alice@x");
    assert_eq!(installed["signer"]["signed"], "manifest");
    world.host.succeeds(&["remove", "pdf"]);

    let more = [&files[..], &[("x.md", "x")]].concat();
    let folded = [&files[..], &[("Run.sh*", "#!/bin/sh\n")]].concat();
    let plain = [files[0], ("run.sh", "#!/bin/sh\n")];
    let changed = [files[0], ("run.sh*", "#!/bin/sh\nevil\n")];
    let program = [&files[..], &[("skill.manifest.sig*", "#!/bin/sh\n")]].concat();
    for (there, files, why) in [
        (
            "a program by a signature's name",
            &program[..],
            "does not list `skill.manifest.sig`",
        ),
        ("one more", &more[..], "does not list `x.md`"),
        ("one that folds", &folded, "does not list `Run.sh`"),
        ("one less", &files[..1], "`run.sh` is missing"),
        ("not executable", &plain, "`run.sh` is not the file"),
        ("other bytes", &changed, "`run.sh` is not the file"),
    ] {
        println!("{there}");
        world.archive(files, Some((&good, &by_alice)));
        world.says(path, why);
    }
    let unsorted = good.replace("  \"name\": \"pdf\",\n", "") + " ";
    for (text, signature, why) in [
        (
            &other,
            sign("alice", "agent-skill", &other),
            "for the skill `other`",
        ),
        (
            &good,
            sign("alice", "agent-skill", &other),
            "not of these files",
        ),
        (&good, sign("alice", "git", &good), "another purpose"),
        (&good, sign("alice", "file", &good), "another purpose"),
        (
            &good,
            sign("bob", "agent-skill", &good),
            "not for this purpose",
        ),
        (
            &good,
            sign("carol", "agent-skill", &good),
            "requires a listed signer",
        ),
        (&good, "nothing".to_owned(), "not one of ssh-keygen's"),
        (
            &unsorted,
            sign("alice", "agent-skill", &unsorted),
            "manifest",
        ),
    ] {
        world.archive(&files, Some((text, &signature)));
        world.says(path, why);
    }
    world.archive(&files, None);
    world.says(path, "unsigned");
}

#[test]
fn a_manifest_inside_counts_like_one_beside() {
    let Some(world) = world() else { return };
    let text = skill("pdf");
    let good = manifest("pdf", &[("SKILL.md", &text)]);
    let signature = world.keys.sign("alice", "agent-skill", &good);
    let inside = [
        ("SKILL.md", &*text),
        ("skill.manifest", &*good),
        ("skill.manifest.sig", &*signature),
    ];
    let dir = world.dir.path().join("pdf");
    fs::create_dir(&dir).unwrap();
    for (name, text) in inside {
        fs::write(dir.join(name), text).unwrap();
    }
    let archive = world.archive(&inside, None);
    for path in [&dir, &archive] {
        world.host.succeeds(&["install", path.to_str().unwrap()]);
        let installed = entry(&world.host, "pdf");
        assert_eq!(installed["signer"]["principal"], "alice@x");
        world.host.succeeds(&["remove", "pdf"]);
    }
    // An unsigned one inside does not take the place of the signed one beside it.
    let beside = manifest("pdf", &[("SKILL.md", &text)]);
    let by_alice = world.keys.sign("alice", "agent-skill", &beside);
    let archive = world.archive(&inside[..2], Some((&beside, &by_alice)));
    world.host.succeeds(&["install", archive.to_str().unwrap()]);
    let installed = entry(&world.host, "pdf");
    assert_eq!(installed["signer"]["principal"], "alice@x");
    world.host.succeeds(&["remove", "pdf"]);
    fs::write(dir.join("more.md"), "x").unwrap();
    world.says(dir.to_str().unwrap(), "does not list `more.md`");
}

#[test]
fn archives_and_sites_are_checked_over_http() {
    let Some(world) = world() else { return };
    let text = skill("pdf");
    let files = [("SKILL.md", &*text)];
    let good = manifest("pdf", &files);
    let signature = world.keys.sign("alice", "agent-skill", &good);
    let archive = fs::read(world.archive(&files, None)).unwrap();
    let server = Server::new(world.dir.path());
    let site = "docs/.well-known/agent-skills";
    let index = r#"{"skills": [{"name": "pdf", "description": "d",
        "files": ["SKILL.md", "skill.manifest", "skill.manifest.sig"]}]}"#;
    server
        .file("pdf.zip", archive)
        .file("pdf.zip.manifest", &good)
        .file("pdf.zip.manifest.sig", &signature)
        .file(&format!("{site}/index.json"), index)
        .file(&format!("{site}/pdf/SKILL.md"), &text)
        .file(&format!("{site}/pdf/skill.manifest"), &good)
        .file(&format!("{site}/pdf/skill.manifest.sig"), &signature);
    for url in [server.url("pdf.zip"), server.url("docs")] {
        world.host.succeeds(&["install", &url]);
        let installed = entry(&world.host, "pdf");
        assert_eq!(installed["signer"]["principal"], "alice@x", "{url}");
        world.host.succeeds(&["remove", "pdf"]);
    }
    let evil = text + "evil";
    server
        .file("pdf.zip", zip(&[("SKILL.md", &evil)]))
        .file(&format!("{site}/pdf/SKILL.md"), &evil);
    for url in [server.url("pdf.zip"), server.url("docs")] {
        world.says(&url, "is not the file that was signed");
    }
}
