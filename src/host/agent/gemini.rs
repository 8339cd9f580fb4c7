//! Gemini CLI (docs/hosts.md#gemini): its reference of hooks, and release 0.61.0.

use super::table::{
    Does, First, Form, Format, Handler, Home, Keys, Literal, Mcp, Moment, Named, Off, Own, Prompts,
    Skills, Started, Table, Tool, tools,
};
use crate::host::shell::SH;
use crate::sys::name_list::Words;

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    tools(Does::Shell, &["command", "dir_path", "directory"], &["run_shell_command"]),
    tools(Does::Read, &["file_path", "absolute_path"], &["read_file"]),
    tools(Does::Write, &["file_path"], &["write_file"]),
    tools(Does::Edit, &["file_path"], &["replace"]),
    tools(Does::List, &["dir_path", "path"], &["list_directory"]),
    tools(Does::Find, &["dir_path", "path"], &["glob"]),
    tools(Does::Search, &["dir_path", "path"], &["grep_search", "search_file_content"]),
    tools(Does::Fetch, &["prompt"], &["web_fetch"]),
    tools(Does::WebSearch, &[], &["google_web_search"]),
    tools(Does::SubAgent, &["agent_name"], &["invoke_agent"]),
    tools(Does::Skill, &["name"], &["activate_skill"]),
    tools(Does::Todo, &[], &["write_todos"]),
    tools(Does::AskUser, &[], &["ask_user"]),
    tools(Does::Harmless, &[], &["enter_plan_mode", "exit_plan_mode", "update_topic", "complete_task"]),
];

pub(super) static TABLE: Table = Table {
    keys: Keys {
        // A subagent's calls carry no mark, and have no prompt of their own.
        subagent: "",
        prompt: "",
        ..Keys::USUAL
    },
    events: &[
        ("BeforeTool", Moment::BeforeTool),
        ("BeforeAgent", Moment::Prompt),
        ("SessionEnd", Moment::End),
    ],
    prompts: Prompts::ByEvent,
    tools: TOOLS,
    mcp: Mcp::Underscores,
    // `bash -c` for each command.
    shell: SH,
    form: Form::Decision,
    rewrites: Some(&Own {
        user: Words(".gemini/ .gemini/extensions/*/"),
        project: Words(".gemini/ .gemini/extensions/*/"),
        machine: Words("/etc/gemini-cli/"),
        files: Words("settings.json system-defaults.json gemini-extension.json policies"),
        variables: Words("GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
        marks: Words("run_shell_command ShellTool \"tools\" olic xcludeTools rule \\u"),
    }),
    started: Started::There(&["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"]),
    skills: Skills {
        personal: Words(".agents/skills .gemini/skills"),
        project: Words(".agents/skills .gemini/skills"),
        named: Named::Frontmatter,
        folds_case: true,
        first: First::ProjectAnyIn,
        plugins: Words(".gemini/extensions"),
        hidden: false,
        itself: true,
        ..Skills::NONE
    },
    // Its configuration (google-gemini/gemini-cli, reference of hooks; tried with 0.61.0). Time
    // limits are in milliseconds.
    programs: &["gemini"],
    package: Some("@google/gemini-cli"),
    home: Home::new(Some("GEMINI_CLI_HOME"), ".gemini", ".gemini"),
    project: ".gemini/settings.json",
    project_note: "others who share the repository read this file too: where this program is missing, \
                   Gemini blocks every call of theirs",
    managed: Some("/etc/gemini-cli/settings.json"),
    format: Format::Hooks(Handler {
        timeout: ("timeout", 10_000),
        with: &[("name", Literal::Text("agent-skills"))],
        ..Handler::USUAL
    }),
    gate: Some(".*"),
    watched: Words("settings.json extensions policies trustedFolders.json trusted_hooks.json"),
    watched_project: Words(".gemini/settings.json .gemini/extensions .gemini/policies"),
    watched_machine: "/etc/gemini-cli",
    switches: &[
        ("hooksConfig.enabled", Off::Is(false)),
        ("hooksConfig.disabled", Off::Names),
    ],
    switched_in_project: Words(".gemini/settings.json"),
    ..Table::USUAL
};
