//! Approvals as a process: asked for on one machine, signed on an administrator's, taken by others;
//! and what happens to those that were edited, replayed, sent to others or made by nobody listed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::Host;
use crate::audit::events;
use crate::layers::is_offered;
use crate::signatures::{Keys, keys};

/// An administrator and a machine of theirs, with one skill that needs an approval.
struct Fleet {
    keys: &'static Keys,
    admin: Host,
    machine: Host,
}

const RUN: &str = "echo ran";

impl Fleet {
    fn new(options: &str) -> Option<Self> {
        let keys = keys()?;
        let one = || {
            let host = Host::stdin().skill("pdf", "allowed-tools: Read", "x");
            let host = host.file("pdf/run.sh", RUN);
            let policy = host.home().join("policy.toml");
            fs::create_dir(host.home().join("approvals.d")).unwrap();
            fs::write(
                &policy,
                "[approval]\nrequire = [\"all\"]\nsigners = \"admins\"\nrevoked = \"revoked\"\n\
                 from = \"approvals.d\"\n",
            )
            .unwrap();
            fs::write(host.home().join("revoked"), "").unwrap();
            let admins = keys.line("it@acme.example", options, "alice");
            fs::write(host.home().join("admins"), admins).unwrap();
            host.var("AGENT_SKILLS_POLICY", policy.to_str().unwrap())
        };
        Some(Self {
            keys,
            admin: one(),
            machine: one(),
        })
    }

    /// The machine's request for its skill, as a file of the administrator's.
    fn request(&self) -> String {
        let said = self
            .machine
            .succeeds(&["approve", "--request", "pdf", "--reason", "a report"]);
        assert!(said.starts_with("Wrote "), "{said}");
        let file = "pdf.request.json";
        fs::copy(
            self.machine.project().join(file),
            self.admin.project().join(file),
        )
        .unwrap();
        file.to_owned()
    }

    /// What `who` signs, as a file of the machine's directory of approvals.
    fn signs(&self, who: &str, words: &[&str], name: &str) -> String {
        let key = self.keys.private(who);
        let output = self.machine.home().join("approvals.d").join(name);
        let output = output.to_str().unwrap();
        let all = [
            "approve",
            "--yes",
            "--sign",
            "pdf.request.json",
            "--output",
            output,
        ];
        let key = ["--key", key.to_str().unwrap()];
        self.admin.succeeds(&[&all, &key[..], words].concat());
        output.to_owned()
    }

    fn accepts(&self) -> String {
        self.machine.succeeds(&["approve", "--accept"])
    }

    #[track_caller]
    fn refuses(&self, file: &str, why: &str) {
        let told = self.machine.fails(&["approve", "--accept", file]);
        assert!(told.contains(why), "{told}");
        assert!(!is_offered(&self.machine, "pdf"), "{told}");
    }

    fn states(&self) -> Vec<Value> {
        let listed = self.machine.json(&["approve", "--list", "--json"]);
        let listed = listed["approvals"].as_array().unwrap().clone();
        listed.into_iter().map(|one| one["state"].clone()).collect()
    }
}

#[test]
fn an_approval_is_asked_for_signed_taken_and_withdrawn() {
    let Some(fleet) = Fleet::new("") else { return };
    assert!(!is_offered(&fleet.machine, "pdf"));
    fleet.request();
    assert_eq!(fleet.states(), ["requested"]);
    let approval = fleet.signs("alice", &[], "pdf.approval");
    assert!(
        fleet
            .accepts()
            .contains("`pdf` is approved by it@acme.example")
    );
    assert!(is_offered(&fleet.machine, "pdf"));
    assert_eq!(fleet.states(), ["same"]);
    assert!(fleet.accepts().contains("was taken before"));
    // Another state is another skill, whose request says what is different.
    fs::write(fleet.machine.skills_dir().join("pdf/run.sh"), "echo other").unwrap();
    assert!(!is_offered(&fleet.machine, "pdf"));
    assert_eq!(fleet.states(), ["changed"]);
    fleet.request();
    let asked = fs::read_to_string(fleet.admin.project().join("pdf.request.json")).unwrap();
    let asked: Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(asked["changed"], json!(["changed run.sh"]));
    assert_eq!(asked["reason"], "a report");
    assert!(asked["abilities"].to_string().contains("run.sh"), "{asked}");
    // The administrator has the earlier state, and signs for nothing else.
    let key = fleet.keys.private("alice");
    let sign = [
        "approve",
        "--yes",
        "--sign",
        "pdf.request.json",
        "--key",
        key.to_str().unwrap(),
    ];
    assert!(fleet.admin.fails(&sign).contains("other files"));
    fs::write(fleet.machine.skills_dir().join("pdf/run.sh"), RUN).unwrap();
    fleet.request();
    let withdrawal = fleet.signs("alice", &["--revoke"], "pdf-2.approval");
    fleet
        .machine
        .succeeds(&["approve", "--accept", &withdrawal]);
    assert!(!is_offered(&fleet.machine, "pdf"));
    fs::remove_file(&withdrawal).unwrap();
    // Neither the old approval nor a new one counts after that, even once it is forgotten here.
    fleet.refuses(
        &fleet.signs("alice", &[], "pdf-3.approval"),
        "was withdrawn",
    );
    fleet.machine.succeeds(&["approve", "--revoke", "pdf"]);
    fleet.refuses(&approval, "was withdrawn");
    let refused = fleet.machine.fails(&["approve", "--yes", "pdf"]);
    assert!(refused.contains("was withdrawn"), "{refused}");
    let kinds = events(&fleet.machine).into_iter().map(|event| {
        let decision = event["decision"].as_str().unwrap_or_default();
        format!("{} {decision}", event["event"].as_str().unwrap())
    });
    let kinds: Vec<String> = kinds.filter(|kind| !kind.starts_with("tool")).collect();
    for kind in ["request ", "approve ", "unapprove ", "approve refused"] {
        assert!(kinds.iter().any(|known| known == kind), "{kind}: {kinds:?}");
    }
}

#[test]
fn what_was_edited_or_signed_by_others_does_not_count() {
    let Some(fleet) = Fleet::new("") else { return };
    fleet.refuses(
        &fleet
            .machine
            .home()
            .join("none.approval")
            .display()
            .to_string(),
        "none",
    );
    fleet.request();
    let request = fleet.machine.project().join("pdf.request.json");
    fleet.refuses(request.to_str().unwrap(), "nobody has signed it");
    fleet.refuses(&fleet.signs("bob", &[], "bob.approval"), "does not count");
    let good = fs::read_to_string(fleet.signs("alice", &[], "good.approval")).unwrap();
    let put = |name: &str, text: &str| {
        let path = fleet.machine.home().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    // An edited name, decision or digest; a signature for another purpose; one text under another.
    for (from, to) in [
        ("\"name\": \"pdf\"", "\"name\": \"evil\""),
        ("\"by\":", "\"BY\":"),
        ("\"reason\"", "\"reason\" "),
    ] {
        let edited = good.replacen(from, to, 1);
        assert_ne!(edited, good);
        fleet.refuses(&put("edited.approval", &edited), "it does not count");
    }
    let text = good.split("-----BEGIN").next().unwrap();
    let other = fleet.keys.sign("alice", "agent-skill", text);
    fleet.refuses(
        &put("purpose.approval", &format!("{text}{other}")),
        "another purpose",
    );
    fleet.refuses(&put("unsigned.approval", text), "nobody has signed it");
    let huge = format!("{}{good}", " ".repeat(300 * 1024));
    fleet.refuses(&put("huge.approval", &huge), "could not read");
    fleet.refuses(&put("junk.approval", "{}"), "no request");
    let link = fleet.machine.home().join("link.approval");
    symlink(put("good.approval", &good), &link).unwrap();
    fleet.refuses(link.to_str().unwrap(), "could not read");
    // A revoked key.
    let revoked = fleet.machine.home().join("revoked");
    fs::write(&revoked, fleet.keys.fingerprint("alice") + "\n").unwrap();
    fleet.refuses(&put("good.approval", &good), "revoked");
    fs::write(&revoked, "").unwrap();
    // A file of signers that others may write.
    let admins = fleet.machine.home().join("admins");
    let set = |mode| fs::set_permissions(&admins, fs::Permissions::from_mode(mode)).unwrap();
    set(0o666);
    fleet.refuses(&put("good.approval", &good), "cannot be relied on");
    set(0o644);
    fleet
        .machine
        .succeeds(&["approve", "--accept", &put("good.approval", &good)]);
    assert!(is_offered(&fleet.machine, "pdf"));
}

#[test]
fn an_expired_key_or_no_signers_approve_nothing() {
    let Some(fleet) = Fleet::new("valid-before=\"20200101\"") else {
        return;
    };
    fleet.request();
    fleet.refuses(&fleet.signs("alice", &[], "old.approval"), "does not count");
    let policy = fleet.machine.home().join("policy.toml");
    fs::write(policy, "[approval]\nrequire = [\"all\"]\n").unwrap();
    let old = fleet.machine.home().join("approvals.d/old.approval");
    fleet.refuses(old.to_str().unwrap(), "no policy says whose");
    assert!(fleet.accepts().contains("no signed approvals"));
    fleet.machine.succeeds(&["approve", "--yes", "pdf"]);
    assert!(is_offered(&fleet.machine, "pdf"));
}

#[test]
fn a_digest_has_one_spelling_or_is_refused() {
    let Some(fleet) = Fleet::new("") else { return };
    let request = fleet.request();
    let file = fleet.admin.project().join(&request);
    let text = fs::read_to_string(&file).unwrap();
    let digest = text.split("sha256:").nth(1).unwrap()[..64].to_owned();
    for spelling in [digest.clone(), format!("sha256:{}", digest.to_uppercase())] {
        let edited = text.replacen(&format!("sha256:{digest}"), &spelling, 1);
        fs::write(&file, edited).unwrap();
        let key = fleet.keys.private("alice");
        let key = key.to_str().unwrap();
        let all = [
            "approve", "--yes", "--sign", &request, "--revoke", "--key", key,
        ];
        let told = fleet.admin.fails(&all);
        assert!(told.contains("its digest is none"), "{told}");
    }
}

#[test]
fn what_is_signed_is_shown_and_not_its_writers_words() {
    let Some(fleet) = Fleet::new("") else { return };
    let request = fleet.request();
    let file = fleet.admin.project().join(&request);
    let mut asked: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    asked["changed"] = json!(["changed README.md only"]);
    asked["abilities"] = json!(["no scripts"]);
    fs::write(&file, asked.to_string()).unwrap();
    for withdraws in [&[][..], &["--revoke"]] {
        let all = ["approve", "--dry-run", "--sign", &request];
        let told = fleet.admin.succeeds(&[&all, withdraws].concat());
        assert!(!told.contains("README.md only"), "{told}");
        assert!(!told.contains("no scripts"), "{told}");
        assert_eq!(told.contains("run.sh"), withdraws.is_empty(), "{told}");
    }
}

#[test]
fn a_revocation_by_place_takes_back_what_was_signed() {
    let Some(fleet) = Fleet::new("") else { return };
    fleet.request();
    fleet.signs("alice", &[], "pdf.approval");
    fleet.accepts();
    assert!(is_offered(&fleet.machine, "pdf"));
    let told = fleet
        .machine
        .succeeds(&["approve", "--revoke", "plugin/pdf"]);
    assert!(told.contains("can be taken again"), "{told}");
    assert!(!is_offered(&fleet.machine, "pdf"));
}
