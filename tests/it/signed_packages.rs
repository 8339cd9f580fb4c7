//! Packages and directories that are signed with `package --sign`, and what an install says of them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Host;
use crate::author::{skill, write};
use crate::host::Has;

/// Makes an ssh key without a passphrase in `dir`; `None`, which is told, if the machine cannot.
pub fn ssh_key(dir: &Path, name: &str) -> Option<String> {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]);
    let made = command.arg(dir.join(name)).stdin(Stdio::null()).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: there is no ssh-keygen");
        return None;
    }
    let shown = Command::new("ssh-keygen")
        .arg("-lf")
        .arg(dir.join(name))
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    Some(shown.split(' ').nth(1).unwrap().to_owned())
}

fn pdf(host: &Host) -> std::path::PathBuf {
    let files = [
        (
            "pdf/SKILL.md",
            &*skill("pdf", "", "Read `references/a.md`."),
        ),
        ("pdf/references/a.md", "a\n"),
    ];
    write(host, &files)
}

fn signer(host: &Host) -> Value {
    let lock = host.lockfile();
    lock["skills"]
        .as_object()
        .map(|all| all["pdf"].clone())
        .or_else(|| lock["skills"].as_array().map(|all| all[0].clone()))
        .unwrap()["signer"]
        .clone()
}

#[test]
fn a_signed_package_is_the_same_bytes_and_names_its_signer() {
    let host = Host::stdin();
    let Some(key) = ssh_key(host.project(), "key") else {
        return;
    };
    pdf(&host);
    let names = ["pdf.zip", "pdf.zip.manifest", "pdf.zip.manifest.sig"];
    let read = || names.map(|name| fs::read(host.project().join(name)).ok());
    host.succeeds(&["package", "--sign", "key", "./pdf", "--dry-run"]);
    assert_eq!(read(), [None, None, None]);
    let told = host.succeeds(&["package", "--sign", "key", "./pdf"]);
    assert!(told.contains(&key), "{told}");
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
    let host = Host::stdin();
    let Some(key) = ssh_key(host.project(), "key") else {
        return;
    };
    let dir = pdf(&host);
    host.succeeds(&["package", "--sign", "key", "--in-place", "./pdf"]);
    assert!(!host.project().join("pdf.zip").exists());
    let valid = host.succeeds(&["validate", "pdf"]);
    assert!(valid.contains("0 errors, 0 warnings, 0 notes"), "{valid}");
    host.succeeds(&["package", "./pdf"]);
    for reference in ["./pdf", "./pdf.zip"] {
        host.succeeds(&["install", reference]);
        assert_eq!(signer(&host)["key"], key.as_str(), "{reference}");
        host.succeeds(&["remove", "pdf"]);
    }
    // Signing again is for changed files.
    fs::write(dir.join("references/a.md"), "b\n").unwrap();
    let ran = host.person(&["validate", "pdf"]);
    assert_eq!(ran.status, 1);
    let why =
        "the manifest is not of these files: `references/a.md` is not the file that was signed";
    assert!(ran.stdout.contains(why), "{ran:?}");
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
    let host = Host::stdin();
    if ssh_key(host.project(), "key").is_none() {
        return;
    }
    let dir = pdf(&host);
    let entries = || {
        let names = fs::read_dir(host.project()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = entries();
    let told = host.fails(&["package", "--sign", "none", "./pdf"]);
    assert!(told.contains("ssh-keygen has not signed"), "{told}");
    // A text is no key.
    host.fails(&["package", "--sign", "pdf/SKILL.md", "--in-place", "./pdf"]);
    assert_eq!(
        (entries(), fs::read_dir(&dir).unwrap().count()),
        (before, 2)
    );
    // Nor is a part of the result written if another cannot be.
    fs::create_dir(host.project().join("pdf.zip.manifest")).unwrap();
    let before = entries();
    host.fails(&["package", "--sign", "key", "./pdf"]);
    assert_eq!(entries(), before);
    // In one directory some systems would have one of the two.
    fs::write(dir.join("references/A.md"), "x").unwrap();
    let told = host.fails(&["package", "--sign", "key", "--in-place", "./pdf"]);
    assert!(told.contains("are one file on some systems"), "{told}");
    // Without a person, nobody vouches.
    let ran = host.unattended(&["package", "--sign", "key", "./pdf"]);
    assert!(ran.stderr.contains("only a person"), "{ran:?}");
}

#[test]
fn a_key_that_only_the_agent_has_signs() {
    let host = Host::stdin();
    let Some(key) = ssh_key(host.project(), "key") else {
        return;
    };
    pdf(&host);
    let script = "eval $(ssh-agent -s) >/dev/null && ssh-add -q key && rm key && \
                  \"$0\" package --sign key.pub ./pdf; kill $SSH_AGENT_PID";
    let mut shell = host.surround(Command::new("sh"));
    let program = host.command().get_program().to_owned();
    let (_ours, theirs) = crate::terminal::terminal(0);
    let ran = shell.args(["-c", script]).arg(program).stdin(theirs);
    let told = ran.output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    if host.project().join("key").exists() {
        println!("skipped: there is no agent");
        return;
    }
    assert!(told.contains(&key), "{told}");
    host.succeeds(&["install", "./pdf.zip"]);
    assert_eq!(signer(&host)["key"], key.as_str());
}
