//! OpenPGP keys: listed by their bytes, told by their full fingerprints, checked by gpg in a home of
//! our own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use super::{PDF, World};

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
        command.args([
            "--batch",
            "--quiet",
            "--passphrase",
            "",
            "--pinentry-mode",
            "loopback",
        ]);
        let ran = command.args(words).output().ok()?;
        ran.status.success().then_some(ran.stdout)
    }

    fn fingerprint(&self, name: &str) -> String {
        let listed = self.run(&["--with-colons", "-k", name]).unwrap();
        let listed = String::from_utf8(listed).unwrap();
        let line = listed
            .lines()
            .find(|line| line.starts_with("fpr:"))
            .unwrap();
        line.split(':').nth(9).unwrap().to_owned()
    }

    /// A line of a file of signers.
    fn line(&self, name: &str) -> String {
        let key = self.run(&["--export", name]).unwrap();
        format!("{name}@x openpgp {}\n", STANDARD.encode(key))
    }

    /// Commits everything, signed with a key.
    fn commit(&self, repo: &Path, name: &str, time: Option<&str>) {
        let text = format!("{name} {time:?}");
        fs::write(repo.join("skills/pdf/scripts/a.txt"), text).unwrap();
        let mut command = Command::new("git");
        command.current_dir(repo).env("GNUPGHOME", self.0.path());
        command.args([
            "-c",
            "gpg.format=openpgp",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@x",
        ]);
        let program = time.map(|_| self.past());
        if let Some(program) = program {
            command
                .arg("-c")
                .arg(format!("gpg.program={}", program.display()));
        }
        command
            .arg("-c")
            .arg(format!("user.signingkey={}", self.fingerprint(name)));
        super::output(command.args(["commit", "-q", "-a", "-S", "-m", "change"]));
    }

    /// A gpg for which it is the first of January 2024, by its own configuration.
    fn past(&self) -> PathBuf {
        let conf = self.0.path().join("gpg.conf");
        fs::write(conf, "faked-system-time 20240101T000000\n").unwrap();
        which::which("gpg").unwrap()
    }

    fn now(&self) {
        let _ = fs::remove_file(self.0.path().join("gpg.conf"));
    }
}

#[test]
fn openpgp_keys_count_when_they_are_listed_and_valid() {
    let _turn = turn();
    let (Some(world), Some(gpg)) = (World::new(), gpg()) else {
        return;
    };
    let listed = "require = \"listed\"";
    world.requires(listed);
    gpg.commit(&world.repo, "alice", None);
    let alice = gpg.fingerprint("alice");
    world.refuses(&["install", PDF], &[&alice, "is not listed here"]);
    world.lists(&[gpg.line("bob")]);
    world.refuses(&["install", PDF], &[&alice, "is not listed here"]);
    world.lists(&[gpg.line("bob"), gpg.line("alice")]);
    world.host.succeeds(&["install", PDF]);
    assert_eq!(
        world.signer(),
        Some((Some("alice@x".to_owned()), alice.clone()))
    );
    assert_eq!(world.entry()["signer"]["kind"], "openpgp");
    world.host.succeeds(&["remove", "pdf"]);
    // Revoked here, as gpg writes it or in small letters.
    let revoked = world.host.plugin_dir().join("revoked");
    for text in [alice.clone(), alice.to_ascii_lowercase()] {
        fs::write(&revoked, text).unwrap();
        world.refuses(&["install", PDF], &["was revoked"]);
    }
    fs::remove_file(&revoked).unwrap();
    // Another key with the same name is another.
    let forged = gpg.line("bob").replace("bob@x", "alice@x");
    world.lists(&[forged]);
    world.refuses(&["install", PDF], &[&alice, "is not listed here"]);
}

#[test]
fn expired_and_withdrawn_openpgp_keys_count_no_longer() {
    let _turn = turn();
    let (Some(world), Some(gpg)) = (World::new(), gpg()) else {
        return;
    };
    gpg.commit(&world.repo, "expired", Some("then"));
    gpg.now();
    world.lists(&[gpg.line("expired")]);
    for rules in ["", "require = \"listed\""] {
        world.requires(rules);
        world.refuses(&["install", PDF], &["wrongly signed", "has expired"]);
    }
    gpg.commit(&world.repo, "withdrawn", None);
    let fingerprint = gpg.fingerprint("withdrawn");
    let file = gpg
        .0
        .path()
        .join(format!("openpgp-revocs.d/{fingerprint}.rev"));
    // Its author keeps it in a form that cannot be imported by mistake.
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace(":-----BEGIN", "-----BEGIN");
    fs::write(&file, text).unwrap();
    gpg.run(&["--import", file.to_str().unwrap()]).unwrap();
    world.lists(&[gpg.line("withdrawn")]);
    for rules in ["", "require = \"listed\""] {
        world.requires(rules);
        world.refuses(
            &["install", PDF],
            &["wrongly signed", "revoked by its owner"],
        );
    }
}
