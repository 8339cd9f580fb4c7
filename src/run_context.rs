//! The environment of one run: directories, variables, the host's protocol. It knows no room.

use std::path::{Path, PathBuf};

use crate::host::agent::HookMode;
use crate::host::{Agent, Protocol};
use crate::sys::{Directories, Env, limits};
use skill_text::Words;

/// The subdirectories of a project that hold chibi's skills, in order of precedence.
pub const HOLDS: Words = Words(".chibi/skills .agents/skills .claude/skills");
/// Those of a home.
pub const HOME_HOLDS: Words = Words(".chibi/skills .agents/skills");
/// The subdirectories of a project that hold skills for some agent. Trust in a project covers them, and
/// none may be changed while a skill restricts.
pub const PROJECT_HOLDS: Words = Words(
    ".chibi/skills .agents/skills .claude/skills .codex/skills .cursor/skills \
     .gemini/skills .github/skills .opencode/skill .opencode/skills .qwen/skills",
);
/// A project's own configuration.
pub const PROJECT_CONFIG: &str = ".chibi/agent-skills.toml";

/// The environment of one run.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// Environment and working directory.
    pub env: Env,
    /// The directories of this installation.
    pub dirs: Directories,
    /// The host's protocol; `None` for `--schema` and for a person.
    pub protocol: Option<Protocol>,
    /// The agent that calls, if it is not chibi.
    pub agent: Option<CallingAgent>,
}

/// An agent other than chibi that calls a hook, and what its call says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallingAgent {
    /// The agent.
    pub agent: Agent,
    /// Its name for the session; that of the main agent if a subagent calls.
    pub session: String,
    /// The mode that the command line names.
    pub mode: Option<HookMode>,
    /// More directories of skills, such as those of a plugin.
    pub plugins: Vec<PathBuf>,
    /// The model, as far as its calls tell.
    pub model: Option<String>,
    /// The agent's version, as far as its calls tell.
    pub version: Option<String>,
}

impl CallingAgent {
    /// A call of which only the agent is known.
    pub fn of(agent: Agent) -> Self {
        Self {
            agent,
            session: String::new(),
            mode: None,
            plugins: Vec::new(),
            model: None,
            version: None,
        }
    }
}

impl RunContext {
    /// The context of a call.
    pub fn new(env: Env, protocol: Option<Protocol>) -> Self {
        let dirs = Directories::from_env(&env);
        Self {
            env,
            dirs,
            protocol,
            agent: None,
        }
    }

    /// The context of a call of another agent, in the directory and session that the call names.
    pub fn of_agent(env: Env, calling: CallingAgent) -> Self {
        Self {
            agent: Some(calling),
            // As from chibi, its answer is on standard output and its data was on standard input.
            ..Self::new(env, Some(Protocol::Stdin))
        }
    }

    /// The project root, absolute.
    pub fn project_dir(&self) -> PathBuf {
        self.env.cwd.join(self.env.project_root())
    }

    /// The canonical project root.
    pub fn real_project_dir(&self) -> PathBuf {
        real(&self.project_dir())
    }

    /// The directories from the working directory up to the project root, see
    /// [`RunContext::project_holders`].
    pub fn holders(&self) -> Vec<PathBuf> {
        self.project_holders(&self.env.cwd)
    }

    /// The directories from `from` up to the project root, nearest first, without those in the
    /// middle beyond [`limits::HOLDERS`]; only the root if `from` is outside it.
    pub fn project_holders(&self, from: &Path) -> Vec<PathBuf> {
        let root = self.project_dir();
        let real_root = real(&root);
        let real_from = if from == root {
            real_root.clone()
        } else {
            real(from)
        };
        if !real_from.starts_with(&real_root) {
            return vec![root];
        }
        let inside = |dir: &&Path| dir.starts_with(&real_root);
        let holders = real_from.ancestors().take_while(inside);
        let mut holders: Vec<PathBuf> = holders.map(Path::to_owned).collect();
        if holders.len() > limits::HOLDERS {
            holders.drain(limits::HOLDERS - 1..holders.len() - 1);
        }
        holders
    }

    /// The directory whose trust covers a project's skills directory, or a group of skills in it.
    pub fn holder_of(root: &Path) -> &Path {
        let place = Self::place_of(root).unwrap_or(root);
        place.ancestors().nth(2).unwrap_or(place)
    }

    /// The project's skills directory that is, or holds, `dir`.
    pub fn place_of(dir: &Path) -> Option<&Path> {
        let is_place = |dir: &&Path| PROJECT_HOLDS.iter().any(|place| dir.ends_with(place));
        dir.ancestors().find(is_place)
    }

    /// The user's configuration file.
    pub fn config_path(&self) -> PathBuf {
        self.dirs.plugin.join("config.toml")
    }

    /// The project's own configuration, if there is one.
    pub fn project_config_path(&self) -> PathBuf {
        self.project_dir().join(PROJECT_CONFIG)
    }
}

/// The canonical path, or the path itself if it cannot be resolved.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_directory_has_as_many_holders_as_a_shallow_one_may() {
        let root = tempfile::tempdir().unwrap();
        let real_root = root.path().canonicalize().unwrap();
        std::fs::create_dir(root.path().join(".git")).unwrap();
        for (depth, count) in [
            (0, 1),
            (limits::HOLDERS - 1, limits::HOLDERS),
            (100, limits::HOLDERS),
        ] {
            let cwd = real_root.join("d/".repeat(depth));
            std::fs::create_dir_all(&cwd).unwrap();
            let run = RunContext::new(Env::new([("HOME", "/nowhere")], &cwd), None);
            let holders = run.project_holders(&cwd);
            assert_eq!(holders.len(), count, "{depth}");
            assert_eq!(
                (&holders[0], holders.last()),
                (&real(&cwd), Some(&real_root))
            );
        }
    }
}
