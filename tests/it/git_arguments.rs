//! What a lockfile of a project, or a reference, says reaches git neither as an option nor as a
//! revision or a pattern of paths: the git of these tests notes down what it is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;
use crate::repository::Hub;

/// A host whose git writes each of its arguments to a file first, a line each.
struct Noted {
    host: Host,
    _hub: Hub,
    dir: tempfile::TempDir,
}

impl Noted {
    fn new() -> Self {
        let hub = Hub::new();
        hub.skills(&["pdf"]);
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var("PATH").unwrap();
        let real = std::env::split_paths(&path).map(|dir| dir.join("git"));
        let real: PathBuf = real.into_iter().find(|git| git.is_file()).unwrap();
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}/told'\nexec '{}' \"$@\"\n",
            dir.path().display(),
            real.display()
        );
        let git = dir.path().join("git");
        fs::write(&git, script).unwrap();
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
        let host = Host::stdin()
            .var("AGENT_SKILLS_GITHUB_BASE", &hub.base())
            .var("PATH", &format!("{}:{path}", dir.path().display()));
        Self {
            host,
            _hub: hub,
            dir,
        }
    }

    /// What git was told since the last look.
    fn told(&self) -> String {
        let file = self.dir.path().join("told");
        let told = fs::read_to_string(&file).unwrap_or_default();
        let _ = fs::remove_file(file);
        told
    }
}

#[test]
fn a_projects_lockfile_is_parsed_before_git_starts() {
    let noted = Noted::new();
    let host = &noted.host;
    host.succeeds(&["install", "acme/pdf", "--project"]);
    noted.told().has("fetch");
    let file = host.project().join(".chibi/skills.lock.json");
    let lock: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    fs::remove_dir_all(host.project().join(".chibi/skills")).unwrap();
    let tree = lock["skills"][0]["tree"].as_str().unwrap();
    for (field, value) in [
        ("ref", "--upload-pack=touch evil"),
        ("ref", "--upload-pack=x"),
        ("ref", "-u"),
        ("ref", "HEAD:.."),
        ("ref", "a\u{202e}b"),
        ("path", "../.."),
        ("path", "/etc"),
        ("path", "a\u{1b}[2J"),
        ("tree", "HEAD:.."),
        ("tree", &tree[1..]),
        ("tree", &tree.replace(|c: char| c.is_ascii_digit(), "z")),
        ("license", "MIT\u{1b}]0;x\u{7}"),
        ("license", "MIT\u{202e}"),
        ("name", "-u"),
        ("name", "HEAD:.."),
    ] {
        let mut hostile = lock.clone();
        hostile["skills"][0][field] = json!(value);
        fs::write(&file, hostile.to_string()).unwrap();
        for verb in [
            &["install"][..],
            &["install", "--frozen"],
            &["update", "--project"],
            &["update", "--check", "--project"],
            &["verify", "--project"],
        ] {
            let ran = host.person(verb);
            assert_eq!(ran.status, 1, "{field}: {verb:?}: {ran:?}");
            let named = if field == "name" { value } else { "pdf" };
            assert!(
                ran.stderr.contains(&format!("`{named}`")),
                "{field}: {verb:?}: {ran:?}"
            );
            let shown = ran.stdout + &ran.stderr;
            assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown}");
            assert_eq!(noted.told(), "", "{field}: {verb:?}");
        }
    }
    // As it was, it is restored.
    fs::write(&file, lock.to_string()).unwrap();
    host.succeeds(&["install", "--frozen"]);
}

#[test]
fn no_part_of_a_reference_is_an_option_or_a_path_of_gits() {
    let noted = Noted::new();
    let host = &noted.host;
    for words in [
        &["acme/skills#-u"][..],
        &["acme/skills#HEAD:.."],
        &["acme/skills#--upload-pack=x"],
        &["acme/skills@-u"],
        &["acme/skills@HEAD:.."],
        &["acme/skills/-u"],
        &["acme/-u"],
        &["github:acme/skills#refs/heads/-u"],
        &["https://github.com/acme/skills/tree/-u/skills/pdf"],
        &["-u"],
        &["HEAD:.."],
    ] {
        let words: Vec<&str> = ["install", "--"].iter().chain(words).copied().collect();
        let ran = host.person(&words);
        assert_eq!(ran.status, 1, "{words:?}: {ran:?}");
        let told = noted.told();
        let hostile = |line: &&str| {
            line.starts_with("-u") || line.contains("HEAD:") || line.contains("upload-pack")
        };
        assert_eq!(told.lines().find(hostile), None, "{words:?}");
    }
    for name in ["--name=-u", "--name=HEAD:..", "--name=:(top)x"] {
        host.succeeds(&["install", "acme/pdf", name]);
        for entry in fs::read_dir(host.skills_dir()).unwrap().flatten() {
            let installed = entry.file_name().into_string().unwrap();
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(
                !installed.starts_with('-') && installed.chars().all(is_plain),
                "{installed}"
            );
            host.succeeds(&["remove", "--", &installed]);
        }
    }
}
