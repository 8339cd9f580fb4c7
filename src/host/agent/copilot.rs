//! GitHub Copilot CLI (docs/hosts.md#copilot): its reference of hooks, and release 1.0.102. Its
//! events with capital initials have Claude Code's payload, with arguments of its own.

use super::ConnectionScope;
use super::claude_code;
use super::prelude::*;

#[rustfmt::skip]
const TOOLS: &[AgentTool] = &[
    AgentTool { does: Capability::Shell, keys: &["command"], names: &["Bash", "bash"] },
    AgentTool { does: Capability::ReadFile, keys: &["path", "file_path"], names: &["Read"] },
    AgentTool { does: Capability::ReadFile, keys: &["path"], names: &["view"] },
    AgentTool { does: Capability::WriteFile, keys: &["path", "file_path"], names: &["Write"] },
    AgentTool { does: Capability::WriteFile, keys: &["path"], names: &["create"] },
    AgentTool { does: Capability::EditFile, keys: &["path", "file_path"], names: &["Edit"] },
    AgentTool { does: Capability::EditFile, keys: &["path"], names: &["edit"] },
    AgentTool { does: Capability::Patch, keys: &["patch"], names: &["apply_patch"] },
    AgentTool { does: Capability::FindFiles, keys: &["paths", "path"], names: &["Glob", "glob"] },
    AgentTool { does: Capability::SearchContent, keys: &["paths", "path"], names: &["Grep", "grep"] },
    AgentTool { does: Capability::Fetch, keys: &["url"], names: &["WebFetch", "web_fetch"] },
    AgentTool { does: Capability::WebSearch, keys: &[], names: &["WebSearch", "web_search"] },
    AgentTool { does: Capability::SubAgent, keys: &["agent_type"], names: &["Agent", "task"] },
    AgentTool { does: Capability::Skill, keys: &["skill"], names: &["skill", "Skill"] },
    AgentTool { does: Capability::Todo, keys: &[], names: &["TodoWrite", "update_todo"] },
    AgentTool { does: Capability::AskUser, keys: &[], names: &["AskUserQuestion", "ask_user"] },
    AgentTool { does: Capability::Harmless, keys: &[], names: &["report_intent", "task_complete", "read_bash", "stop_bash", "list_bash", "read_agent", "list_agents"] },
];

pub(super) static TABLE: AgentProfile = AgentProfile {
    keys: CallKeys {
        // A subagent has a session of its own.
        parent: "parent_agent_id",
        prompt: "",
        ..CallKeys::USUAL
    },
    events: claude_code::EVENTS,
    prompts: PromptDetection::ByEvent,
    own_prompts: &["<system_notification>"],
    vocabulary: Vocabulary {
        tools: TOOLS,
        mcp: McpNaming::Hyphen,
    },
    // Bash; only calls with a `shellId` share one.
    shell: SH,
    grants: true,
    asks: true,
    start_variables: &["CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR"],
    skills: SkillLocations {
        personal: Words(".copilot/skills .agents/skills"),
        project: Words(".github/skills .agents/skills .claude/skills"),
        name_source: NameSource::FrontmatterOrDirectory,
        folds_case: true,
        precedence: PrecedenceOfDuplicates::Project,
        commands: Words(".claude/commands"),
        plugins: Words(".copilot/plugins .copilot/installed-plugins"),
        levels: usize::MAX,
        hidden: false,
        itself: true,
        above: true,
        ..SkillLocations::NONE
    },
    // Where it knows the name it puts this in its place.
    skill_calls: &[
        CallSyntax::AtStart('/'),
        CallSyntax::Between("The user explicitly invoked the \"/", "\" skill"),
    ],
    // Its configuration (docs.github.com/en/copilot/reference/hooks-reference; tried with 1.0.102).
    // With these names of events it sends Claude's keys.
    programs: &["copilot"],
    package: Some("@github/copilot"),
    home: AgentHome::new(Some("COPILOT_HOME"), "", ".copilot"),
    user: "hooks/agent-skills.json",
    project: ".github/copilot/settings.local.json",
    project_note: "only you use this file: if git does not ignore it, add it to .git/info/exclude. \
                   Where this program is missing, Copilot blocks every call",
    managed: Some("/etc/github-copilot/policy.d/agent-skills.json"),
    grouped: false,
    versioned: &[ConnectionScope::User, ConnectionScope::Managed],
    program_key: Some("exec"),
    timeout: ("timeoutSec", 10),
    after_tool_pattern: Some("skill"),
    unregistered: &["UserPromptExpansion"],
    watched: Words(
        "settings.json config.json permissions-config.json hooks plugins installed-plugins",
    ),
    watched_project: Words(
        ".github/hooks .github/copilot .claude/settings.json .claude/settings.local.json",
    ),
    watched_machine: "/etc/github-copilot",
    off_switches: &[("disableAllHooks", HooksOffValue::Is(true))],
    switched_in: Words("settings.json config.json"),
    switched_in_project: Words(".github/copilot/settings.json .github/copilot/settings.local.json"),
    ..AgentProfile::USUAL
};
