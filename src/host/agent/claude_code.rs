//! Claude Code (docs/hosts.md#claude-code): its documentation of hooks, and release 2.1.330.

use super::prelude::*;

/// Its events.
pub(super) const EVENTS: &[(&str, EventKind)] = &[
    ("PreToolUse", EventKind::BeforeTool),
    ("PostToolUse", EventKind::AfterTool),
    ("UserPromptExpansion", EventKind::Typed),
    ("UserPromptSubmit", EventKind::Prompt),
    ("SessionEnd", EventKind::End),
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

pub(super) static TABLE: AgentProfile = AgentProfile {
    events: EVENTS,
    own_prompts: OWN_PROMPTS,
    vocabulary: Vocabulary::CLAUDE_CODE,
    // The working directory persists, and each call says where it is; variables do not.
    shell: BASH_OR_ZSH,
    // It had Glob, Grep and LS; its shell now has `find` and `grep` of its own.
    reads_by_shell: true,
    answer_format: AnswerFormat::Claude {
        may_give_reason: true,
    },
    grants: true,
    asks: true,
    start_variables: &["CLAUDE_PROJECT_DIR"],
    skills: SkillLocations {
        enterprise: Words("/etc/claude-code/.claude/skills"),
        personal: Words(".claude/skills"),
        project: Words(".claude/skills"),
        name_source: NameSource::Directory,
        precedence: PrecedenceOfDuplicates::Personal,
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
        ..SkillLocations::NONE
    },
    injects: CommandInjection::Always,
    runs_hooks: true,
    // Its configuration (code.claude.com/docs/en/hooks; tried with 2.1.330). Entries have the form
    // without a shell.
    programs: &["claude"],
    package: Some("@anthropic-ai/claude-code"),
    home: AgentHome::new(Some("CLAUDE_CONFIG_DIR"), "", ".claude"),
    project: ".claude/settings.local.json",
    project_note: "this file is for you alone: if git does not ignore it, add it to .git/info/exclude. Where this program is missing, Claude Code continues without it",
    managed: Some("/etc/claude-code/managed-settings.d/agent-skills.json"),
    program_key: Some("command"),
    before_tool_pattern: Some("*"),
    after_tool_pattern: Some("Skill"),
    watched: Words("settings.local.json plugins agents commands"),
    watched_home: Words(".claude.json"),
    watched_project: Words(".claude/settings.json .claude/agents .claude/commands"),
    watched_machine: "/etc/claude-code",
    off_switches: &[("disableAllHooks", HooksOffValue::Is(true))],
    switched_in: Words("settings.json settings.local.json"),
    switched_in_project: Words(".claude/settings.json .claude/settings.local.json"),
    unseen: &["a file that a prompt mentions as `@FILE`"],
    ..AgentProfile::USUAL
};
