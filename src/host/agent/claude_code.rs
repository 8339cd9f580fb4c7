//! Claude Code (docs/hosts.md#claude-code): its documentation of hooks, and release 2.1.330.

use super::table::{
    Command, Does, First, Form, Format, Handler, Home, Injects, Moment, Named, Off, Skills,
    Started, Table, Tool, tools,
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

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    tools(Does::Shell, &["command"], &["Bash"]),
    tools(Does::Read, &["file_path"], &["Read"]),
    tools(Does::Write, &["file_path"], &["Write"]),
    tools(Does::Edit, &["file_path"], &["Edit", "MultiEdit"]),
    tools(Does::Edit, &["notebook_path"], &["NotebookEdit"]),
    tools(Does::Read, &["notebook_path"], &["NotebookRead"]),
    tools(Does::Find, &["path"], &["Glob"]),
    tools(Does::Search, &["path"], &["Grep"]),
    tools(Does::List, &["path"], &["LS"]),
    tools(Does::Fetch, &["url"], &["WebFetch"]),
    tools(Does::WebSearch, &[], &["WebSearch"]),
    tools(Does::SubAgent, &["subagent_type"], &["Agent", "Task"]),
    tools(Does::SubAgent, &["name"], &["Workflow"]),
    tools(Does::Skill, &["skill"], &["Skill"]),
    tools(Does::Todo, &[], &["TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"]),
    tools(Does::AskUser, &[], &["AskUserQuestion"]),
    tools(Does::Harmless, &[], &["ToolSearch", "EnterPlanMode", "ExitPlanMode", "BashOutput", "KillShell", "TaskOutput", "TaskStop", "StructuredOutput"]),
];

pub(super) static TABLE: Table = Table {
    events: EVENTS,
    own_prompts: OWN_PROMPTS,
    tools: TOOLS,
    // The working directory persists, and each call says where it is; variables do not.
    shell: BASH_OR_ZSH,
    // It had Glob, Grep and LS; its shell now has `find` and `grep` of its own.
    reads_by_shell: true,
    form: Form::Claude { tells: true },
    grants: true,
    asks: true,
    started: Started::There(&["CLAUDE_PROJECT_DIR"]),
    skills: Skills {
        enterprise: Words("/etc/claude-code/.claude/skills"),
        personal: Words(".claude/skills"),
        project: Words(".claude/skills"),
        named: Named::Directory,
        first: First::Personal,
        commands: Words(".claude/commands"),
        plugins: Words(".claude/plugins"),
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
    // Its configuration (code.claude.com/docs/en/hooks; tried with 2.1.330). Entries have the form
    // without a shell.
    programs: &["claude"],
    package: Some("@anthropic-ai/claude-code"),
    home: Home::new(Some("CLAUDE_CONFIG_DIR"), "", ".claude"),
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
    watched: Words("settings.local.json plugins agents commands"),
    watched_home: Words(".claude.json"),
    watched_project: Words(".claude/settings.json .claude/agents .claude/commands"),
    watched_machine: "/etc/claude-code",
    switches: &[("disableAllHooks", Off::Is(true))],
    switched_in: Words("settings.json settings.local.json"),
    switched_in_project: Words(".claude/settings.json .claude/settings.local.json"),
    unseen: &["a file that a prompt mentions as `@FILE`"],
    ..Table::USUAL
};
