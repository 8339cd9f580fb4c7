//! The input of a decision: the call and everything in force around it.

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
    /// The tool's name in the host's spelling.
    pub tool: &'a str,
    /// Its arguments; they should be an object.
    pub arguments: &'a Value,
    /// Which of our own tools it is, by exact name in our schema: any plugin's tool may begin with
    /// `skill_`.
    pub ours: Option<OurTool<'a>>,
}

/// One of our own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OurTool<'a> {
    /// Activates the skill of this name.
    Skill(&'a str),
    /// Reads a file of a skill.
    ReadSkillFile {
        /// The skill, if the call names it.
        skill: Option<&'a str>,
    },
    /// Runs a script of a skill.
    RunSkillScript {
        /// The directory of the script's skill, resolved as the tool resolves it.
        skill: Option<&'a Path>,
    },
    /// Waits for a script started earlier, or stops it; always one of the caller's own.
    Job,
    /// Loads and unloads skills. Each skill loaded also counts as a call of its own tool.
    Session,
    /// Records a change to a skill that the model proposes; the user decides about it.
    Propose {
        /// Whether it proposes a new skill.
        new: bool,
    },
    /// Finds, installs or removes skills.
    Marketplace {
        /// The action, if the call names it.
        action: Option<&'a str>,
    },
    /// The command line as a tool, for people, who reach it without a hook.
    Direct,
}

/// Everything in force around a call.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The restrictions of all skills activated in this session, oldest first, including replaced
    /// ones, whose denials stay in force.
    pub restrictions: &'a [Restriction],
    /// Denials from the configuration and the administrator's policy.
    pub policy_deny: &'a [Restriction],
    /// The user's settings.
    pub settings: &'a Settings,
    /// The directories that matter.
    pub places: &'a Places,
    /// Tools that the host attributes to MCP servers.
    pub mcp_tools: &'a BTreeSet<String>,
}

/// The directories that decisions depend on, as given: links are not resolved.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Where the host's shell starts.
    pub project_root: PathBuf,
    /// The host process's working directory, where some of its tools start.
    pub working_dir: PathBuf,
    /// What `~` means in a shell and in patterns, if it is known.
    pub home: Option<PathBuf>,
    /// Names of the variables in the initial environment of the host's shell; setting one exports
    /// it to every program. `None` if unknown.
    pub environment: Option<BTreeSet<String>>,
    /// The shell that runs the host's commands.
    pub shell: Shell,
    /// Whether `CDPATH` is set in the host's environment, so that `cd x` may lead elsewhere.
    pub cdpath: bool,
    /// What no call changes while a skill restricts.
    pub protected: ProtectedPlaces,
    /// Our own executable, which no command may run while anything is in force.
    pub executable: Option<PathBuf>,
    /// The directories where the host's shell looks for programs.
    pub path: Vec<PathBuf>,
}

impl Places {
    /// The path that a host tool uses for `written`: absolute, not yet normalised.
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
    /// The arguments, if they are an object.
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
