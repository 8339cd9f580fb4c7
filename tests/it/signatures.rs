//! Signed skills with real git, ssh-keygen and gpg, without a network: what each hostile case is
//! told as, and what is on disk after it. Keys are made once.

mod changes;
mod claims;
mod commits;
mod environment;
mod keys;
mod manifests;
mod openpgp;
mod restored;
mod trees;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::Host;
use crate::host::{Has, write_at};
use crate::market_sources::skill;
use crate::repository::{Hub, files};

/// Ssh keys without passphrases.
pub struct Keys(TempDir);

const NAMES: [&str; 3] = ["alice", "bob", "carol"];

/// Makes an ssh key without a passphrase in `dir`; its fingerprint. `None`, which is told, on a machine
/// that cannot.
pub fn ssh_key(dir: &Path, name: &str) -> Option<String> {
    let words = ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name];
    let mut command = Command::new("ssh-keygen");
    let made = command.args(words).current_dir(dir).output();
    if !made.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: there is no ssh-keygen");
        return None;
    }
    Some(fingerprint(&dir.join(name)))
}

fn fingerprint(key: &Path) -> String {
    let told = output(Command::new("ssh-keygen").arg("-lf").arg(key));
    told.split(' ').nth(1).unwrap().to_owned()
}

/// The keys, made once.
pub fn keys() -> Option<&'static Keys> {
    static KEYS: OnceLock<Option<Keys>> = OnceLock::new();
    let made = KEYS.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let mut names = NAMES.iter();
        let made = names.all(|name| ssh_key(dir.path(), name).is_some());
        made.then_some(Keys(dir))
    });
    made.as_ref()
}

impl Keys {
    pub fn private(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The kind and the key, as they are written.
    pub fn public(&self, name: &str) -> String {
        let text = fs::read_to_string(self.private(name).with_extension("pub")).unwrap();
        let words: Vec<&str> = text.split_whitespace().take(2).collect();
        words.join(" ")
    }

    pub fn fingerprint(&self, name: &str) -> String {
        fingerprint(&self.private(name))
    }

    /// A line of a file of signers.
    pub fn line(&self, principal: &str, options: &str, name: &str) -> String {
        let space = if options.is_empty() { "" } else { " " };
        format!("{principal}{space}{options} {}\n", self.public(name))
    }

    /// Signs a text with ssh-keygen.
    pub fn sign(&self, name: &str, namespace: &str, text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("text"), text).unwrap();
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]);
        command.arg(self.private(name)).arg("text");
        output(command.current_dir(dir.path()));
        fs::read_to_string(dir.path().join("text.sig")).unwrap()
    }
}

/// What a program that succeeds prints.
#[track_caller]
pub fn output(command: &mut Command) -> String {
    let ran = command.stdin(Stdio::null()).output().unwrap();
    assert!(ran.status.success(), "{command:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Git in a repository, as its author uses it with an ssh key.
#[track_caller]
pub fn author(dir: &Path, key: &Path, words: &[&str]) -> String {
    let key = format!("user.signingkey={}", key.display());
    let mut command = crate::repository::command(dir);
    command
        .args(["-c", "gpg.format=ssh", "-c", &key])
        .args(words);
    output(&mut command).trim().to_owned()
}

/// A repository `acme/skills` with the skill `pdf`, signed by alice, and who installs it.
pub struct World {
    pub keys: &'static Keys,
    /// Is there as long as the repository is asked.
    hub: Hub,
    pub repo: PathBuf,
    pub host: Host,
}

impl World {
    pub fn new() -> Option<Self> {
        Self::with(&["init", "-q", "-b", "main"])
    }

    /// The same with a repository that is begun so.
    pub fn with(init: &[&str]) -> Option<Self> {
        let keys = keys()?;
        let hub = Hub::new();
        let repo = hub.dir().join("acme/skills");
        write_at(repo.join("skills/pdf/SKILL.md"), skill("pdf"));
        write_at(repo.join("skills/pdf/scripts/a.txt"), "a\n");
        crate::repository::git(&repo, init);
        let host = hub.host();
        host.succeeds(&["config", "set", "unattended", "true"]);
        let world = Self {
            keys,
            hub,
            repo,
            host,
        };
        world.commit("alice");
        Some(world)
    }

    /// The same where alice is listed, and a listed signer is required.
    pub fn listed() -> Option<Self> {
        let world = Self::new()?;
        world.lists(&[world.keys.line("alice@x", "", "alice")]);
        world.requires(LISTED);
        Some(world)
    }

    /// Git in the repository, as one of the authors.
    #[track_caller]
    pub fn git(&self, name: &str, words: &[&str]) -> String {
        author(&self.repo, &self.keys.private(name), words)
    }

    /// Commits everything, signed by one of the authors; the commit.
    #[track_caller]
    pub fn commit(&self, name: &str) -> String {
        self.git(name, &["add", "-A"]);
        let words = ["commit", "-q", "--allow-empty", "-S", "-m", "change"];
        self.git(name, &words);
        self.git(name, &["rev-parse", "HEAD"])
    }

    /// Changes the skill, and commits it.
    #[track_caller]
    pub fn change(&self, text: &str, name: &str) -> String {
        fs::write(self.repo.join("skills/pdf/scripts/a.txt"), text).unwrap();
        self.commit(name)
    }

    /// Writes the user's own file of signers.
    pub fn lists(&self, lines: &[String]) {
        fs::write(self.host.plugin_dir().join("signers"), lines.concat()).unwrap();
    }

    /// Writes `[signing]` of the configuration, behind what is there.
    pub fn requires(&self, rules: &str) {
        let text = format!("unattended = true\n[signing]\n{rules}\n");
        self.host.config(text);
    }

    /// Takes keys' right to sign.
    pub fn revokes(&self, keys: impl AsRef<[u8]>) {
        write_at(self.host.plugin_dir().join("revoked"), keys);
    }

    /// The skill's entry in the lockfile; null if it is not installed.
    pub fn entry(&self) -> Value {
        entry(&self.host, "pdf")
    }

    /// Who signed it, as the lockfile has it: principal and fingerprint.
    pub fn signer(&self) -> Option<(Option<String>, String)> {
        let signer = self.entry()["signer"].clone();
        let text = |name: &str| signer[name].as_str().map(str::to_owned);
        Some((text("principal"), text("key")?))
    }

    pub fn text(&self) -> Option<String> {
        fs::read_to_string(self.host.skills_dir().join("pdf/scripts/a.txt")).ok()
    }

    /// Checks that an install is refused with these words, and leaves nothing.
    #[track_caller]
    pub fn refuses(&self, words: &[&str], why: &[&str]) {
        let before = kept(&self.host);
        let told = self.host.fails(words);
        for why in why {
            told.has(why);
        }
        assert_eq!(self.entry(), Value::Null);
        assert!(!self.host.skills_dir().join("pdf").exists());
        assert_eq!(kept(&self.host), before, "{told}");
    }
}

pub fn entry(host: &Host, name: &str) -> Value {
    let path = host.plugin_dir().join("skills.lock.json");
    let lock = fs::read(path).unwrap_or_default();
    let lock: Value = serde_json::from_slice(&lock).unwrap_or_default();
    let entries = lock["skills"].as_array().cloned().unwrap_or_default();
    let entry = entries.into_iter().find(|entry| entry["name"] == name);
    entry.unwrap_or_default()
}

/// What is kept of signatures, and what is being prepared.
pub fn kept(host: &Host) -> Vec<PathBuf> {
    let names = ["known-signers.json", "staging"];
    let paths = names.map(|name| host.plugin_dir().join(name));
    let each = paths.iter().filter(|path| path.exists()).flat_map(|path| {
        if path.is_dir() {
            files(path).into_iter().map(|(path, _)| path).collect()
        } else {
            vec![path.clone()]
        }
    });
    each.collect()
}

/// Checks that the signature of an installed skill does not hold any longer.
#[track_caller]
pub fn lapses(world: &World, why: &str) {
    world.host.person(&["verify"]).ends(1).stdout.has(why);
}

pub const PDF: &str = "acme/skills@pdf";
pub const LISTED: &str = "require = \"listed\"";
