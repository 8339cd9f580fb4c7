//! Claude Code (docs/hosts.md#claude-code): its documentation of hooks, and release 2.1.330.

use super::settings::{Command, Format, Handler, Home, Off, Settings, Switch, Watched};
use super::table::{
    Does, First, Form, Injects, Moment, Named, Serves, Skills, Started, Table, tool,
};
use crate::host::shell::BASH_OR_ZSH;
use crate::sys::name_list::{Names, Words};

/// Its events.
pub(super) const EVENTS: &[(&str, Moment)] = &[
    ("PreToolUse", Moment::BeforeTool),
    ("PostToolUse", Moment::AfterTool),
    ("UserPromptExpansion", Moment::Typed),
    ("UserPromptSubmit", Moment::Prompt),
    ("SessionEnd", Moment::End),
];

/// What its release 2.1.330 puts around texts that are nobody's prompt: what has ended or was seen in
/// the background, messages of other agents and sessions, its own reminders.
pub(super) const OWN_PROMPTS: &[&str] = &[
    "<task-notification>",
    "<system-reminder>",
    "<agent-message",
    "<teammate-message",
    "<cross-session-message",
    "<coordinator-relay",
    "<channel ",
    "<mcp-resource-update",
    "<mcp-polling-update",
    "<remote-review",
    "<fetched-web-content",
    "<untrusted-widget-state",
    "<tick>",
    "[SYSTEM NOTIFICATION - NOT USER INPUT]",
    "[MESSAGE FROM NON-USER SOURCE - NOT USER INPUT]",
];

pub(super) static TABLE: Table = Table {
    events: EVENTS,
    own_prompts: OWN_PROMPTS,
    tools: &[
        tool("Bash", Does::Shell, &["command"]),
        tool("Read", Does::Read, &["file_path"]),
        tool("Write", Does::Write, &["file_path"]),
        tool("Edit", Does::Edit, &["file_path"]),
        tool("MultiEdit", Does::Edit, &["file_path"]),
        tool("NotebookEdit", Does::Edit, &["notebook_path"]),
        tool("NotebookRead", Does::Read, &["notebook_path"]),
        tool("Glob", Does::Find, &["path"]),
        tool("Grep", Does::Search, &["path"]),
        tool("LS", Does::List, &["path"]),
        tool("WebFetch", Does::Fetch, &["url"]),
        tool("WebSearch", Does::WebSearch, &[]),
        tool("Agent", Does::SubAgent, &["subagent_type"]),
        tool("Task", Does::SubAgent, &["subagent_type"]),
        tool("Workflow", Does::SubAgent, &["name"]),
        tool("Skill", Does::Skill, &["skill"]),
        tool("TodoWrite", Does::Todo, &[]),
        tool("TaskCreate", Does::Todo, &[]),
        tool("TaskUpdate", Does::Todo, &[]),
        tool("TaskList", Does::Todo, &[]),
        tool("TaskGet", Does::Todo, &[]),
        tool("AskUserQuestion", Does::AskUser, &[]),
        tool("ToolSearch", Does::Harmless, &[]),
        tool("EnterPlanMode", Does::Harmless, &[]),
        tool("ExitPlanMode", Does::Harmless, &[]),
        tool("BashOutput", Does::Harmless, &[]),
        tool("KillShell", Does::Harmless, &[]),
        tool("TaskOutput", Does::Harmless, &[]),
        tool("TaskStop", Does::Harmless, &[]),
        // Its answer in the form that its user asked for.
        tool("StructuredOutput", Does::Harmless, &[]),
    ],
    // The working directory persists, and each call says where it is; variables do not.
    shell: BASH_OR_ZSH,
    // It had Glob, Grep and LS; its shell now has `find` and `grep` of its own.
    reads_by_shell: true,
    form: Form::Claude { tells: true },
    serves: Serves {
        grant: true,
        ask: true,
        ..Serves::RESTRICTING
    },
    started: Started::There(&["CLAUDE_PROJECT_DIR"]),
    skills: Skills {
        enterprise: &["/etc/claude-code/.claude/skills"],
        personal: &[".claude/skills"],
        project: &[".claude/skills"],
        named: Named::Directory,
        first: First::Personal,
        commands: &[".claude/commands"],
        plugins: &[".claude/plugins"],
        plugin_mark: ".claude-plugin/plugin.json",
        below: true,
        above: true,
        shipped: Names::new(
            "dataviz update-config keybindings-help code-review simplify \
             fewer-permission-prompts loop claude-api workflow-authoring run plugin-authoring \
             init security-review",
        ),
        ..Skills::NONE
    },
    injects: Injects::Always,
    runs_hooks: true,
    ..Table::USUAL
};

/// Its configuration (code.claude.com/docs/en/hooks; tried with 2.1.330). Entries have the form
/// without a shell.
pub(super) const SETTINGS: Settings = Settings {
    programs: &["claude"],
    package: Some("@anthropic-ai/claude-code"),
    editor: None,
    home: Home {
        variable: Some("CLAUDE_CONFIG_DIR"),
        in_variable: "",
        below_home: ".claude",
    },
    user: "settings.json",
    project: ".claude/settings.local.json",
    project_note: "only you use this file: if git does not ignore it, add it to .git/info/exclude. \
                   Where this program is missing, Claude Code goes on without it",
    managed: Some("/etc/claude-code/managed-settings.d/agent-skills.json"),
    format: Format::Hooks(Handler {
        command: Command::Words("command"),
        ..Handler::USUAL
    }),
    gate: Some("*"),
    after: Some("Skill"),
    unregistered: &[],
    watched: Watched {
        user: Words("settings.local.json plugins agents commands"),
        home: Words(".claude.json"),
        project: Words(".claude/settings.json .claude/agents .claude/commands"),
        machine: Words("/etc/claude-code"),
    },
    trust: None,
    switches: &[Switch {
        user: &["settings.json", "settings.local.json"],
        project: &[".claude/settings.json", ".claude/settings.local.json"],
        key: &["disableAllHooks"],
        off: Off::Is(true),
    }],
    unseen: &["a file that a prompt mentions as `@FILE`"],
};
