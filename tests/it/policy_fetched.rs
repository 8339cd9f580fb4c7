//! Policies that are fetched: how one is known, how long it counts, and what does not replace it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::Host;
use crate::layers::{is_offered, put};
use crate::policy::{policy_file, under};
use crate::server::Server;

const DAY: u64 = 24 * 60 * 60 * 1000;

fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

fn kept(host: &Host) -> PathBuf {
    policy_file(host).with_file_name("policy.toml.fetched")
}

/// Says that the policy at `url` counts, as `known` says it is known.
fn points(host: &Host, url: &str, known: &str) {
    fs::write(
        policy_file(host),
        format!("[from]\nurl = '{url}'\n{known}\n"),
    )
    .unwrap();
}

/// Changes what is noted of the kept policy.
fn noted(host: &Host, change: impl Fn(&mut serde_json::Value)) {
    let whole = fs::read_to_string(kept(host)).unwrap();
    let (note, text) = whole.split_once('\n').unwrap();
    let mut note = serde_json::from_str(note.strip_prefix("# fetched ").unwrap()).unwrap();
    change(&mut note);
    fs::write(kept(host), format!("# fetched {note}\n{text}")).unwrap();
}

fn is_closed(host: &Host, why: &str) {
    let message = host.blocks("shell_exec", &json!({"command": "ls"}));
    assert!(message.contains(why), "{why}: {message}");
    assert!(!is_offered(host, "pdf"));
    let ran = host.person(&["policy"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains(why), "{ran:?}");
}

/// A key that signs policies, and the file that lists it.
struct Signer(tempfile::TempDir);

impl Signer {
    /// `None`, and said so, without `ssh-keygen`.
    fn new() -> Option<Self> {
        if which::which("ssh-keygen").is_err() {
            println!("skipped: ssh-keygen is not installed");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]);
        assert!(
            command
                .arg(dir.path().join("key"))
                .status()
                .unwrap()
                .success()
        );
        Some(Self(dir))
    }

    fn line(&self, principal: &str) -> String {
        let public = fs::read_to_string(self.0.path().join("key.pub")).unwrap();
        format!("{principal} {public}")
    }

    /// Writes a policy and its signature.
    fn sign(&self, policy: &Path, text: &str, namespace: &str) {
        fs::write(policy, text).unwrap();
        let signature = format!("{}.sig", policy.display());
        let _ = fs::remove_file(&signature);
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]);
        command.arg(self.0.path().join("key")).arg(policy);
        assert!(command.output().unwrap().status.success());
    }
}

#[test]
fn a_pinned_policy_counts_once_it_is_fetched() {
    for host in Host::both() {
        let server = Server::new(host.home());
        let url = server.url("acme.toml");
        let serve = |text: &str| {
            let mut files = server.behaviour.files.lock().unwrap();
            files.insert("/acme.toml".to_owned(), text.as_bytes().to_vec());
        };
        let host = under(host, "").skill("pdf", "", "body");
        let policy = "[skills]\nblock = ['evil']\n";
        serve(policy);
        points(&host, &url, &format!("sha256 = '{}'", digest(policy)));
        is_closed(&host, "was never fetched");
        host.succeeds(&["policy", "fetch", "--dry-run"]);
        is_closed(&host, "was never fetched");
        let told = host.succeeds(&["policy", "fetch"]);
        assert!(told.contains("is new"), "{told}");
        put(&host.skills_dir(), "evil", "", "x");
        host.starts();
        assert!(is_offered(&host, "pdf") && !is_offered(&host, "evil"));
        let shown = host.succeeds(&["policy"]);
        assert!(shown.contains("policy.toml.fetched, line 3"), "{shown}");
        assert!(
            host.succeeds(&["policy", "fetch"])
                .contains("is the one that is here")
        );
        // What is there instead does not replace it.
        serve("[skills]\n");
        let told = host.fails(&["policy", "fetch"]);
        assert!(told.contains("is required"), "{told}");
        assert!(!is_offered(&host, "evil"));
        server.behaviour.files.lock().unwrap().clear();
        host.fails(&["policy", "fetch"]);
        assert!(is_offered(&host, "pdf") && !is_offered(&host, "evil"));
    }
}

#[test]
fn the_last_policy_counts_as_long_as_it_says() {
    for host in Host::both() {
        let host = under(host, "").skill("pdf", "", "body");
        let policy = "[skills]\nblock = ['evil']\n";
        let file = host.home().join("acme.toml");
        fs::write(&file, policy).unwrap();
        let known = format!("sha256 = '{}'\nkeep = '2d'", digest(policy));
        points(&host, file.to_str().unwrap(), &known);
        host.succeeds(&["policy", "fetch"]);
        let older = |key: &'static str, by: u64| {
            move |note: &mut serde_json::Value| {
                note[key] = json!(note[key].as_u64().unwrap() - by);
            }
        };
        noted(&host, older("at", DAY));
        assert!(is_offered(&host, "pdf"));
        noted(&host, older("at", DAY));
        is_closed(&host, "longer than `keep` allows");
        // A clock that was set back does not prolong it, nor does one that was ahead.
        noted(&host, |note| {
            note["seen"] = json!(note["at"].as_u64().unwrap() + 5 * DAY);
        });
        is_closed(&host, "the clock says it is before that");
        host.succeeds(&["policy", "fetch"]);
        assert!(is_offered(&host, "pdf"));
        noted(&host, older("seen", 30 * DAY));
        noted(&host, older("at", 30 * DAY));
        fs::remove_file(&file).unwrap();
        host.fails(&["policy", "fetch"]);
        let note = fs::read_to_string(kept(&host)).unwrap();
        let note = note
            .lines()
            .next()
            .unwrap()
            .trim_start_matches("# fetched ");
        let note: serde_json::Value = serde_json::from_str(note).unwrap();
        let waited = note["seen"].as_u64().unwrap() - note["at"].as_u64().unwrap();
        assert!(waited >= 30 * DAY, "{note}");
        is_closed(&host, "longer than `keep` allows");
    }
}

#[test]
fn a_signed_policy_is_never_replaced_by_an_older_one() {
    let Some(signer) = Signer::new() else { return };
    let host = under(Host::stdin(), "").skill("pdf", "", "body");
    let file = host.home().join("acme.toml");
    points(
        &host,
        file.to_str().unwrap(),
        "signers = 'admins'\nprincipals = ['it@acme']",
    );
    let admins = policy_file(&host).with_file_name("admins");
    fs::write(&admins, signer.line("it@acme")).unwrap();
    let fetch = |text: &str, namespace: &str| {
        signer.sign(&file, text, namespace);
        host.person(&["policy", "fetch"])
    };
    let good = "agent-skill-policy";
    let refused = |text: &str, namespace: &str, why: &str| {
        let before = fs::read(kept(&host)).unwrap_or_default();
        let ran = fetch(text, namespace);
        assert!(
            ran.status == 1 && ran.stderr.contains(why),
            "{why}: {ran:?}"
        );
        let policy = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.lines().skip(1).collect::<Vec<_>>().join("\n")
        };
        let after = fs::read(kept(&host)).unwrap_or_default();
        assert_eq!(policy(&before), policy(&after), "{why}");
    };
    refused("[skills]\n", good, "needs a `serial`");
    refused("serial = 2\n", "agent-skill", "another purpose");
    assert_eq!(
        fetch("serial = 2\n[skills]\nblock = ['evil']\n", good).status,
        0
    );
    assert!(is_offered(&host, "pdf"));
    refused("serial = 1\n", good, "its serial is 1");
    refused("serial = 2\n", good, "the same serial 2");
    refused("[skills]\n", good, "needs a `serial`");
    refused("serial = 3\nserial = 4\n", good, "line 2");
    refused("serial = 3\n[skils]\n", good, "skils");
    let further = "serial = 3\n[from]\nurl = 'x'\nsigners = 's'\n";
    refused(further, good, "cannot point to another");
    fs::write(&admins, signer.line("else@acme")).unwrap();
    refused("serial = 3\n", good, "else@acme");
    fs::write(&admins, signer.line("it@acme")).unwrap();
    // Changed after it was signed.
    signer.sign(&file, "serial = 3\n", good);
    fs::write(&file, "serial = 4\n").unwrap();
    assert_eq!(host.person(&["policy", "fetch"]).status, 1);
    assert_eq!(fetch("serial = 3\n", good).status, 0);
}

#[test]
fn a_kept_policy_that_others_could_have_written_closes() {
    let host = under(Host::stdin(), "").skill("pdf", "", "body");
    let policy = "[skills]\nblock = ['evil']\n";
    let file = host.home().join("acme.toml");
    fs::write(&file, policy).unwrap();
    let known = format!("sha256 = '{}'", digest(policy));
    points(&host, file.to_str().unwrap(), &known);
    host.succeeds(&["policy", "fetch"]);
    let whole = fs::read_to_string(kept(&host)).unwrap();
    let again = || {
        fs::remove_file(kept(&host)).unwrap();
        host.succeeds(&["policy", "fetch"]);
        assert!(is_offered(&host, "pdf"));
    };
    let mode = |mode| fs::set_permissions(kept(&host), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o666);
    is_closed(&host, "cannot be relied on");
    again();
    // Cut off, as no kill leaves it.
    for end in [0, 5, whole.find('\n').unwrap(), whole.len() - 3] {
        fs::write(kept(&host), &whole[..end]).unwrap();
        is_closed(&host, "policy.toml.fetched");
    }
    let further = format!("{whole}[from]\nurl = 'x'\nsigners = 's'\n");
    fs::write(kept(&host), further).unwrap();
    is_closed(&host, "cannot point to another");
    again();
    fs::remove_file(kept(&host)).unwrap();
    symlink("/nowhere/policy", kept(&host)).unwrap();
    is_closed(&host, "cannot be relied on");
    again();
    fs::remove_file(kept(&host)).unwrap();
    fs::create_dir(kept(&host)).unwrap();
    is_closed(&host, "policy.toml.fetched");
}

#[test]
fn a_users_own_policy_requires_and_fetches_too() {
    let mut host = Host::stdin().skill("pdf", "", "body");
    let own = host.home().join("own");
    fs::create_dir(&own).unwrap();
    let at = own.join("mine.toml");
    crate::policy::with_var(&mut host, "AGENT_SKILLS_POLICY", at.to_str().unwrap());
    let policy = "[skills]\nrequire = ['pdf']\nmissing = 'block'\n";
    let file = host.home().join("acme.toml");
    fs::write(&file, policy).unwrap();
    let text = format!(
        "[from]\nurl = 'file://{}'\nsha256 = '{}'\n",
        file.display(),
        digest(policy)
    );
    fs::write(&at, text).unwrap();
    is_closed(&host, "was never fetched");
    host.succeeds(&["policy", "fetch"]);
    // It is in force: the plugin's skill is not the administrator's.
    assert!(!is_offered(&host, "pdf"));
    host.allows("shell_exec", &json!({"command": "ls"}));
    let why = host.person(&["policy", "explain", "pdf"]);
    assert_eq!(why.status, 1);
    assert!(why.stdout.contains("mine.toml.fetched, line 3"), "{why:?}");
}
