//! Qwen Code (docs/hosts.md#qwen-code): the documentation in release 0.24.4. Its hooks are Claude
//! Code's, its tools Gemini CLI's.

use super::table::{
    Does, First, Format, Handler, Home, Keys, Literal, Moment, Named, Off, Skills, Started, Table,
    Tool, tools,
};
use crate::host::shell::SH;
use crate::sys::name_list::Words;

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    tools(Does::Shell, &["command", "directory", "dir_path"], &["run_shell_command"]),
    tools(Does::Read, &["file_path", "absolute_path"], &["read_file"]),
    tools(Does::Write, &["file_path"], &["write_file"]),
    tools(Does::Edit, &["file_path"], &["edit"]),
    tools(Does::Edit, &["notebook_path"], &["notebook_edit"]),
    tools(Does::List, &["path"], &["list_directory"]),
    tools(Does::Find, &["path"], &["glob"]),
    tools(Does::Search, &["path"], &["grep_search"]),
    tools(Does::Fetch, &["url"], &["web_fetch"]),
    tools(Does::WebSearch, &[], &["web_search"]),
    tools(Does::SubAgent, &["subagent_type"], &["agent", "task"]),
    tools(Does::Skill, &["skill"], &["skill"]),
    tools(Does::Todo, &[], &["todo_write"]),
    tools(Does::AskUser, &[], &["ask_user_question"]),
    tools(Does::Harmless, &[], &["exit_plan_mode", "tool_search", "structured_output"]),
];

pub(super) static TABLE: Table = Table {
    keys: Keys {
        // The event comes again after each step, and for turns that nobody submitted, without this.
        text: "submitted_prompt",
        ..Keys::USUAL
    },
    events: &[
        ("PreToolUse", Moment::BeforeTool),
        // It asks before that, and takes no grant there.
        ("PermissionRequest", Moment::Asking),
        ("PostToolUse", Moment::AfterTool),
        ("UserPromptExpansion", Moment::Typed),
        ("UserPromptSubmit", Moment::Prompt),
        ("SessionEnd", Moment::End),
    ],
    tools: TOOLS,
    shell: SH,
    grants: true,
    started: Started::There(&["QWEN_PROJECT_DIR", "CLAUDE_PROJECT_DIR"]),
    skills: Skills {
        personal: Words(".qwen/skills .agents/skills"),
        project: Words(".qwen/skills .agents/skills"),
        named: Named::Frontmatter,
        first: First::Project,
        plugins: Words(".qwen/extensions"),
        ..Skills::NONE
    },
    runs_hooks: true,
    // Its configuration (features/hooks.md of its bundled documentation; tried with 0.24.4). It has
    // Claude Code's events, but no form without a shell, and its own name of the skill tool.
    programs: &["qwen"],
    package: Some("@qwen-code/qwen-code"),
    home: Home::new(Some("QWEN_HOME"), "", ".qwen"),
    project: ".qwen/settings.json",
    project_note: "others who share the repository read this file too: where this program is missing, \
                   Qwen Code shows an error at each call and goes on",
    managed: Some("/etc/qwen-code/settings.json"),
    format: Format::Hooks(Handler {
        with: &[("name", Literal::Text("agent-skills"))],
        ..Handler::USUAL
    }),
    gate: Some("*"),
    after: Some("^skill$"),
    watched: Words(
        "settings.json extensions agents commands trustedFolders.json trusted_hooks.json",
    ),
    watched_project: Words(".qwen/settings.json .qwen/extensions .qwen/agents .qwen/commands"),
    watched_machine: "/etc/qwen-code",
    switches: &[("disableAllHooks", Off::Is(true))],
    switched_in_project: Words(".qwen/settings.json"),
    ..Table::USUAL
};
