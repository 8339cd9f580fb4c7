//! Gemini CLI (docs/hosts.md#gemini): its reference of hooks, and release 0.61.0.

use super::prelude::*;

#[rustfmt::skip]
const TOOLS: &[AgentTool] = &[
    AgentTool { does: Capability::Shell, keys: &["command", "dir_path", "directory"], names: &["run_shell_command"] },
    AgentTool { does: Capability::ReadFile, keys: &["file_path", "absolute_path"], names: &["read_file"] },
    AgentTool { does: Capability::WriteFile, keys: &["file_path"], names: &["write_file"] },
    AgentTool { does: Capability::EditFile, keys: &["file_path"], names: &["replace"] },
    AgentTool { does: Capability::ListDirectory, keys: &["dir_path", "path"], names: &["list_directory"] },
    AgentTool { does: Capability::FindFiles, keys: &["dir_path", "path"], names: &["glob"] },
    AgentTool { does: Capability::SearchContent, keys: &["dir_path", "path"], names: &["grep_search", "search_file_content"] },
    AgentTool { does: Capability::Fetch, keys: &["prompt"], names: &["web_fetch"] },
    AgentTool { does: Capability::WebSearch, keys: &[], names: &["google_web_search"] },
    AgentTool { does: Capability::SubAgent, keys: &["agent_name"], names: &["invoke_agent"] },
    AgentTool { does: Capability::Skill, keys: &["name"], names: &["activate_skill"] },
    AgentTool { does: Capability::Todo, keys: &[], names: &["write_todos"] },
    AgentTool { does: Capability::AskUser, keys: &[], names: &["ask_user"] },
    AgentTool { does: Capability::Harmless, keys: &[], names: &["enter_plan_mode", "exit_plan_mode", "update_topic", "complete_task"] },
];

pub(super) static TABLE: AgentProfile = AgentProfile {
    keys: CallKeys {
        // A subagent's calls carry no mark, and have no prompt of their own.
        subagent: "",
        prompt: "",
        ..CallKeys::USUAL
    },
    events: &[
        ("BeforeTool", EventKind::BeforeTool),
        ("BeforeAgent", EventKind::Prompt),
        ("SessionEnd", EventKind::End),
    ],
    prompts: PromptDetection::ByEvent,
    vocabulary: Vocabulary {
        tools: TOOLS,
        mcp: McpNaming::Underscores,
    },
    // `bash -c` for each command.
    shell: SH,
    answer_format: AnswerFormat::Decision,
    command_rules: Some(&CommandRuleFiles {
        user: Words(".gemini/ .gemini/extensions/*/"),
        project: Words(".gemini/ .gemini/extensions/*/"),
        machine: Words("/etc/gemini-cli/"),
        files: Words("settings.json system-defaults.json gemini-extension.json policies"),
        variables: Words("GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
        marks: Words("run_shell_command ShellTool \"tools\" olic xcludeTools rule \\u"),
    }),
    start_variables: &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    skills: SkillLocations {
        personal: Words(".agents/skills .gemini/skills"),
        project: Words(".agents/skills .gemini/skills"),
        name_source: NameSource::Frontmatter,
        folds_case: true,
        precedence: PrecedenceOfDuplicates::ProjectAnyIn,
        plugins: Words(".gemini/extensions"),
        hidden: false,
        itself: true,
        ..SkillLocations::NONE
    },
    // Its configuration (google-gemini/gemini-cli, reference of hooks; tried with 0.61.0). Time
    // limits are in milliseconds.
    programs: &["gemini"],
    package: Some("@google/gemini-cli"),
    home: AgentHome::new(Some("GEMINI_CLI_HOME"), ".gemini", ".gemini"),
    project: ".gemini/settings.json",
    project_note: "others who share the repository read this file too: where this program is missing, \
                   Gemini blocks every call of theirs",
    managed: Some("/etc/gemini-cli/settings.json"),
    timeout: ("timeout", 10_000),
    named_entries: true,
    before_tool_pattern: Some(".*"),
    watched: Words("settings.json extensions policies trustedFolders.json trusted_hooks.json"),
    watched_project: Words(".gemini/settings.json .gemini/extensions .gemini/policies"),
    watched_machine: "/etc/gemini-cli",
    off_switches: &[
        ("hooksConfig.enabled", HooksOffValue::Is(false)),
        ("hooksConfig.disabled", HooksOffValue::Names),
    ],
    switched_in_project: Words(".gemini/settings.json"),
    ..AgentProfile::USUAL
};
