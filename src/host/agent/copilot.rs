//! GitHub Copilot CLI (docs/hosts.md#copilot): its reference of hooks, and release 1.0.102. Its
//! events with capital initials have Claude Code's payload, with arguments of its own.

use super::Scope;
use super::claude_code;
use super::table::{
    Called, Command, Does, First, Format, Handler, Home, Keys, Mcp, Named, Off, Prompts, Skills,
    Started, Table, Tool, tools,
};
use crate::host::shell::SH;
use crate::sys::name_list::Words;

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    tools(Does::Shell, &["command"], &["Bash", "bash"]),
    tools(Does::Read, &["path", "file_path"], &["Read"]),
    tools(Does::Read, &["path"], &["view"]),
    tools(Does::Write, &["path", "file_path"], &["Write"]),
    tools(Does::Write, &["path"], &["create"]),
    tools(Does::Edit, &["path", "file_path"], &["Edit"]),
    tools(Does::Edit, &["path"], &["edit"]),
    tools(Does::Patch, &["patch"], &["apply_patch"]),
    tools(Does::Find, &["paths", "path"], &["Glob", "glob"]),
    tools(Does::Search, &["paths", "path"], &["Grep", "grep"]),
    tools(Does::Fetch, &["url"], &["WebFetch", "web_fetch"]),
    tools(Does::WebSearch, &[], &["WebSearch", "web_search"]),
    tools(Does::SubAgent, &["agent_type"], &["Agent", "task"]),
    tools(Does::Skill, &["skill"], &["skill", "Skill"]),
    tools(Does::Todo, &[], &["TodoWrite", "update_todo"]),
    tools(Does::AskUser, &[], &["AskUserQuestion", "ask_user"]),
    tools(Does::Harmless, &[], &["report_intent", "task_complete", "read_bash", "stop_bash", "list_bash", "read_agent", "list_agents"]),
];

pub(super) static TABLE: Table = Table {
    keys: Keys {
        // A subagent has a session of its own.
        parent: "parent_agent_id",
        prompt: "",
        ..Keys::USUAL
    },
    events: claude_code::EVENTS,
    prompts: Prompts::ByEvent,
    own_prompts: &["<system_notification>"],
    tools: TOOLS,
    mcp: Mcp::Hyphen,
    // Bash; only calls with a `shellId` share one.
    shell: SH,
    grants: true,
    asks: true,
    started: Started::There(&["CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR"]),
    skills: Skills {
        personal: Words(".copilot/skills .agents/skills"),
        project: Words(".github/skills .agents/skills .claude/skills"),
        named: Named::FrontmatterOrDirectory,
        folds_case: true,
        first: First::Project,
        commands: Words(".claude/commands"),
        plugins: Words(".copilot/plugins .copilot/installed-plugins"),
        levels: usize::MAX,
        hidden: false,
        itself: true,
        above: true,
        ..Skills::NONE
    },
    // Where it knows the name it puts this in its place.
    typed: &[
        Called::First('/'),
        Called::Between("The user explicitly invoked the \"/", "\" skill"),
    ],
    // Its configuration (docs.github.com/en/copilot/reference/hooks-reference; tried with 1.0.102).
    // With these names of events it sends Claude's keys.
    programs: &["copilot"],
    package: Some("@github/copilot"),
    home: Home::new(Some("COPILOT_HOME"), "", ".copilot"),
    user: "hooks/agent-skills.json",
    project: ".github/copilot/settings.local.json",
    project_note: "only you use this file: if git does not ignore it, add it to .git/info/exclude. \
                   Where this program is missing, Copilot blocks every call",
    managed: Some("/etc/github-copilot/policy.d/agent-skills.json"),
    format: Format::Hooks(Handler {
        grouped: false,
        versioned: &[Scope::User, Scope::Managed],
        command: Command::Words("exec"),
        timeout: ("timeoutSec", 10),
        ..Handler::USUAL
    }),
    after: Some("skill"),
    unregistered: &["UserPromptExpansion"],
    watched: Words(
        "settings.json config.json permissions-config.json hooks plugins installed-plugins",
    ),
    watched_project: Words(
        ".github/hooks .github/copilot .claude/settings.json .claude/settings.local.json",
    ),
    watched_machine: "/etc/github-copilot",
    switches: &[("disableAllHooks", Off::Is(true))],
    switched_in: Words("settings.json config.json"),
    switched_in_project: Words(".github/copilot/settings.json .github/copilot/settings.local.json"),
    ..Table::USUAL
};
