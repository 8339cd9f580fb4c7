//! What a decision is made from: the call, and everything in force around it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::protected::ProtectedPlaces;
use super::restriction::Restriction;
use super::settings::Settings;
use crate::host::paths::{self, Base};
use crate::host::shell::Shell;

/// A tool call as the host is about to make it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool's name as the host has it.
    pub tool: &'a str,
    /// Its arguments, which should be an object.
    pub arguments: &'a Value,
    /// Which of our own tools it is, found by exact name in our schema: any plugin may have a
    /// tool whose name begins with `skill_`.
    pub ours: Option<OurTool<'a>>,
}

/// One of our own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OurTool<'a> {
    /// Activates the skill of this name.
    Skill(&'a str),
    /// Reads a file of a skill.
    ReadSkillFile {
        /// Whose file, if the call says so.
        skill: Option<&'a str>,
    },
    /// Runs a script of a skill.
    RunSkillScript {
        /// The directory of the skill whose script it is, found as the tool finds it.
        skill: Option<&'a Path>,
    },
    /// Waits for a script that was started before, or stops it: always the caller's own one.
    Job,
    /// Loads and unloads skills. Each skill that it loads is a call of that skill's own tool too.
    Session,
    /// Writes down what the model would change in a skill, for the user to decide about.
    Propose {
        /// Whether it would make a new one.
        new: bool,
    },
    /// Looks for, installs or removes skills.
    Marketplace {
        /// What to do, if the call says so.
        action: Option<&'a str>,
    },
    /// The command line as a tool; for people, who reach it without a hook.
    Direct,
}

/// Everything in force around a call.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The restrictions of the skills activated since the session began, oldest first, those
    /// that were replaced included: their denials last.
    pub restrictions: &'a [Restriction],
    /// Denials of the configuration and of the administrator's policy.
    pub policy_deny: &'a [Restriction],
    /// The user's choices.
    pub settings: &'a Settings,
    /// Directories that matter.
    pub places: &'a Places,
    /// Tools that the host said belong to MCP servers.
    pub mcp_tools: &'a BTreeSet<String>,
}

/// Directories that decisions are about, as they were given: links in them are not resolved.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Where the host's shell starts.
    pub project_root: PathBuf,
    /// Where the host's process is: some of its tools begin there.
    pub working_dir: PathBuf,
    /// What `~` stands for in a shell and in patterns, if anything.
    pub home: Option<PathBuf>,
    /// The names of the variables that the host's shell begins with: a command that sets one of
    /// them gives it to every program. `None` where they are not known.
    pub environment: Option<BTreeSet<String>>,
    /// The shell that runs the host's commands.
    pub shell: Shell,
    /// Whether `CDPATH` is set in the host's environment, so that `cd x` may lead elsewhere.
    pub cdpath: bool,
    /// What no call changes while a skill restricts.
    pub protected: ProtectedPlaces,
    /// Our own executable, which no command runs while anything is in force.
    pub executable: Option<PathBuf>,
    /// Where the host's shell looks for programs.
    pub path: Vec<PathBuf>,
}

impl Places {
    /// Where one of the host's tools goes for `written`: an absolute path, not yet normal.
    pub fn of_tool(&self, tool: &str, written: &str) -> PathBuf {
        let meaning = paths::meaning(tool);
        let below_home = written.strip_prefix('~').zip(self.home.as_deref());
        match below_home {
            Some((rest, home)) if meaning.expands_tilde && is_below(rest) => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => self.begin(meaning.base).join(written),
        }
    }

    fn begin(&self, base: Base) -> &Path {
        match base {
            Base::WorkingDirectory if self.working_dir.is_absolute() => &self.working_dir,
            Base::WorkingDirectory | Base::Project => &self.project_root,
        }
    }
}

fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

impl<'a> Call<'a> {
    /// The arguments, if they are what arguments have to be.
    pub fn object(&self) -> Option<&'a Map<String, Value>> {
        self.arguments.as_object()
    }

    /// A string argument.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.arguments.get(key)?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_directory_where_the_tool_expands_it() {
        let places = Places {
            project_root: "/p".into(),
            home: Some("/h".into()),
            ..Places::default()
        };
        for (written, path) in [("~", "/h"), ("~/x", "/h/x"), ("~x", "/p/~x"), ("x", "/p/x")] {
            assert_eq!(
                places.of_tool("shell_exec", written),
                Path::new(path),
                "{written}"
            );
        }
        assert_eq!(places.of_tool("file_head", "~/x"), Path::new("/p/~/x"));
    }
}
