//! The environment and the working directory of the process, read once, so that a run depends only
//! on its input; and where this installation keeps its files.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::files;

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
        let invoked = std::env::args_os().next().map(PathBuf::from);
        Self {
            vars: std::env::vars_os().collect(),
            cwd: std::env::current_dir().unwrap_or_default(),
            exe: std::env::current_exe().ok(),
            invoked: invoked.filter(|path| path.is_absolute()),
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

/// The directory of this installation and its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// The plugin directory `<chibi home>/plugins/agent-skills`; without chibi,
    /// `${XDG_DATA_HOME:-~/.local/share}/agent-skills`.
    pub plugin: PathBuf,
}

impl Directories {
    /// `AGENT_SKILLS_HOME`; else the directory of our executable, if the host loads plugins from it
    /// (the only reliable trace of `--home`, docs/hosts.md#environment); else the data
    /// directory, if there is one (`install.sh --for` makes it); else
    /// `${CHIBI_HOME:-~/.chibi}/plugins/agent-skills`.
    pub fn from_env(env: &Env) -> Self {
        const BELOW: &str = "plugins/agent-skills";
        let own = || Some(env.exe.as_deref()?.parent()?.to_owned());
        let chibi = || {
            let home = env
                .path("CHIBI_HOME")
                .or_else(|| Some(env.home()?.join(".chibi")));
            Some(home?.join(BELOW))
        };
        let plugin = env.path("AGENT_SKILLS_HOME");
        let plugin = plugin.or_else(|| own().filter(|dir| dir.ends_with(BELOW)));
        let data = || data(env).filter(|dir| dir.is_dir());
        // Without a home, use a place to which nobody else can write, never the working directory.
        let plugin = plugin.or_else(data).or_else(chibi);
        let plugin = plugin.unwrap_or_else(|| Path::new("/.chibi").join(BELOW));
        Self {
            plugin: env.cwd.join(plugin),
        }
    }

    /// Whether this installation is one for other agents than chibi, in the data directory.
    pub fn is_without_chibi(&self, env: &Env) -> bool {
        data(env).is_some_and(|data| data == self.plugin)
    }

    /// The directory of the session records: the plugin directory or, if that is not writable, the
    /// user's state directory.
    pub fn state(&self, env: &Env) -> PathBuf {
        let [plugin, state, ..] = self.private(env);
        if files::is_writable(&plugin) {
            plugin
        } else {
            state
        }
    }

    /// The directories that are ours alone: the plugin directory, our state directory, and our data
    /// directory, which decides where the plugin directory is even if there is none. Without a home,
    /// all are the plugin directory.
    pub fn private(&self, env: &Env) -> [PathBuf; 3] {
        let places = [base(env, "XDG_STATE_HOME", ".local/state"), data(env)];
        let [state, data] = places.map(|place| place.unwrap_or_else(|| self.plugin.clone()));
        [self.plugin.clone(), state, data]
    }

    /// The directory of installed skills. Every entry in it is a skill.
    pub fn skills(&self) -> PathBuf {
        self.plugin.join("skills")
    }
}

/// Our data directory of this user.
fn data(env: &Env) -> Option<PathBuf> {
    base(env, "XDG_DATA_HOME", ".local/share")
}

/// Our directory in one of the user's base directories (XDG). Relative ones do not count.
fn base(env: &Env, variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = env.path(variable).filter(|path| path.is_absolute());
    let place = set.or_else(|| Some(env.home()?.join(below_home)))?;
    Some(place.join("agent-skills"))
}

#[cfg(test)]
mod directories_tests {
    use super::*;

    #[test]
    fn the_plugin_directory_is_found_in_the_documented_order() {
        let vars = [
            ("AGENT_SKILLS_HOME", "/a"),
            ("CHIBI_HOME", "/c"),
            ("HOME", "/h"),
        ];
        for (from, exe, expected) in [
            (0, "/p/plugins/agent-skills/agent-skills", "/a"),
            (
                1,
                "/p/plugins/agent-skills/agent-skills",
                "/p/plugins/agent-skills",
            ),
            (1, "/usr/bin/agent-skills", "/c/plugins/agent-skills"),
            (2, "/usr/bin/agent-skills", "/h/.chibi/plugins/agent-skills"),
        ] {
            let mut env = Env::new(vars[from..].iter().copied(), Path::new("/w"));
            env.exe = Some(PathBuf::from(exe));
            assert_eq!(Directories::from_env(&env).plugin, Path::new(expected));
        }
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join(".local/share/agent-skills");
        std::fs::create_dir_all(&data).unwrap();
        let found = |exe: &str| {
            let mut env = Env::new([("HOME", home.path())], Path::new("/w"));
            env.exe = Some(PathBuf::from(exe));
            let dirs = Directories::from_env(&env);
            (dirs.is_without_chibi(&env), dirs.plugin)
        };
        assert_eq!(found("/h/.local/bin/agent-skills"), (true, data));
        let plugin = PathBuf::from("/p/plugins/agent-skills");
        assert_eq!(found("/p/plugins/agent-skills/x"), (false, plugin));
        let relative = Env::new([("AGENT_SKILLS_HOME", "x")], Path::new("/w"));
        assert_eq!(Directories::from_env(&relative).plugin, Path::new("/w/x"));
    }
}
