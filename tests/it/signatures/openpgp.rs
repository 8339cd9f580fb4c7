//! OpenPGP keys: listed by their full fingerprints, checked by gpg with the user's own keyring.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tempfile::TempDir;

use super::{LISTED, PDF, World, lapses};

/// A home of gpg with keys without passphrases.
struct Gpg(TempDir);

const KEYS: [(&str, &str); 4] = [
    ("alice", "never"),
    ("bob", "never"),
    ("expired", "seconds=1"),
    ("withdrawn", "never"),
];

/// The home of the keys is one, and what time it is there, too.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gpg() -> Option<&'static Gpg> {
    static MADE: OnceLock<Option<Gpg>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let gpg = Gpg(tempfile::tempdir_in("/tmp").unwrap());
        let made = KEYS.iter().all(|(name, expires)| {
            let user = format!("{name}@x");
            // Long enough ago that it has ended.
            let time: &[&str] = match *expires {
                "never" => &[],
                _ => &["--faked-system-time", "20240101T000000"],
            };
            let words = ["--quick-gen-key", &user, "ed25519", "sign", expires];
            gpg.run(&[time, &words[..]].concat()).is_some()
        });
        gpg.ends_agent();
        made.then_some(gpg)
    });
    if made.is_none() {
        println!("skipped: there is no gpg that makes keys");
    }
    made.as_ref()
}

impl Gpg {
    fn run(&self, words: &[&str]) -> Option<Vec<u8>> {
        let mut command = Command::new("gpg");
        command.env("GNUPGHOME", self.0.path());
        command.args(["--batch", "--quiet", "--passphrase", ""]);
        command.args(["--pinentry-mode", "loopback"]);
        let ran = command.args(words).output().ok()?;
        ran.status.success().then_some(ran.stdout)
    }

    /// Ends the agent that gpg starts for a secret key; nothing else would.
    fn ends_agent(&self) {
        let mut command = Command::new("gpgconf");
        command.env("GNUPGHOME", self.0.path());
        let _ = command.args(["--kill", "gpg-agent"]).output();
    }

    fn fingerprint(&self, name: &str) -> String {
        let listed = self.run(&["--with-colons", "-k", name]).unwrap();
        let listed = String::from_utf8(listed).unwrap();
        let line = listed.lines().find(|line| line.starts_with("fpr:"));
        line.unwrap().split(':').nth(9).unwrap().to_owned()
    }

    /// A line of a file of signers.
    fn line(&self, name: &str) -> String {
        format!("{name}@x openpgp {}\n", self.fingerprint(name))
    }

    /// The same world, whose user has this keyring.
    fn of(&self, world: World) -> World {
        let host = world.host.var("GNUPGHOME", self.0.path().to_str().unwrap());
        World { host, ..world }
    }

    /// Commits everything, signed with a key while it was valid.
    fn commit(&self, repo: &Path, name: &str) {
        fs::write(repo.join("skills/pdf/scripts/a.txt"), name).unwrap();
        let key = format!("user.signingkey={}", self.fingerprint(name));
        let conf = self.0.path().join("gpg.conf");
        if name == "expired" {
            fs::write(&conf, "faked-system-time 20240101T000000\n").unwrap();
        }
        let mut command = crate::repository::command(repo);
        command.env("GNUPGHOME", self.0.path());
        command.args(["-c", "gpg.format=openpgp", "-c", &key]);
        super::output(command.args(["commit", "-q", "-a", "-S", "-m", "change"]));
        let _ = fs::remove_file(conf);
        self.ends_agent();
    }
}

#[test]
fn openpgp_keys_count_when_they_are_listed_and_valid() {
    let _turn = turn();
    let (Some(world), Some(gpg)) = (World::new(), gpg()) else {
        return;
    };
    world.requires(LISTED);
    gpg.commit(&world.repo, "alice");
    let alice = gpg.fingerprint("alice");
    world.lists(&[gpg.line("alice")]);
    let import = format!("not in your keyring: get it with `gpg --recv-keys {alice}`");
    world.refuses(&["install", PDF], &["requires a listed signer", &import]);
    let world = gpg.of(world);
    world.lists(&[gpg.line("bob")]);
    world.refuses(&["install", PDF], &[&alice, "is not listed here"]);
    world.lists(&[gpg.line("bob"), gpg.line("alice")]);
    world.host.succeeds(&["install", PDF]);
    let signer = (Some("alice@x".to_owned()), alice.clone());
    assert_eq!(world.signer(), Some(signer));
    assert_eq!(world.entry()["signer"]["kind"], "openpgp");
    world.host.succeeds(&["verify"]);
    // What the keyring says of its own trust, and git's settings, change nothing.
    let conf = "[gpg]\nprogram = /bin/false\nminTrustLevel = ultimate\n";
    fs::write(world.host.home().join(".gitconfig"), conf).unwrap();
    world.host.succeeds(&["remove", "pdf"]);
    world.host.succeeds(&["install", PDF]);
    world.revokes(alice.clone());
    lapses(&world, "was revoked");
    world.revokes("");
    world.lists(&[gpg.line("bob")]);
    lapses(&world, "is not listed here");
    world.lists(&[gpg.line("bob"), gpg.line("alice")]);
    world.host.succeeds(&["remove", "pdf"]);
    // Revoked here, as gpg writes it or in small letters.
    for text in [alice.clone(), alice.to_ascii_lowercase()] {
        world.revokes(text);
        world.refuses(&["install", PDF], &["was revoked"]);
    }
    world.revokes("");
    // Another key with the same name is another, and a list of keys is no longer one of signers.
    let forged = gpg.line("bob").replace("bob@x", "alice@x");
    world.lists(&[forged]);
    world.refuses(&["install", PDF], &[&alice, "is not listed here"]);
    world.lists(&["alice@x openpgp mQINBF8=\n".to_owned()]);
    let told = ["signers`: line 1", "by its full fingerprint"];
    world.refuses(&["install", PDF], &told);
    // What is revoked stays so, whoever is listed.
    world.revokes(alice);
    world.refuses(&["install", PDF], &["was revoked"]);
}

#[test]
fn expired_and_withdrawn_openpgp_keys_count_no_longer() {
    let _turn = turn();
    let (Some(world), Some(gpg)) = (World::new(), gpg()) else {
        return;
    };
    let world = gpg.of(world);
    gpg.commit(&world.repo, "expired");
    world.lists(&[gpg.line("expired")]);
    for rules in ["", LISTED] {
        world.requires(rules);
        world.refuses(&["install", PDF], &["is invalid", "has expired"]);
    }
    gpg.commit(&world.repo, "withdrawn");
    let file = format!("openpgp-revocs.d/{}.rev", gpg.fingerprint("withdrawn"));
    let file = gpg.0.path().join(file);
    // Its author keeps it in a form that cannot be imported by mistake.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(":-----BEGIN", "-----BEGIN")).unwrap();
    gpg.run(&["--import", file.to_str().unwrap()]).unwrap();
    world.lists(&[gpg.line("withdrawn")]);
    let why = ["is invalid", "revoked by its owner"];
    for rules in ["", LISTED] {
        world.requires(rules);
        world.refuses(&["install", PDF], &why);
    }
}
