//! Packages and directories that are signed with `package --sign`, and what an install says of them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::Host;
use crate::author::{skill, write};
use crate::host::{Has, by_a_person};
use crate::signatures::ssh_key;

/// Somebody with a key and the directory of a skill, and the key's fingerprint.
fn author() -> Option<(Host, PathBuf, String)> {
    let host = Host::stdin();
    let key = ssh_key(host.project(), "key")?;
    let text = skill("pdf", "", "Read `references/a.md`.");
    let files = [("pdf/SKILL.md", &*text), ("pdf/references/a.md", "a\n")];
    let dir = write(&host, &files);
    Some((host, dir, key))
}

fn signer(host: &Host) -> Value {
    host.lockfile()["skills"][0]["signer"].clone()
}

#[test]
fn a_signed_package_is_the_same_bytes_and_names_its_signer() {
    let Some((host, _, key)) = author() else {
        return;
    };
    let names = ["pdf.zip", "pdf.zip.manifest", "pdf.zip.manifest.sig"];
    let read = || names.map(|name| fs::read(host.project().join(name)).ok());
    host.succeeds(&["package", "--sign", "key", "./pdf", "--dry-run"]);
    assert_eq!(read(), [None, None, None]);
    host.succeeds(&["package", "--sign", "key", "./pdf"])
        .has(&key);
    let first = read();
    assert!(first.iter().all(Option::is_some));
    host.succeeds(&["package", "--sign", "key", "./pdf"]);
    assert_eq!(read(), first);
    host.succeeds(&["install", "./pdf.zip"]);
    assert_eq!(signer(&host)["key"], key.as_str());
    assert_eq!(signer(&host)["signed"], "manifest");
}

#[test]
fn a_directory_signed_in_place_stays_signed_in_its_package() {
    let Some((host, dir, key)) = author() else {
        return;
    };
    host.succeeds(&["package", "--sign", "key", "--in-place", "./pdf"]);
    assert!(!host.project().join("pdf.zip").exists());
    host.succeeds(&["validate", "pdf"])
        .has("0 errors, 0 warnings, 0 notes");
    host.succeeds(&["package", "./pdf"]);
    for reference in ["./pdf", "./pdf.zip"] {
        host.succeeds(&["install", reference]);
        assert_eq!(signer(&host)["key"], key.as_str(), "{reference}");
        host.succeeds(&["remove", "pdf"]);
    }
    // Signing again is for changed files.
    fs::write(dir.join("references/a.md"), "b\n").unwrap();
    let ran = host.person(&["validate", "pdf"]);
    let why = "the manifest is not of these files: `references/a.md` is not the file";
    ran.ends(1).stdout.has(why);
    host.fails(&["package", "./pdf", "-o", "new.zip"]);
    assert!(!host.project().join("new.zip").exists());
    host.fails(&["install", "./pdf"]);
    host.succeeds(&["package", "--sign", "key", "--in-place", "./pdf"]);
    host.succeeds(&["install", "./pdf"]);
    fs::remove_file(dir.join("skill.manifest.sig")).unwrap();
    host.succeeds(&["validate", "pdf"]).has("manifest-unsigned");
}

#[test]
fn what_cannot_be_signed_leaves_nothing() {
    let Some((host, dir, _)) = author() else {
        return;
    };
    let entries = || {
        let names = fs::read_dir(host.project()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = entries();
    host.fails(&["package", "--sign", "none", "./pdf"])
        .has("ssh-keygen has not signed");
    // A text is no key.
    host.fails(&["package", "--sign", "pdf/SKILL.md", "--in-place", "./pdf"]);
    let left = fs::read_dir(&dir).unwrap().count();
    assert_eq!((entries(), left), (before, 2));
    // Nor is a part of the result written if another cannot be.
    fs::create_dir(host.project().join("pdf.zip.manifest")).unwrap();
    let before = entries();
    host.fails(&["package", "--sign", "key", "./pdf"]);
    assert_eq!(entries(), before);
    // In one directory some systems would have one of the two.
    fs::write(dir.join("references/A.md"), "x").unwrap();
    host.fails(&["package", "--sign", "key", "--in-place", "./pdf"])
        .has("are one file on some systems");
    // Without a person, nobody vouches.
    let ran = host.unattended(&["package", "--sign", "key", "./pdf"]);
    ran.stderr.has("only a person");
}

#[test]
fn a_key_that_only_the_agent_has_signs() {
    let Some((host, _, key)) = author() else {
        return;
    };
    let script = "eval $(ssh-agent -s) >/dev/null && ssh-add -q key && rm key && \
                  \"$0\" package --sign key.pub ./pdf; kill $SSH_AGENT_PID";
    let mut shell = host.surround(Command::new("sh"));
    let program = host.command().get_program().to_owned();
    let ran = by_a_person(shell.args(["-c", script]).arg(program));
    if host.project().join("key").exists() {
        println!("skipped: there is no agent");
        return;
    }
    ran.stdout.has(&key);
    host.succeeds(&["install", "./pdf.zip"]);
    assert_eq!(signer(&host)["key"], key.as_str());
}
