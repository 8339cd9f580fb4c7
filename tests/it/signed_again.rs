//! Signatures of installed skills are looked at again: `verify`, `doctor` and `info`, without the
//! network. What a model may not decide about them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, each};
use crate::layers;
use crate::repository::{Hub, commit};
use crate::signatures::{author, ssh_key};
use crate::signed_required::{list, listing};

const SIGNERS: &str = "[signing]\nsigners = \"signers\"\nrevoked = \"revoked\"\n";

/// A host on which nothing is required, with a signed `pdf` and `csv` of `acme/skills`.
fn installed() -> Option<(Host, Hub)> {
    let (host, hub) = crate::signed_required::installed()?;
    layers::policy(&host, SIGNERS);
    // From here on nothing is asked of the source.
    fs::rename(hub.dir().join("acme"), hub.dir().join("gone")).unwrap();
    Some((host, hub))
}

/// The message of each skill whose signature does not hold.
fn faults(host: &Host) -> Vec<(String, String)> {
    let answer = host.json(&["verify", "--json"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let faults = answer["signatures"].as_array().unwrap().iter();
    faults
        .map(|fault| (text(&fault["name"]), text(&fault["message"])))
        .collect()
}

fn lapses(host: &Host, why: &str) {
    let found = faults(host);
    let is_told = |text: &str| text.contains(why);
    assert!(found.iter().any(|(_, text)| is_told(text)), "{found:?}");
    host.person(&["verify"]).ends(1).stdout.has(why);
    let doctor = host.json(&["doctor", "--json"]);
    let mut told = each(&doctor["checks"], "message").into_iter();
    assert!(told.any(is_told), "{doctor}");
}

#[test]
fn a_signature_that_holds_no_longer_is_named() {
    let Some((host, _hub)) = installed() else {
        return;
    };
    assert_eq!(faults(&host), []);
    host.succeeds(&["verify"]).has("2 skills are intact");
    host.succeeds(&["info", "pdf"])
        .has("signed by alice@example.com (ssh SHA256:")
        .has("known since 2");
    let info = host.json(&["info", "pdf", "--json"]);
    let signature = &info["signature"];
    assert_eq!(signature["state"], "good", "{signature}");
    assert_eq!(signature["principal"], "alice@example.com", "{signature}");
    assert!(signature["since"].is_u64() && signature["unmet"].is_null());

    let revoked = host.home().join("enterprise/revoked");
    fs::copy(host.home().join("key.pub"), &revoked).unwrap();
    lapses(&host, "was revoked");
    host.succeeds(&["info", "pdf"]).has("was revoked");
    fs::write(&revoked, "").unwrap();
    fs::write(host.home().join("enterprise/signers"), "").unwrap();
    lapses(&host, "no file of signers lists that key");
    list(&host, "");
    assert_eq!(faults(&host), []);
    let file = host.skills_dir().join("pdf/SKILL.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}More.\n")).unwrap();
    lapses(&host, "its files are not those that were signed");
    fs::write(&file, text).unwrap();
    let bare = host.var("PATH", "/nowhere");
    // What is pinned needs no program.
    bare.succeeds(&["verify"]).has("2 skills are intact");
}

#[test]
fn what_is_not_signed_as_required_is_said_by_verify() {
    let Some(host) = listing("") else { return };
    let host = host.skill("pdf", "", "x");
    let found = faults(&host);
    assert_eq!(found.len(), 1);
    found[0].1.has("and it is unsigned");
    assert_eq!(host.person(&["verify"]).status, 1);
    host.succeeds(&["info", "pdf"]).has("unsigned; `/");
    let doctor = host.person(&["doctor", "--json"]).stdout;
    doctor.has("\"skill-unsigned\"");
    layers::policy(&host, SIGNERS);
    assert_eq!(faults(&host), []);
    host.succeeds(&["info", "pdf"]).has("unsigned\n");
}

/// Commits a change to `pdf`, signed with a key or not at all.
fn change(dir: &Path, key: Option<&Path>) {
    let file = dir.join("skills/pdf/SKILL.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text + "More.\n").unwrap();
    let words = ["commit", "-q", "-a", "-S", "-m", "more"];
    match key {
        Some(key) => drop(author(dir, key, &words)),
        None => commit(dir),
    }
}

#[test]
fn a_model_neither_installs_unsigned_nor_accepts_a_signer() {
    let Some((host, hub)) = installed() else {
        return;
    };
    fs::rename(hub.dir().join("gone"), hub.dir().join("acme")).unwrap();
    let dir = hub.dir().join("acme/skills");
    assert!(ssh_key(host.home(), "other").is_some());
    host.config("model_installs = \"any\"\n");
    change(&dir, Some(&host.home().join("other")));
    let before = fs::read(host.plugin_dir().join("skills.lock.json")).unwrap();
    let update = json!({"args": ["update", "pdf"]});
    host.tool("skill_marketplace", &update)
        .has("was signed by alice@example.com");
    let accepting = json!({"args": ["update", "pdf", "--accept-signer"]});
    host.blocks("skill_marketplace", &accepting)
        .has("not allowed without the user");
    host.tool("skill_marketplace", &accepting).begins("Error: ");
    let answer = host.json(&["update", "pdf", "--yes", "--json"]);
    assert_eq!(answer["results"][0]["code"], "signer-changed", "{answer}");
    change(&dir, None);
    let answer = host.json(&["update", "pdf", "--yes", "--json"]);
    assert_eq!(answer["results"][0]["code"], "signature-missing");
    let ran = host.unattended(&["update", "pdf", "--yes", "--accept-signer"]);
    assert_ne!(ran.status, 0, "{ran:?}");
    let after = fs::read(host.plugin_dir().join("skills.lock.json")).unwrap();
    assert_eq!(before, after);

    let required = SIGNERS.replacen('\n', "\nrequire = \"listed\"\n", 1);
    layers::policy(&host, required);
    host.succeeds(&["remove", "csv", "--yes"]);
    let install = json!({"action": "install", "skill_ref": "acme/csv"});
    let answer = host.tool("skill_marketplace", &install);
    let expected = "requires a listed signer, and it is unsigned";
    answer.begins("Error: ").has(expected);
    assert!(!host.skills_dir().join("csv").exists());
}
