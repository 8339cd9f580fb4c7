//! The shape of an agent's table: what its events, tools and arguments are to us, where its
//! configuration is, and the form of an entry of ours in it.

#![allow(
    clippy::struct_excessive_bools,
    reason = "each is a row of the agent's table"
)]

use std::path::{Path, PathBuf};

use crate::error::named;
use crate::sys::Env;
use skill_permission::vocabulary::{AgentTool, Capability, SH, Shell, Vocabulary};
use skill_text::{Names, Words};

/// Everything that differs between agents.
#[derive(Debug)]
pub struct AgentProfile {
    /// The keys of a call's JSON.
    pub keys: CallKeys,
    /// Its events that matter here; all others are answered with silence.
    pub events: &'static [(&'static str, EventKind)],
    /// How a new prompt of the user shows.
    pub prompts: PromptDetection,
    /// How prompts begin that it submits by itself, such as one that tells that a command in the
    /// background has ended: they are nobody's, and end nothing.
    pub own_prompts: &'static [&'static str],
    /// Its tools. Any other keeps its own name.
    pub vocabulary: Vocabulary,
    /// What reads the text of its shell tool.
    pub shell: Shell,
    /// Whether that is the user's own shell, whatever it is.
    pub users_shell: bool,
    /// Whether the programs of that shell are its tools for reading, searching or listing files:
    /// it has no tool of its own for one of these.
    pub reads_by_shell: bool,
    /// How it is answered.
    pub answer_format: AnswerFormat,
    /// Whether a hook's `allow` spares the person the question.
    pub grants: bool,
    /// Whether a hook may have the person asked.
    pub asks: bool,
    /// The user's own rules about commands, if a hook may change a command without allowing it; one
    /// that such a rule could match is not changed.
    pub command_rules: Option<&'static CommandRuleFiles>,
    /// The variables that tell a hook where the agent was started. Without one of them, that is where
    /// the hook itself was started.
    pub start_variables: &'static [&'static str],
    /// Whether what the call says comes before that.
    pub call_directory_first: bool,
    /// Where it finds skills.
    pub skills: SkillLocations,
    /// Which skills have `` !`command` `` run when they become active.
    pub injects: CommandInjection,
    /// Whether it runs the hooks in a skill's frontmatter once that is loaded.
    pub runs_hooks: bool,
    /// Whether it has no tool for skills: reading a `SKILL.md`, or running a script beside it,
    /// activates the skill.
    pub reads_activate: bool,
    /// How a prompt shows that a skill's name was typed, if no event of its own tells that.
    pub skill_calls: &'static [CallSyntax],
    /// Whether a program that it started can be typed into without another call of a hook.
    pub types_unseen: bool,
    /// Names of its program, the usual one first: what runs below a program of such a name may be the
    /// model's.
    pub programs: &'static [&'static str],
    /// Its npm package, whose scripts node runs under other names.
    pub package: Option<&'static str>,
    /// An editor that contains it, below which a person has a terminal.
    pub editor: Option<&'static str>,
    /// Its directory of this user.
    pub home: AgentHome,
    /// Our file in that directory.
    pub user: &'static str,
    /// Our file in a project, from the project's root.
    pub project: &'static str,
    /// What is to be said before anything is written into a project: who else reads that file, and
    /// what happens where this program is missing.
    pub project_note: &'static str,
    /// Our file for every user of the machine, absolute; `None` if there is no such place.
    pub managed: Option<&'static str>,
    /// Whether our file is a script that the agent loads as a plugin. Else it is JSON, or TOML where the
    /// file's name says so, in which `hooks.EVENT` is a list.
    pub is_plugin: bool,
    /// Whether entries of one matcher are a group: `{"matcher": …, "hooks": [entry]}`.
    pub grouped: bool,
    /// The scopes whose file begins with `"version": 1`.
    pub versioned: &'static [ConnectionScope],
    /// Whether an entry says `"type": "command"`; else it says `"failClosed": true`.
    pub typed_entries: bool,
    /// Whether an entry has our name.
    pub named_entries: bool,
    /// The key of the program, whose words are in `args`. Without one `command` is for a shell.
    pub program_key: Option<&'static str>,
    /// The key of the time limit and its value, 10 seconds in the agent's unit.
    pub timeout: (&'static str, u32),
    /// The pattern of the entry that is asked before each tool call; `None` where all are meant
    /// without one.
    pub before_tool_pattern: Option<&'static str>,
    /// The pattern of the entry that is told of an activation by the model.
    pub after_tool_pattern: Option<&'static str>,
    /// Those events of its table that get no entry: it does not know them, or tells them anyway.
    pub unregistered: &'static [&'static str],
    /// What else it reads hooks, permissions or plugins from, in its directory of this user; `""` is
    /// that directory as a whole.
    pub watched: Words,
    /// The same below the user's home directory, wherever that directory is, or below what a variable
    /// names, as in `$NAME/dir`.
    pub watched_home: Words,
    /// The same in a project.
    pub watched_project: Words,
    /// The same as an absolute path.
    pub watched_machine: &'static str,
    /// What a person has to do once so that the agent runs our entry.
    pub trust: Option<&'static str>,
    /// The keys of its settings that switch hooks off, tables separated by dots, with the value that
    /// does it.
    pub off_switches: &'static [(&'static str, HooksOffValue)],
    /// The files of these settings in its directory of this user.
    pub switched_in: Words,
    /// The same in a project.
    pub switched_in_project: Words,
    /// Calls that it does not tell any hook of.
    pub unseen: &'static [&'static str],
}

impl AgentProfile {
    /// What an agent is like whose hooks are modelled on Claude Code's, with nothing unusual.
    pub(super) const USUAL: Self = Self {
        keys: CallKeys::USUAL,
        events: &[],
        prompts: PromptDetection::ByIdentity,
        own_prompts: &[],
        vocabulary: Vocabulary::of(&[]),
        shell: SH,
        users_shell: false,
        reads_by_shell: false,
        answer_format: AnswerFormat::Claude {
            may_give_reason: false,
        },
        grants: false,
        asks: false,
        command_rules: None,
        start_variables: &[],
        call_directory_first: false,
        skills: SkillLocations::NONE,
        injects: CommandInjection::No,
        runs_hooks: false,
        reads_activate: false,
        skill_calls: &[],
        types_unseen: false,
        programs: &[],
        package: None,
        editor: None,
        home: AgentHome::new(None, "", ""),
        user: "settings.json",
        project: "",
        project_note: "",
        managed: None,
        is_plugin: false,
        grouped: true,
        versioned: &[],
        typed_entries: true,
        named_entries: false,
        program_key: None,
        timeout: ("timeout", 10),
        before_tool_pattern: None,
        after_tool_pattern: None,
        unregistered: &[],
        watched: Words(""),
        watched_home: Words(""),
        watched_project: Words(""),
        watched_machine: "",
        trust: None,
        off_switches: &[],
        switched_in: Words("settings.json"),
        switched_in_project: Words(""),
        unseen: &[],
    };
}

/// The keys of a call's JSON. An absent one is written `""`.
#[derive(Debug)]
pub struct CallKeys {
    /// The event.
    pub event: &'static str,
    /// The session.
    pub session: &'static str,
    /// Of a subagent with a session of its own, the session that started it.
    pub parent: &'static str,
    /// What only calls of subagents have.
    pub subagent: &'static str,
    /// The identity of the user's prompt.
    pub prompt: &'static str,
    /// The working directory.
    pub cwd: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: &'static str,
    /// The prompt's text.
    pub text: &'static str,
    /// The name of a typed command.
    pub command: &'static str,
    /// Its arguments.
    pub command_arguments: &'static str,
}

impl CallKeys {
    /// Those of Claude Code's hooks and of hooks modelled on them.
    pub(super) const USUAL: Self = Self {
        event: "hook_event_name",
        session: "session_id",
        parent: "",
        subagent: "agent_id",
        prompt: "prompt_id",
        cwd: "cwd",
        tool: "tool_name",
        arguments: "tool_input",
        text: "prompt",
        command: "command_name",
        command_arguments: "command_args",
    };
}

/// What an event is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A tool is about to run.
    BeforeTool,
    /// The user is about to be asked about a tool, before [`EventKind::BeforeTool`] comes.
    Asking,
    /// A tool has run.
    AfterTool,
    /// The user typed a command's name, which is about to be expanded.
    Typed,
    /// A prompt was submitted.
    Prompt,
    /// The session ends.
    End,
}

/// How a new prompt of the user shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptDetection {
    /// By [`EventKind::Prompt`] of the main agent with a text, and another identity under
    /// [`CallKeys::prompt`] than the last one: the event may come again. Another identity in other calls
    /// ends nothing, since the agent takes turns of its own.
    ByIdentity,
    /// By [`EventKind::Prompt`] of the main agent.
    ByEvent,
    /// As [`PromptDetection::ByEvent`], and a typed command comes before the event of its own prompt.
    ByEventAfterTyping,
}

/// How an agent is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFormat {
    /// `hookSpecificOutput` with `permissionDecision`, and `decision: block` for prompts.
    Claude {
        /// Whether it takes `additionalContext` for the model.
        may_give_reason: bool,
    },
    /// `decision: deny`.
    Decision,
    /// `permission: deny`, and `continue: false` for prompts.
    Permission,
}

/// Where a user's rules about commands are in an agent's own configuration.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandRuleFiles {
    /// Files below the home. What ends in `/` is a directory with [`CommandRuleFiles::files`]; a last part `*` in
    /// it is each directory there.
    pub user: Words,
    /// The same in the project.
    pub project: Words,
    /// The administrator's, the same.
    pub machine: Words,
    /// The files in these directories that may have such rules, and directories with such files.
    pub files: Words,
    /// Variables that give it further configuration.
    pub variables: Words,
    /// What stands in a file with such rules, and the beginning of an escape in JSON.
    pub marks: Words,
}

/// How a prompt shows that its user called a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallSyntax {
    /// By this sign before a name, anywhere.
    Anywhere(char),
    /// By this sign before a name, at the beginning.
    AtStart(char),
    /// By a name between these texts of the agent's own, at the beginning.
    Between(&'static str, &'static str),
}

/// Which skills have `` !`command` `` run when they become active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandInjection {
    /// None: it stays text.
    No,
    /// Every skill.
    Always,
    /// Those that the user calls by typing their name.
    Typed,
}

/// Where an agent finds skills, and which of them a name means.
#[derive(Debug)]
pub struct SkillLocations {
    /// The administrator's directories.
    pub enterprise: Words,
    /// Below the user's home; one that begins with `$NAME/` is below what that variable names.
    pub personal: Words,
    /// Below the project and the directories between it and the working directory.
    pub project: Words,
    /// What gives a skill its name.
    pub name_source: NameSource,
    /// Whether names that differ only in case are one.
    pub folds_case: bool,
    /// Which of several skills of one name it uses.
    pub precedence: PrecedenceOfDuplicates,
    /// Below the home and the project, files of commands that the tool for skills runs as well.
    pub commands: Words,
    /// Where, below the home, plugins or extensions with skills of their own are.
    pub plugins: Words,
    /// What makes a directory in one of skills a plugin with skills of its own; `""` if nothing does.
    pub plugin_mark: &'static str,
    /// How many directories deep in these a skill may be; 1 is directly.
    pub levels: usize,
    /// Whether directories count whose names begin with a dot.
    pub hidden: bool,
    /// Whether a skill's own directory may hold others.
    pub in_skills: bool,
    /// Whether the directory of skills may itself be one.
    pub itself: bool,
    /// Whether it also finds those of directories deeper in the project, once a file there was used.
    pub below: bool,
    /// Whether it also finds those of the directories above a project that is in no repository.
    pub above: bool,
    /// Names of skills that it ships and that win over those of directories deeper in the project. Any
    /// other name is searched for there.
    pub shipped: Names,
}

impl SkillLocations {
    /// No directory, and nothing unusual.
    pub(super) const NONE: Self = Self {
        enterprise: Words(""),
        personal: Words(""),
        project: Words(""),
        name_source: NameSource::Unknown,
        folds_case: false,
        precedence: PrecedenceOfDuplicates::Unknown,
        commands: Words(""),
        plugins: Words(""),
        plugin_mark: "",
        levels: 1,
        hidden: true,
        in_skills: false,
        itself: false,
        below: false,
        above: false,
        shipped: Names::new(""),
    };
}

/// What gives a skill its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSource {
    /// Its directory. Where no skill has a name so, `name` in its frontmatter counts.
    Directory,
    /// `name` in its frontmatter; without that it is no skill.
    Frontmatter,
    /// `name` in its frontmatter, else its directory.
    FrontmatterOrDirectory,
    /// Not known: either.
    Unknown,
}

/// Which of several skills of one name an agent uses, after the administrator's. Directories of skills
/// count in the order of the table; in one, the order of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrecedenceOfDuplicates {
    /// The user's.
    Personal,
    /// The project's.
    Project,
    /// The project's; of several in one directory of skills, any.
    ProjectAnyIn,
    /// Any of them, or all.
    Unknown,
    /// None of them.
    None,
}

impl AgentProfile {
    /// What an event is to us; `None` if it does not matter.
    pub fn event_kind(&self, event: &str) -> Option<EventKind> {
        let found = self.events.iter().find(|(name, _)| *name == event);
        found.map(|(_, event_kind)| *event_kind)
    }

    /// The tool of a name; `None` for one that is not in the table.
    pub fn tool(&self, name: &str) -> Option<&'static AgentTool> {
        self.vocabulary.tool(name)
    }

    /// The arguments that name a skill, if a tool of this name activates one.
    pub fn skill_tool(&self, name: &str) -> Option<&'static [&'static str]> {
        let tool = self.tool(name)?;
        (tool.does == Capability::Skill).then_some(tool.keys)
    }
}

/// The directory of an agent's files for one user.
#[derive(Debug, Clone, Copy)]
pub struct AgentHome {
    /// The variable that names another place.
    pub variable: Option<&'static str>,
    /// The directory below the place that the variable names; empty for that place itself.
    pub in_variable: &'static str,
    /// The directory below the home directory without that variable.
    pub below_home: &'static str,
}

impl AgentHome {
    pub(super) const fn new(
        variable: Option<&'static str>,
        in_variable: &'static str,
        below_home: &'static str,
    ) -> Self {
        Self {
            variable,
            in_variable,
            below_home,
        }
    }

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

/// A value that switches hooks off.
#[derive(Debug, Clone, Copy)]
pub enum HooksOffValue {
    /// This one, for all hooks.
    Is(bool),
    /// A list with the names of single hooks.
    Names,
}

/// For whom an agent is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectionScope {
    /// This user, in every project.
    User,
    /// One project.
    Project,
    /// Every user of the machine; only an administrator writes there.
    Managed,
}

impl ConnectionScope {
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

named!(ConnectionScope, "a scope");
