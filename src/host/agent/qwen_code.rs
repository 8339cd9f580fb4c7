//! Qwen Code (docs/hosts.md#qwen-code): the documentation in release 0.24.4. Its hooks are Claude
//! Code's, its tools Gemini CLI's.

use super::prelude::*;

#[rustfmt::skip]
const TOOLS: &[AgentTool] = &[
    AgentTool { does: Capability::Shell, keys: &["command", "directory", "dir_path"], names: &["run_shell_command"] },
    AgentTool { does: Capability::ReadFile, keys: &["file_path", "absolute_path"], names: &["read_file"] },
    AgentTool { does: Capability::WriteFile, keys: &["file_path"], names: &["write_file"] },
    AgentTool { does: Capability::EditFile, keys: &["file_path"], names: &["edit"] },
    AgentTool { does: Capability::EditFile, keys: &["notebook_path"], names: &["notebook_edit"] },
    AgentTool { does: Capability::ListDirectory, keys: &["path"], names: &["list_directory"] },
    AgentTool { does: Capability::FindFiles, keys: &["path"], names: &["glob"] },
    AgentTool { does: Capability::SearchContent, keys: &["path"], names: &["grep_search"] },
    AgentTool { does: Capability::Fetch, keys: &["url"], names: &["web_fetch"] },
    AgentTool { does: Capability::WebSearch, keys: &[], names: &["web_search"] },
    AgentTool { does: Capability::SubAgent, keys: &["subagent_type"], names: &["agent", "task"] },
    AgentTool { does: Capability::Skill, keys: &["skill"], names: &["skill"] },
    AgentTool { does: Capability::Todo, keys: &[], names: &["todo_write"] },
    AgentTool { does: Capability::AskUser, keys: &[], names: &["ask_user_question"] },
    AgentTool { does: Capability::Harmless, keys: &[], names: &["exit_plan_mode", "tool_search", "structured_output"] },
];

pub(super) static TABLE: AgentProfile = AgentProfile {
    keys: CallKeys {
        // The event comes again after each step, and for turns that nobody submitted, without this.
        text: "submitted_prompt",
        ..CallKeys::USUAL
    },
    events: &[
        ("PreToolUse", EventKind::BeforeTool),
        // It asks before that, and takes no grant there.
        ("PermissionRequest", EventKind::Asking),
        ("PostToolUse", EventKind::AfterTool),
        ("UserPromptExpansion", EventKind::Typed),
        ("UserPromptSubmit", EventKind::Prompt),
        ("SessionEnd", EventKind::End),
    ],
    vocabulary: Vocabulary::of(TOOLS),
    shell: SH,
    grants: true,
    start_variables: &["QWEN_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    skills: SkillLocations {
        personal: Words(".qwen/skills .agents/skills"),
        project: Words(".qwen/skills .agents/skills"),
        name_source: NameSource::Frontmatter,
        precedence: PrecedenceOfDuplicates::Project,
        plugins: Words(".qwen/extensions"),
        ..SkillLocations::NONE
    },
    runs_hooks: true,
    // Its configuration (features/hooks.md of its bundled documentation; tried with 0.24.4). It has
    // Claude Code's events, but no form without a shell, and its own name of the skill tool.
    programs: &["qwen"],
    package: Some("@qwen-code/qwen-code"),
    home: AgentHome::new(Some("QWEN_HOME"), "", ".qwen"),
    project: ".qwen/settings.json",
    project_note: "others who share the repository read this file too: where this program is missing, Qwen Code shows an error at each call and continues",
    managed: Some("/etc/qwen-code/settings.json"),
    named_entries: true,
    before_tool_pattern: Some("*"),
    after_tool_pattern: Some("^skill$"),
    watched: Words(
        "settings.json extensions agents commands trustedFolders.json trusted_hooks.json",
    ),
    watched_project: Words(".qwen/settings.json .qwen/extensions .qwen/agents .qwen/commands"),
    watched_machine: "/etc/qwen-code",
    off_switches: &[("disableAllHooks", HooksOffValue::Is(true))],
    switched_in_project: Words(".qwen/settings.json"),
    ..AgentProfile::USUAL
};
