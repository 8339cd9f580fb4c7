//! `keys`: who is listed, known and revoked, and how a person changes that.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::author::{skill, write};
use crate::host::Has;
use crate::signatures::ssh_key;

fn text(host: &Host, name: &str) -> String {
    fs::read_to_string(host.plugin_dir().join(name)).unwrap_or_default()
}

fn public(host: &Host, name: &str) -> String {
    let text = fs::read_to_string(host.project().join(name)).unwrap();
    let words: Vec<&str> = text.split(' ').take(2).collect();
    words.join(" ")
}

/// A host with a key and a package that it signed, and the key's fingerprint.
fn signed() -> Option<(Host, String)> {
    let host = Host::stdin();
    let key = ssh_key(host.project(), "key")?;
    write(&host, &[("pdf/SKILL.md", &skill("pdf", "", "Read it."))]);
    host.succeeds(&["package", "--sign", "key", "./pdf"]);
    Some((host, key))
}

#[test]
fn a_listed_key_gives_a_skill_its_signers_name() {
    let Some((host, key)) = signed() else { return };
    host.succeeds(&["keys"]).has("No signer is listed");
    host.succeeds(&["keys", "add", "alice@x", "key.pub", "--dry-run"])
        .has(&key);
    assert_eq!(text(&host, "signers"), "");
    // Somebody has to agree.
    let told = host.fails(&["keys", "add", "alice@x", "key.pub"]);
    told.has("cannot ask without a terminal").has(&key);
    let day = ["--valid-before", "2099-12-31"];
    let add = ["keys", "add", "alice@x", "key.pub", "--yes"];
    host.succeeds(&[&add[..], &day].concat());
    let options = "namespaces=\"git,agent-skill\",valid-before=\"20991231\"";
    let line = format!("alice@x {options} {}\n", public(&host, "key.pub"));
    assert_eq!(text(&host, "signers"), line);
    // Again, nothing changes.
    host.succeeds(&[&add[..], &day].concat());
    host.fails(&["keys", "add", "bob@x", "key.pub", "--yes"]);
    assert_eq!(text(&host, "signers"), line);
    host.succeeds(&["install", "./pdf.zip"]);
    let shown = host.json(&["keys", "--json"]);
    assert_eq!(shown["signers"][0]["key"], key.as_str());
    assert_eq!(shown["signers"][0]["principals"], json!(["alice@x"]));
    assert_eq!(shown["known"][0]["principal"], "alice@x");
    assert_eq!(shown["known"][0]["key"], key.as_str());
}

#[test]
fn the_key_of_an_installed_skill_can_be_listed() {
    let Some((host, key)) = signed() else { return };
    host.succeeds(&["install", "./pdf.zip"]);
    host.fails(&["keys", "add", "alice@x", "--from", "none", "--yes"]);
    host.succeeds(&["keys", "add", "alice@x", "--from", "pdf", "--yes"]);
    assert!(text(&host, "signers").contains(&public(&host, "key.pub")));
    // Of files that are no longer what it signed, nobody's key is taken.
    host.succeeds(&["keys", "remove", &key, "--yes"]);
    let host = host.file("pdf/SKILL.md", skill("pdf", "", "x"));
    host.fails(&["keys", "add", "alice@x", "--from", "pdf", "--yes"])
        .has("is invalid");
}

#[test]
fn what_is_removed_leaves_the_rest_as_written() {
    let host = Host::stdin();
    let (Some(one), Some(_)) = (
        ssh_key(host.project(), "one"),
        ssh_key(host.project(), "two"),
    ) else {
        return;
    };
    let [first, second] = ["one.pub", "two.pub"].map(|name| public(&host, name));
    let file = host.project().join("team");
    let written = format!("# the team\n\nalice,bob  {first} laptop\ncarol {second}\n");
    fs::write(&file, &written).unwrap();
    let file_of = ["--file", "team", "--yes"];
    let remove = |who: &str| host.person(&[&["keys", "remove", who][..], &file_of].concat());
    assert_eq!(remove("dave").status, 1);
    assert_eq!(remove("bob").status, 0);
    let now = || fs::read_to_string(&file).unwrap();
    assert_eq!(now(), written.replace("alice,bob", "alice"));
    assert_eq!(remove(&one).status, 0);
    assert_eq!(now(), format!("# the team\n\ncarol {second}\n"));
    // One mistake in it, and nothing is changed.
    fs::write(&file, "carol\n").unwrap();
    host.fails(&["keys", "add", "dave", "one.pub", "--file", "team", "--yes"])
        .has("line 1");
    assert_eq!(now(), "carol\n");
}

#[test]
fn what_a_revoked_key_signed_is_refused() {
    let Some((host, key)) = signed() else { return };
    host.succeeds(&["keys", "add", "alice@x", "key.pub", "--yes"]);
    host.succeeds(&["keys", "revoke", "key.pub", "--dry-run"]);
    host.succeeds(&["install", "./pdf.zip"]);
    host.succeeds(&["remove", "pdf"]);
    host.succeeds(&["keys", "revoke", &key, "--yes"]);
    assert!(text(&host, "revoked").starts_with(&format!("{key} ")));
    assert!(text(&host, "revoked").contains("of alice@x"));
    host.succeeds(&["keys", "revoke", "key.pub", "--yes"]);
    assert_eq!(text(&host, "revoked").lines().count(), 1);
    host.fails(&["install", "./pdf.zip"]).has("was revoked");
    host.succeeds(&["keys", "remove", "alice@x", "--yes"]);
    let told = host.fails(&["keys", "add", "alice@x", "key.pub", "--yes"]);
    told.has("is revoked in");
    assert_eq!(host.json(&["keys", "--json"])["revoked"][0]["key"], key);
    host.fails(&["keys", "revoke", "nothing", "--yes"]);
}

#[test]
fn an_openpgp_key_is_listed_by_its_full_fingerprint() {
    let host = Host::stdin();
    let fingerprint = "0123456789ABCDEF0123456789ABCDEF01234567";
    for written in [fingerprint, &fingerprint.to_lowercase()] {
        host.succeeds(&["keys", "add", "carol@x", written, "--yes"]);
        assert_eq!(
            text(&host, "signers"),
            format!("carol@x openpgp {fingerprint}\n")
        );
        let shown = host.json(&["keys", "--json"]);
        assert_eq!(shown["signers"][0]["key"], fingerprint);
    }
    host.succeeds(&["keys", "revoke", &fingerprint.to_lowercase(), "--yes"]);
    assert!(text(&host, "revoked").starts_with(&format!("{fingerprint} ")));
    host.succeeds(&["keys", "remove", fingerprint, "--yes"]);
    assert_eq!(text(&host, "signers"), "");
    fs::write(host.project().join("noise"), [0x99, 0xff]).unwrap();
    for other in ["noise", &fingerprint[8..]] {
        host.fails(&["keys", "add", "carol@x", other, "--yes"])
            .has("full fingerprint of an OpenPGP key");
    }
}

#[test]
fn no_model_decides_whose_signatures_count() {
    let host = Host::stdin();
    let host = host.skill("writes", "allowed-tools: Write", "Write.");
    for args in [
        &["keys", "add", "a", "k.pub", "--yes"][..],
        &["keys", "remove", "a"],
        &["keys", "revoke", "SHA256:abc"],
    ] {
        host.blocks("agent-skills", &json!({"args": args}));
        host.unattended(args).stderr.has("only a person");
    }
    host.starts();
    host.activates("writes");
    let own = ["signers", "revoked", "known-signers.json"];
    let own = own.map(|name| host.plugin_dir().join(name));
    for place in own {
        host.blocks("write_file", &json!({"path": place, "content": "x"}));
    }
    let other = host.project().join("other");
    host.allows("write_file", &json!({"path": other, "content": "x"}));
}
