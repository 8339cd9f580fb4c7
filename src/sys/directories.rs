//! Where this installation keeps its files.

use std::path::{Path, PathBuf};

use super::{Env, files};

/// The plugin directory and its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// `<chibi home>/plugins/agent-skills`.
    pub plugin: PathBuf,
}

impl Directories {
    /// `AGENT_SKILLS_HOME`; else the directory of our executable, if the host loads plugins from it
    /// (the only reliable trace of `--home`, docs/spec/hosts.md#environment); else
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
        // Without a home, use a place to which nobody else can write, never the working directory.
        let plugin = plugin
            .or_else(chibi)
            .unwrap_or_else(|| Path::new("/.chibi").join(BELOW));
        Self {
            plugin: env.cwd.join(plugin),
        }
    }

    /// The directory of the session records: the plugin directory or, if that is not writable, the
    /// user's state directory.
    pub fn state(&self, env: &Env) -> PathBuf {
        let [plugin, state, _] = self.private(env);
        if files::is_writable(&plugin) {
            plugin
        } else {
            state
        }
    }

    /// The directories that are ours alone: the plugin directory, and our state and cache
    /// directories. Without a home, all three are the plugin directory.
    pub fn private(&self, env: &Env) -> [PathBuf; 3] {
        let place = |variable: &str, below_home: &str| {
            let set = env.path(variable).filter(|path| path.is_absolute());
            let place = set.or_else(|| Some(env.home()?.join(below_home)));
            place.map_or_else(|| self.plugin.clone(), |place| place.join("agent-skills"))
        };
        [
            self.plugin.clone(),
            place("XDG_STATE_HOME", ".local/state"),
            place("XDG_CACHE_HOME", ".cache"),
        ]
    }

    /// The directory of installed skills. Every entry in it is a skill.
    pub fn skills(&self) -> PathBuf {
        self.plugin.join("skills")
    }
}

#[cfg(test)]
mod tests {
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
        let relative = Env::new([("AGENT_SKILLS_HOME", "x")], Path::new("/w"));
        assert_eq!(Directories::from_env(&relative).plugin, Path::new("/w/x"));
    }
}
