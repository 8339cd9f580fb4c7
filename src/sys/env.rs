//! What this process was given: its environment and its working directory, read once so that a
//! run is a function of its input.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{files, limits, process};

/// A snapshot of environment variables, working directory and our own executable.
#[derive(Debug, Clone, Default)]
pub struct Env {
    vars: HashMap<OsString, OsString>,
    /// The working directory; empty when it no longer exists.
    pub cwd: PathBuf,
    /// Our own executable, as the operating system tells it.
    pub exe: Option<PathBuf>,
    /// Looked for once: a call asks for it again and again.
    project: OnceLock<PathBuf>,
}

impl Env {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self {
            vars: std::env::vars_os().collect(),
            cwd: std::env::current_dir().unwrap_or_default(),
            exe: std::env::current_exe().ok(),
            project: OnceLock::new(),
        }
    }

    /// An environment made by hand, for tests and benches.
    pub fn new<K: Into<OsString>, V: Into<OsString>>(
        vars: impl IntoIterator<Item = (K, V)>,
        cwd: &Path,
    ) -> Self {
        Self {
            vars: vars
                .into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
            cwd: cwd.to_owned(),
            exe: None,
            project: OnceLock::new(),
        }
    }

    /// A variable's value, also when it is empty.
    pub fn os(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// A variable as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self, name: &str) -> Option<String> {
        self.os(name)
            .map(|value| value.to_string_lossy().into_owned())
    }

    /// A variable that names a path; empty counts as unset.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    }

    /// The user's home directory: `$HOME`, else what the system's user database says.
    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME").or_else(user_home)
    }

    /// The user's project: `CHIBI_PROJECT_ROOT`, else the version-control root above the working
    /// directory, else the working directory (as the host itself does, HOST.md §2).
    pub fn project_root(&self) -> PathBuf {
        if let Some(root) = self.path("CHIBI_PROJECT_ROOT") {
            return root;
        }
        let has_vcs = |dir: &&Path| [".git", ".hg", ".jj"].iter().any(|m| dir.join(m).exists());
        let search = || self.cwd.ancestors().find(has_vcs).unwrap_or(&self.cwd);
        self.project.get_or_init(|| search().to_owned()).clone()
    }

    /// All variables.
    pub fn vars(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars
            .iter()
            .map(|(k, v)| (k.as_os_str(), v.as_os_str()))
    }
}

/// What the user database says. Its file is read here: the C library's way would make up a quarter
/// of a static executable, and would not work there.
fn user_home() -> Option<PathBuf> {
    let users = files::read_capped(Path::new("/etc/passwd"), limits::CONFIG_FILE).ok();
    let home = users.and_then(|users| home_in(&users, process::effective_user()));
    home.or_else(other_home)
}

/// Where the file has no people in it, as on macOS.
#[cfg(not(target_os = "linux"))]
fn other_home() -> Option<PathBuf> {
    std::env::home_dir()
}

#[cfg(target_os = "linux")]
fn other_home() -> Option<PathBuf> {
    None
}

fn home_in(users: &[u8], user: u32) -> Option<PathBuf> {
    let user = user.to_string();
    let mut lines = users.split(|byte| *byte == b'\n');
    let home = lines.find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':').skip(2);
        (fields.next()? == user.as_bytes()).then(|| fields.nth(2))?
    })?;
    (!home.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_variable_the_user_database_knows_the_home() {
        let users = b"root:x:0:0:root:/root:/bin/sh\nbroken\nada:x:1000:1000:::/bin/sh\nbob:x:1001:1:B,,:/home/b:/bin/sh\n";
        assert_eq!(home_in(users, 0), Some("/root".into()));
        assert_eq!(home_in(users, 1001), Some("/home/b".into()));
        assert_eq!(home_in(users, 1000), None);
        assert_eq!(home_in(users, 7), None);
    }
}
