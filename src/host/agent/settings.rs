//! What a connection to an agent consists of: its programs, its configuration files and the form of
//! an entry in them. Only types and what follows from them; each agent's facts are in its file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::table::Moment;
use super::{Agent, Mode};
use crate::error::{Error, named};
use crate::sys::Env;
use crate::sys::name_list::Words;

/// For whom an agent is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// This user, in every project.
    User,
    /// One project.
    Project,
    /// Every user of the machine; only an administrator writes there.
    Managed,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Managed];

    /// Its word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Managed => "managed",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        named(word, "a scope", &Self::ALL, Self::as_str)
    }
}

/// The directory of an agent's files for one user.
#[derive(Debug, Clone, Copy)]
pub struct Home {
    /// The variable that names another place.
    pub variable: Option<&'static str>,
    /// The directory below the place that the variable names; empty for that place itself.
    pub in_variable: &'static str,
    /// The directory below the home directory without that variable.
    pub below_home: &'static str,
}

impl Home {
    /// The directory of this user; `None` without a home directory.
    pub fn directory(self, env: &Env) -> Option<PathBuf> {
        let named = self.variable.and_then(|name| env.path(name));
        if let Some(named) = named.filter(|path| path.is_absolute()) {
            return Some(match self.in_variable {
                "" => named,
                below => named.join(below),
            });
        }
        Some(env.home()?.join(self.below_home))
    }

    /// Where a directory of this user is that is usually at `dir` below the home, or below the place
    /// that a variable names, as in `$NAME/dir`. A variable that names a home, not the agent's own
    /// directory, moves each of them.
    pub fn place(self, env: &Env, dir: &str) -> Option<PathBuf> {
        if let Some(named) = dir.strip_prefix('$') {
            let (variable, below) = named.split_once('/').unwrap_or((named, ""));
            let place = env.cwd.join(env.path(variable)?);
            return Some(if below.is_empty() {
                place
            } else {
                place.join(below)
            });
        }
        let own = self.directory(env)?;
        match Path::new(dir).strip_prefix(self.below_home) {
            Ok(below) => Some(own.join(below)),
            Err(_) if self.in_variable == self.below_home => Some(own.parent()?.join(dir)),
            Err(_) => Some(env.home()?.join(dir)),
        }
    }
}

/// What an agent's configuration is like, and what else decides about its hooks.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Names of its program, the usual one first: what runs below a program of such a name may be the
    /// model's.
    pub programs: &'static [&'static str],
    /// Its npm package, whose scripts node runs under other names.
    pub package: Option<&'static str>,
    /// An editor that contains it, below which a person has a terminal.
    pub editor: Option<&'static str>,
    /// Its directory of this user.
    pub home: Home,
    /// Our file in that directory.
    pub user: &'static str,
    /// Our file in a project, from the project's root.
    pub project: &'static str,
    /// What is to be said before anything is written into a project: who else reads that file, and
    /// what happens where this program is missing.
    pub project_note: &'static str,
    /// Our file for every user of the machine, absolute; `None` if there is no such place.
    pub managed: Option<&'static str>,
    /// The form of our entries.
    pub format: Format,
    /// The pattern of the entry that is asked before each tool call; `None` where all are meant
    /// without one.
    pub gate: Option<&'static str>,
    /// The pattern of the entry that is told of an activation by the model.
    pub after: Option<&'static str>,
    /// Those events of its table that get no entry: it does not know them, or tells them anyway.
    pub unregistered: &'static [&'static str],
    /// What else the agent reads hooks, permissions or plugins from: in its directory of the user,
    /// in a project, and absolute paths.
    pub watched: Watched,
    /// What a person has to do once so that the agent runs our entry.
    pub trust: Option<&'static str>,
    /// What in its settings switches hooks off.
    pub switches: &'static [Switch],
    /// Calls that it does not tell any hook of.
    pub unseen: &'static [&'static str],
}

/// A key of an agent's settings that switches hooks off.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    /// The files in its directory of this user.
    pub user: &'static [&'static str],
    /// The files in a project.
    pub project: &'static [&'static str],
    /// The key, table by table.
    pub key: &'static [&'static str],
    /// The value that does it.
    pub off: Off,
}

/// A value that switches hooks off.
#[derive(Debug, Clone, Copy)]
pub enum Off {
    /// This one, for all hooks.
    Is(bool),
    /// A list with the names of single hooks.
    Names,
}

/// How entries are written.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    /// JSON, or TOML where the file's name says so: `hooks.EVENT` is a list.
    Hooks(Handler),
    /// A script that the agent loads as a plugin.
    Plugin,
}

/// The form of one entry.
#[derive(Debug, Clone, Copy)]
pub struct Handler {
    /// Whether entries of one matcher are a group: `{"matcher": …, "hooks": [entry]}`.
    pub grouped: bool,
    /// The scopes whose file begins with `"version": 1`.
    pub versioned: &'static [Scope],
    /// Whether an entry says `"type": "command"`.
    pub typed: bool,
    /// How the program and its words are written.
    pub command: Command,
    /// The key of the time limit and its value, 10 seconds in the agent's unit.
    pub timeout: (&'static str, u32),
    /// Further keys, each with the value.
    pub with: &'static [(&'static str, Literal)],
}

impl Handler {
    /// What most agents have.
    pub(super) const USUAL: Self = Self {
        grouped: true,
        versioned: &[],
        typed: true,
        command: Command::Shell,
        timeout: ("timeout", 10),
        with: &[],
    };
}

/// How an entry names a program and its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// The key of the program; its words are in `args`. No shell is involved.
    Words(&'static str),
    /// `command`, which a shell reads.
    Shell,
}

/// The value of a further key.
#[derive(Debug, Clone, Copy)]
pub enum Literal {
    /// A text.
    Text(&'static str),
    /// `true`.
    True,
}

/// Paths that decide about an agent's hooks besides the files that entries are written to.
#[derive(Debug, Clone, Copy)]
pub struct Watched {
    /// In its directory of the user; `""` is that directory as a whole.
    pub user: Words,
    /// Below the user's home directory, wherever that directory is, or below what a variable names, as
    /// in `$NAME/dir`.
    pub home: Words,
    /// In a project.
    pub project: Words,
    /// Absolute.
    pub machine: Words,
}

impl Agent {
    /// The events that get an entry, each with its pattern of tools.
    pub fn registered(self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
        let settings = self.settings();
        let events = self.table().events.iter();
        let events = events.filter(|(name, _)| !settings.unregistered.contains(name));
        events.map(|(name, moment)| match moment {
            Moment::BeforeTool | Moment::Asking => (*name, settings.gate),
            Moment::AfterTool => (*name, settings.after),
            _ => (*name, None),
        })
    }

    /// What `mode` does there that is less than it says; `None` if it does all of it.
    pub fn lacks(self, mode: Mode) -> Option<&'static str> {
        let serves = self.table().serves;
        match mode {
            Mode::Ask if !serves.ask => {
                Some("it cannot ask its user for a hook: what would be asked about is denied")
            }
            Mode::Grant if !serves.grant => Some("it takes no grant from a hook, so it still asks"),
            Mode::Both if !serves.grant => {
                Some("it takes no grant from a hook: this restricts only")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_is_asked_before_every_tool_call() {
        for agent in Agent::ALL {
            let gate = |name: &str| agent.table().moment(name) == Some(Moment::BeforeTool);
            let (_, matcher) = agent.registered().find(|(name, _)| gate(name)).unwrap();
            assert!(matches!(matcher, None | Some("*" | ".*")), "{agent}");
            let known = |name: &&&str| agent.table().moment(name).is_some();
            let unregistered = agent.settings().unregistered;
            assert_eq!(
                unregistered.iter().filter(known).count(),
                unregistered.len()
            );
        }
    }

    #[test]
    fn words_of_scopes_and_modes_are_read_back() {
        for scope in Scope::ALL {
            assert_eq!(scope.as_str().parse::<Scope>().unwrap(), scope);
        }
        for mode in Mode::ALL {
            assert_eq!(mode.as_str().parse::<Mode>().unwrap(), mode);
        }
        let error = "all".parse::<Mode>().unwrap_err().to_string();
        assert!(error.contains("restrict, grant, both, ask"), "{error}");
    }

    #[test]
    fn what_an_agent_cannot_do_is_said() {
        assert!(Agent::ClaudeCode.lacks(Mode::Ask).is_none());
        assert!(Agent::Gemini.lacks(Mode::Restrict).is_none());
        for mode in [Mode::Grant, Mode::Both, Mode::Ask] {
            assert!(Agent::Codex.lacks(mode).is_some(), "{mode}");
        }
    }
}
