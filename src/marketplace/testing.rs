//! Generated git repositories, and a market to install into, for the tests of this room.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Git, Programs};
use crate::marketplace::install::InstalledSkill;
use crate::marketplace::{InstallOptions, KnownSigners, Market, Permit, SignatureChecker};
use crate::sys::{Base, Dir, Env};

/// A temporary environment: `repos/` takes the place of GitHub, `plugin/` is the plugin directory,
/// and `gitconfig`, if it exists, is the user's.
pub struct World {
    root: tempfile::TempDir,
    env: Env,
}

impl World {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let base = format!("file://{}/repos/", path.display());
        let vars = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", path.display().to_string()),
            ("GIT_CONFIG_GLOBAL", format!("{}/gitconfig", path.display())),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("AGENT_SKILLS_GITHUB_BASE", base),
        ];
        let env = Env::new(vars, &path);
        Self { root, env }
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(below)
    }

    /// Writes files: `path*` is executable, `path@` is a link, and a text of `None` removes the
    /// file.
    pub fn write(&self, dir: &str, files: &[(&str, &str)]) {
        for (path, text) in files {
            let bare = path.trim_end_matches(['*', '@']);
            let full = self.path(dir).join(bare);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            if path.ends_with('@') {
                symlink(text, &full).unwrap();
            } else {
                fs::write(&full, text).unwrap();
            }
            if path.ends_with('*') {
                fs::set_permissions(&full, fs::Permissions::from_mode(0o777)).unwrap();
            }
        }
    }

    /// Commits files to the repository `owner/name`, created if missing. Returns the commit.
    pub fn commit(&self, repo: &str, files: &[(&str, &str)]) -> String {
        let dir = format!("repos/{repo}");
        if !self.path(&dir).join(".git").exists() {
            fs::create_dir_all(self.path(&dir)).unwrap();
            self.git(repo, &["init", "-q", "-b", "main"]);
            self.git(repo, &["config", "uploadpack.allowFilter", "true"]);
        }
        self.write(&dir, files);
        self.git(repo, &["add", "-A"]);
        self.git(repo, &["commit", "-q", "--allow-empty", "-m", "c"]);
        self.git(repo, &["rev-parse", "HEAD"])
    }

    pub fn git(&self, repo: &str, args: &[&str]) -> String {
        let output = Command::new("git")
            .env_clear()
            .envs(self.env.vars())
            .current_dir(self.path("repos").join(repo))
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(args)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn with<T>(&self, test: impl FnOnce(Market) -> T) -> T {
        let base = Base::own(self.path("plugin"));
        test(Market {
            plugin_dir: &base,
            home: base.path(),
            env: &self.env,
            deadline: None,
            offline: false,
            mirror: self.env.text("AGENT_SKILLS_GITHUB_BASE"),
            progress: None,
            permit: Rc::new(Permit::any()),
            signing: Rc::new(SignatureChecker {
                demands: Box::new(|_, _| Vec::new()),
                known: KnownSigners::default(),
            }),
            dry_run: false,
        })
    }

    pub fn with_git<T>(&self, test: impl FnOnce(Git) -> T) -> T {
        let scratch = Dir::anchor(&self.path("")).unwrap();
        test(Git::new(Programs {
            env: &self.env,
            deadline: None,
            scratch: &scratch,
            progress: None,
        }))
    }

    pub fn install(&self, reference: &str) -> Result<Vec<InstalledSkill>> {
        self.install_with(reference, &InstallOptions::default())
    }

    pub fn install_with(
        &self,
        reference: &str,
        options: &InstallOptions,
    ) -> Result<Vec<InstalledSkill>> {
        self.with(|market| market.install(reference, options, &mut |_| Ok(true), &mut |_| {}))
    }

    /// The installed names, or the error's message and hint combined.
    pub fn names(&self, reference: &str) -> Result<Vec<String>, String> {
        let told = |error: Error| format!("{error} | {}", error.next_step().unwrap_or_default());
        let installed = self.install(reference).map_err(told)?;
        Ok(installed.iter().map(|one| one.name.clone()).collect())
    }

    pub fn skill_file(&self, path: &str) -> PathBuf {
        self.path("plugin/skills").join(path)
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.skill_file(path)).unwrap()
    }

    pub fn lockfile(&self) -> String {
        fs::read_to_string(self.path("plugin/skills.lock.json")).unwrap_or_default()
    }
}

/// Every path below a directory, to check that nothing else has changed.
pub fn everything(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            found.push(entry.path());
            if entry.file_type().unwrap().is_dir() {
                todo.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// A `SKILL.md`.
pub fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n---\n# {name}\n")
}
