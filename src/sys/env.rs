//! The environment and the working directory of the process, read once, so that a run depends only
//! on its input.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A snapshot of environment variables, working directory and our own executable.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// Of two with one name, the last counts.
    vars: Vec<(OsString, OsString)>,
    /// The working directory; empty if it no longer exists.
    pub cwd: PathBuf,
    /// Our own executable, as the operating system reports it.
    pub exe: Option<PathBuf>,
    /// The path by which this program was started, if that is absolute: a link, perhaps.
    pub invoked: Option<PathBuf>,
    /// Cached, because one call needs it many times.
    project: OnceLock<PathBuf>,
}

impl Env {
    /// The environment of this process.
    pub fn from_process() -> Self {
        Self {
            vars: std::env::vars_os().collect(),
            cwd: std::env::current_dir().unwrap_or_default(),
            exe: std::env::current_exe().ok(),
            invoked: std::env::args_os()
                .next()
                .map(PathBuf::from)
                .filter(|path| path.is_absolute()),
            ..Self::default()
        }
    }

    /// An environment for tests and benches.
    pub fn new<K: Into<OsString>, V: Into<OsString>>(
        vars: impl IntoIterator<Item = (K, V)>,
        cwd: &Path,
    ) -> Self {
        let vars = vars.into_iter().map(|(k, v)| (k.into(), v.into()));
        Self {
            vars: vars.collect(),
            cwd: cwd.to_owned(),
            ..Self::default()
        }
    }

    /// The same in another working directory, whose project is `project` if that is known; chibi's
    /// variable for it does not count.
    #[must_use]
    pub fn in_directory(mut self, cwd: PathBuf, project: Option<PathBuf>) -> Self {
        self.vars.retain(|(name, _)| name != "CHIBI_PROJECT_ROOT");
        self.cwd = cwd;
        self.project = project.map(OnceLock::from).unwrap_or_default();
        self
    }

    /// A variable's value, which may be empty.
    pub fn os(&self, name: &str) -> Option<&OsStr> {
        let mut vars = self.vars.iter().rev();
        vars.find(|(one, _)| one == name)
            .map(|(_, value)| value.as_os_str())
    }

    /// A variable as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self, name: &str) -> Option<String> {
        Some(self.os(name)?.to_string_lossy().into_owned())
    }

    /// A variable that contains a path. An empty one counts as unset.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    }

    /// The user's home directory: `$HOME`, else the entry in the system's user database.
    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME").or_else(dirs::home_dir)
    }

    /// The root of the user's project: `CHIBI_PROJECT_ROOT`, else the version control root above
    /// the working directory, else the working directory, as in the host
    /// (docs/hosts.md#environment).
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
        let vars = self.vars.iter();
        vars.map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}
