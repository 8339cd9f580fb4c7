//! GitHub Copilot CLI (docs/hosts.md#copilot): its reference of hooks, and release 1.0.102. Its
//! events with capital initials have Claude Code's payload, with arguments of its own.

use super::Scope;
use super::claude_code;
use super::settings::{Command, Format, Handler, Home, Off, Settings, Switch, Watched};
use super::table::{
    Called, Deep, Does, First, Keys, Mcp, Named, Prompts, Serves, Skills, Started, Table, tool,
};
use crate::host::shell::SH;
use crate::sys::name_list::Words;

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
    tools: &[
        tool("Bash", Does::Shell, &["command"]),
        tool("bash", Does::Shell, &["command"]),
        tool("Read", Does::Read, &["path", "file_path"]),
        tool("view", Does::Read, &["path"]),
        tool("Write", Does::Write, &["path", "file_path"]),
        tool("create", Does::Write, &["path"]),
        tool("Edit", Does::Edit, &["path", "file_path"]),
        tool("edit", Does::Edit, &["path"]),
        tool("apply_patch", Does::Patch, &["patch"]),
        tool("Glob", Does::Find, &["paths", "path"]),
        tool("glob", Does::Find, &["paths", "path"]),
        tool("Grep", Does::Search, &["paths", "path"]),
        tool("grep", Does::Search, &["paths", "path"]),
        tool("WebFetch", Does::Fetch, &["url"]),
        tool("web_fetch", Does::Fetch, &["url"]),
        tool("WebSearch", Does::WebSearch, &[]),
        tool("web_search", Does::WebSearch, &[]),
        tool("Agent", Does::SubAgent, &["agent_type"]),
        tool("task", Does::SubAgent, &["agent_type"]),
        tool("skill", Does::Skill, &["skill"]),
        tool("Skill", Does::Skill, &["skill"]),
        tool("TodoWrite", Does::Todo, &[]),
        tool("update_todo", Does::Todo, &[]),
        tool("AskUserQuestion", Does::AskUser, &[]),
        tool("ask_user", Does::AskUser, &[]),
        tool("report_intent", Does::Harmless, &[]),
        tool("task_complete", Does::Harmless, &[]),
        tool("read_bash", Does::Harmless, &[]),
        tool("stop_bash", Does::Harmless, &[]),
        tool("list_bash", Does::Harmless, &[]),
        tool("read_agent", Does::Harmless, &[]),
        tool("list_agents", Does::Harmless, &[]),
    ],
    mcp: Mcp::Hyphen,
    // Bash; only calls with a `shellId` share one.
    shell: SH,
    serves: Serves {
        grant: true,
        ask: true,
        ..Serves::RESTRICTING
    },
    started: Started::There(&["CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR"]),
    skills: Skills {
        personal: &[".copilot/skills", ".agents/skills"],
        project: &[".github/skills", ".agents/skills", ".claude/skills"],
        named: Named::FrontmatterOrDirectory,
        folds_case: true,
        first: First::Project,
        commands: &[".claude/commands"],
        plugins: &[".copilot/plugins", ".copilot/installed-plugins"],
        deep: Deep {
            levels: usize::MAX,
            hidden: false,
            in_skills: false,
            itself: true,
        },
        above: true,
        ..Skills::NONE
    },
    // Where it knows the name it puts this in its place.
    typed: &[
        Called::First('/'),
        Called::Between("The user explicitly invoked the \"/", "\" skill"),
    ],
    ..Table::USUAL
};

/// Its configuration (docs.github.com/en/copilot/reference/hooks-reference; tried with 1.0.102). With
/// these names of events it sends Claude's keys.
pub(super) const SETTINGS: Settings = Settings {
    programs: &["copilot"],
    package: Some("@github/copilot"),
    editor: None,
    home: Home {
        variable: Some("COPILOT_HOME"),
        in_variable: "",
        below_home: ".copilot",
    },
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
    gate: None,
    after: Some("skill"),
    unregistered: &["UserPromptExpansion"],
    watched: Watched {
        user: Words(
            "settings.json config.json permissions-config.json hooks plugins installed-plugins",
        ),
        home: Words(""),
        project: Words(
            ".github/hooks .github/copilot .claude/settings.json .claude/settings.local.json",
        ),
        machine: Words("/etc/github-copilot"),
    },
    trust: None,
    switches: &[Switch {
        user: &["settings.json", "config.json"],
        project: &[
            ".github/copilot/settings.json",
            ".github/copilot/settings.local.json",
        ],
        key: &["disableAllHooks"],
        off: Off::Is(true),
    }],
    unseen: &[],
};
