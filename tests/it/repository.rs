//! Git repositories made on the spot, and served from a directory that stands in for GitHub.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Host;
use crate::host::write_at;
use crate::market::skill;

/// A directory of repositories, `<owner>/<repo>`.
pub struct Hub {
    dir: TempDir,
}

impl Hub {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir_in("/tmp").unwrap(),
        }
    }

    /// What `AGENT_SKILLS_GITHUB_BASE` has to be.
    pub fn base(&self) -> String {
        format!("file://{}/", self.dir.path().display())
    }

    /// A host for which it is GitHub.
    pub fn host(&self) -> Host {
        Host::stdin().var("AGENT_SKILLS_GITHUB_BASE", &self.base())
    }

    /// Where the repositories are.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A repository with these files, committed.
    pub fn repository(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let dir = self.dir.path().join(name);
        for (path, content) in files {
            write_at(dir.join(path), content);
        }
        commit(&dir);
        dir
    }

    /// The repository `acme/skills` with skills of these names, below `skills`.
    pub fn skills(&self, names: &[&str]) -> PathBuf {
        let dir = self.dir.path().join("acme/skills");
        for name in names {
            write_at(dir.join("skills").join(name).join("SKILL.md"), skill(name));
        }
        commit(&dir);
        dir
    }
}

/// Commits everything in `dir`, which becomes a repository if it is none.
pub fn commit(dir: &Path) {
    if !dir.join(".git").exists() {
        git(dir, &["init", "-q", "-b", "main"]);
    }
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-q", "-m", "change"]);
}

/// Git as somebody uses it who has no settings.
pub fn command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir);
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
    command
}

pub fn git(dir: &Path, args: &[&str]) {
    let status = command(dir).args(args).status().unwrap();
    assert!(status.success(), "git {args:?}");
}

/// The id of what a revision names.
pub fn rev(dir: &Path, name: &str) -> String {
    let mut command = Command::new("git");
    let output = command.args(["rev-parse", name]).current_dir(dir).output();
    let id = String::from_utf8(output.unwrap().stdout).unwrap();
    id.trim().to_owned()
}

/// Copies a directory with everything in it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Every file below `dir` with its content, sorted.
pub fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                let relative = entry.path().strip_prefix(dir).unwrap().to_owned();
                found.push((relative, fs::read(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    found
}
