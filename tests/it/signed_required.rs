//! Where signatures are required, a skill without one is not offered, whatever put it there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;
use crate::layers::{self, LAYERS, agree, is_offered, layer_dir, put};
use crate::policy::under;
use crate::repository::Hub;
use crate::signatures::{author, ssh_key};

const POLICY: &str =
    "[signing]\nrequire = \"listed\"\nsigners = \"signers\"\nrevoked = \"revoked\"\n";

/// A host on which the policy lists one signer, `key`; `None` if the machine cannot make keys.
pub fn listing(options: &str) -> Option<Host> {
    let host = under(Host::stdin(), POLICY);
    ssh_key(host.home(), "key")?;
    list(&host, options);
    fs::write(host.home().join("enterprise/revoked"), "").unwrap();
    Some(host)
}

pub fn list(host: &Host, options: &str) {
    let key = fs::read_to_string(host.home().join("key.pub")).unwrap();
    let line = format!("alice@example.com {options}{key}");
    fs::write(host.home().join("enterprise/signers"), line).unwrap();
}

pub fn sign(host: &Host, dir: &Path) {
    let key = host.home().join("key");
    let words = ["package", "--in-place", "--sign", key.to_str().unwrap()];
    host.succeeds(&[&words[..], &[dir.to_str().unwrap()]].concat());
}

/// Why a skill is not offered.
fn why(host: &Host, name: &str) -> String {
    let skills = crate::layers::installed(host);
    let skill = skills.iter().find(|skill| skill["name"] == name).unwrap();
    assert_eq!(skill["not_offered"], "hidden-unsigned", "{skill}");
    let mut found = skill["diagnostics"].as_array().unwrap().iter();
    let found = found.find(|found| found["code"] == "hidden-unsigned");
    found.unwrap()["message"].as_str().unwrap().to_owned()
}

#[test]
fn an_unsigned_skill_of_any_layer_is_not_offered() {
    for layer in LAYERS {
        let Some(host) = listing("") else { return };
        let dir = layer_dir(&host, layer).join("pdf");
        put(&layer_dir(&host, layer), "pdf", "", layer);
        agree(&host, layer);
        assert!(!is_offered(&host, "pdf"), "{layer}");
        host.knows_not("pdf");
        let policy = host.home().join("enterprise/policy.toml");
        let why_not = "` requires a listed signer, and it is unsigned";
        let expected = format!("`{}{why_not}", policy.display());
        assert_eq!(why(&host, "pdf"), expected, "{layer}");
        sign(&host, &dir);
        agree(&host, layer);
        assert!(is_offered(&host, "pdf"), "{layer}");
        host.activates("pdf");
        fs::write(dir.join("from.txt"), "other").unwrap();
        agree(&host, layer);
        assert!(!is_offered(&host, "pdf"), "{layer}");
        why(&host, "pdf").has("is invalid: `from.txt` is not the file that was signed");
    }
}

#[test]
fn a_link_is_signed_where_it_leads_and_none_inside_is() {
    let Some(host) = listing("") else { return };
    let copies = host.home().join("work");
    put(&copies, "pdf", "", "x");
    symlink(copies.join("pdf"), host.skills_dir().join("pdf")).unwrap();
    assert!(!is_offered(&host, "pdf"));
    sign(&host, &copies.join("pdf"));
    assert!(is_offered(&host, "pdf"));
    // A link in it leads to what anybody may change.
    let file = copies.join("pdf/from.txt");
    fs::remove_file(&file).unwrap();
    fs::write(copies.join("from.txt"), "y").unwrap();
    symlink(copies.join("from.txt"), &file).unwrap();
    assert!(!is_offered(&host, "pdf"));
    why(&host, "pdf").has("it has a link");
}

#[test]
fn every_change_of_what_counts_is_seen_by_the_next_call() {
    let Some(host) = listing("") else { return };
    put(&host.skills_dir(), "pdf", "", "x");
    sign(&host, &host.skills_dir().join("pdf"));
    assert!(is_offered(&host, "pdf"));
    let revoked = host.home().join("enterprise/revoked");
    fs::copy(host.home().join("key.pub"), &revoked).unwrap();
    assert!(!is_offered(&host, "pdf"));
    why(&host, "pdf").has("was revoked");
    fs::write(&revoked, "").unwrap();
    assert!(is_offered(&host, "pdf"));
    list(&host, "valid-before=\"20200101\" ");
    assert!(!is_offered(&host, "pdf"));
    why(&host, "pdf").has("not for this purpose and time");
    list(&host, "namespaces=\"git\" ");
    assert!(!is_offered(&host, "pdf"));
    list(&host, "");
    assert!(is_offered(&host, "pdf"));
    let policy = host.home().join("enterprise/policy.toml");
    let more = "[signing.sources.\"*\"]\nprincipals = [\"bob@example.com\"]\n";
    fs::write(&policy, format!("{POLICY}{more}")).unwrap();
    // It is not known from where it is.
    assert!(is_offered(&host, "pdf"));
    fs::remove_file(host.home().join("enterprise/signers")).unwrap();
    assert!(!is_offered(&host, "pdf"));
    why(&host, "pdf").has("signers");
}

#[test]
fn a_verdict_is_kept_and_nothing_else_stands_in_for_it() {
    let Some(host) = listing("") else { return };
    put(&host.skills_dir(), "pdf", "", "x");
    sign(&host, &host.skills_dir().join("pdf"));
    assert!(is_offered(&host, "pdf"));
    // Without a program to ask, what was found before counts.
    let bare = host.var("PATH", "/nowhere");
    assert!(is_offered(&bare, "pdf"));
    let digests = ["digests", "state/digests"].map(|at| bare.plugin_dir().join(at));
    let mut digests = digests.iter().filter_map(|dir| fs::read_dir(dir).ok());
    let file = &digests.next().unwrap().next().unwrap().unwrap().path();
    let kept = fs::read(file).unwrap();
    for damaged in [&kept[..kept.len() - 1], b"", b"x"] {
        fs::write(file, damaged).unwrap();
        assert!(!is_offered(&bare, "pdf"));
        why(&bare, "pdf").has("ssh-keygen, which checks it, is not installed");
    }
    // What others could have written is not believed.
    fs::write(file, &kept).unwrap();
    assert!(is_offered(&bare, "pdf"));
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    assert!(!is_offered(&bare, "pdf"));
}

#[test]
fn a_program_that_is_missing_withholds_only_what_needs_it() {
    let Some(host) = listing("") else { return };
    for name in ["pdf", "csv"] {
        put(&host.skills_dir(), name, "", "x");
        sign(&host, &host.skills_dir().join(name));
    }
    put(&host.skills_dir(), "other", "", "x");
    let exempt = "[signing]\nsigners = \"signers\"\nrequire = \"none\"\n\
                  [signing.sources.\"https://acme.example/*\"]\nrequire = \"listed\"\n";
    let entry = json!({"version": 1, "skills": [{
        "id": "x", "name": "csv", "source": "https://acme.example/x", "kind": "git",
        "requested": "x", "ref": null, "commit": null, "path": "", "tree": null, "sha256": "",
        "files": {}, "license": null,
    }]});
    let lock = host.plugin_dir().join("skills.lock.json");
    fs::write(lock, entry.to_string()).unwrap();
    layers::policy(&host, exempt);
    let host = host.var("PATH", "/nowhere");
    assert!(is_offered(&host, "pdf") && is_offered(&host, "other"));
    assert!(!is_offered(&host, "csv"));
    why(&host, "csv").has("ssh-keygen, which checks it, is not installed");
    // Where it is from decides, so a lockfile that cannot be read closes.
    fs::write(host.plugin_dir().join("skills.lock.json"), "{").unwrap();
    assert!(!is_offered(&host, "other"));
    why(&host, "other").has("its source is not known");
}

/// The same with `pdf` and `csv` of `acme/skills`, in a commit that `key` has signed.
pub fn installed() -> Option<(Host, Hub)> {
    let (host, hub) = (listing("")?, Hub::new());
    let dir = hub.skills(&["pdf", "csv"]);
    let words = ["commit", "-q", "--amend", "-S", "-m", "signed"];
    author(&dir, &host.home().join("key"), &words);
    let host = host.var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
    host.succeeds(&["install", "acme/skills", "--all", "--yes"]);
    Some((host, hub))
}

pub fn entry(host: &Host, name: &str, change: impl Fn(&mut Value)) {
    let path = host.plugin_dir().join("skills.lock.json");
    let mut lock: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let skills = lock["skills"].as_array_mut().unwrap();
    change(skills.iter_mut().find(|one| one["name"] == name).unwrap());
    fs::write(&path, lock.to_string()).unwrap();
}

#[test]
fn an_installed_skill_is_offered_by_what_its_lockfile_pins() {
    let Some((host, _hub)) = installed() else {
        return;
    };
    assert!(is_offered(&host, "pdf") && is_offered(&host, "csv"));
    let path = host.plugin_dir().join("skills.lock.json");
    let lock = fs::read(&path).unwrap();
    let other = "SHA256:VrFe3QXFOyta6G6cLpczwNEoT4w2Q4Jsv2tvcu+AKDI";
    let unlisted = json!({
        "principal": "alice@example.com", "kind": "ssh", "key": other, "signed": "commit",
    });
    for (field, value, expected) in [
        ("/sha256", json!("0"), "are not those that were signed"),
        ("/signer/key", json!(other), "is not one"),
        ("/signer", Value::Null, "it is unsigned"),
        ("/signer", unlisted, "is not one"),
    ] {
        entry(&host, "pdf", |pdf| {
            *pdf.pointer_mut(field).unwrap() = value.clone();
        });
        assert!(
            !is_offered(&host, "pdf") && is_offered(&host, "csv"),
            "{expected}"
        );
        why(&host, "pdf").has(expected);
        fs::write(&path, &lock).unwrap();
        assert!(is_offered(&host, "pdf"));
    }
    // The name is that for which the key is listed.
    entry(&host, "pdf", |pdf| {
        pdf["signer"]["principal"] = json!("eve@example.com");
    });
    assert!(is_offered(&host, "pdf"));
    fs::write(&path, &lock).unwrap();
    let file = host.skills_dir().join("pdf/SKILL.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}More.\n")).unwrap();
    assert!(!is_offered(&host, "pdf"));
    host.knows_not("pdf");
    fs::write(&file, text).unwrap();
    assert!(is_offered(&host, "pdf"));
    fs::write(host.skills_dir().join("csv/more"), "x").unwrap();
    assert!(!is_offered(&host, "csv"));
}

#[test]
fn a_projects_lockfile_proves_no_signer() {
    let Some((host, _hub)) = installed() else {
        return;
    };
    // All that the user's own lockfile says of a signed skill, brought by a repository.
    let chibi = host.project().join(".chibi");
    fs::create_dir_all(chibi.join("skills")).unwrap();
    fs::rename(host.skills_dir().join("pdf"), chibi.join("skills/pdf")).unwrap();
    let lock = host.plugin_dir().join("skills.lock.json");
    fs::rename(lock, chibi.join("skills.lock.json")).unwrap();
    fs::remove_dir_all(host.skills_dir().join("csv")).unwrap();
    host.succeeds(&["trust", "--yes", "--always"]);
    assert!(!is_offered(&host, "pdf"));
    why(&host, "pdf").has("requires a listed signer, and it is unsigned");
    host.knows_not("pdf");
    sign(&host, &chibi.join("skills/pdf"));
    host.succeeds(&["trust", "--yes", "--always"]);
    assert!(is_offered(&host, "pdf"));
}

#[test]
fn what_its_user_installed_into_a_project_stays_signed() {
    let Some((host, _hub)) = installed() else {
        return;
    };
    host.succeeds(&["remove", "pdf", "csv", "--yes"]);
    host.succeeds(&["install", "acme/skills@pdf", "--project", "--yes"]);
    host.succeeds(&["trust", "--yes", "--always"]);
    assert!(is_offered(&host, "pdf"));
    host.succeeds(&["verify", "--project"]);
    // Only the user's own record says so.
    let known = host.plugin_dir().join("known-signers.json");
    let record = fs::read(&known).unwrap();
    fs::remove_file(&known).unwrap();
    assert!(!is_offered(&host, "pdf"));
    layers::policy(&host, "[signing]\nsigners = \"signers\"\n");
    host.succeeds(&["verify", "--project"]);
    layers::policy(&host, POLICY);
    fs::write(&known, record).unwrap();
    assert!(is_offered(&host, "pdf"));
    let file = host.project().join(".chibi/skills/pdf/SKILL.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text + "More.\n").unwrap();
    host.succeeds(&["trust", "--yes", "--always"]);
    assert!(!is_offered(&host, "pdf"));
    let revoked = host.home().join("enterprise/revoked");
    fs::copy(host.home().join("key.pub"), revoked).unwrap();
    assert!(!is_offered(&host, "pdf"));
}

#[test]
fn a_project_cannot_exempt_itself_by_its_lockfile() {
    let Some(host) = listing("") else { return };
    let exempt = "[signing.sources.\"github.com/acme/*\"]\nrequire = \"none\"\n";
    let policy = format!("{POLICY}{exempt}");
    layers::policy(&host, policy);
    for layer in ["project", "plugin"] {
        put(&layer_dir(&host, layer), "pdf", "", layer);
        let lockfile = layer_dir(&host, layer).with_file_name("skills.lock.json");
        let said = crate::policy::lockfile("https://github.com/acme/skills");
        fs::write(lockfile, said.replace("evil", "pdf")).unwrap();
        host.succeeds(&["trust", "--yes", "--always"]);
        // The user's own lockfile is believed.
        assert_eq!(is_offered(&host, "pdf"), layer == "plugin", "{layer}");
    }
}
