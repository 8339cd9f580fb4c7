//! Gemini CLI (docs/hosts.md#gemini): its reference of hooks, and release 0.61.0.

use super::settings::{Format, Handler, Home, Literal, Off, Settings, Switch, Watched};
use super::table::{
    Deep, Does, First, Form, Keys, Mcp, Moment, Named, Own, Prompts, Serves, Skills, Started,
    Table, tool,
};
use crate::host::shell::SH;
use crate::sys::name_list::Words;

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
    tools: &[
        tool(
            "run_shell_command",
            Does::Shell,
            &["command", "dir_path", "directory"],
        ),
        tool("read_file", Does::Read, &["file_path", "absolute_path"]),
        tool("write_file", Does::Write, &["file_path"]),
        tool("replace", Does::Edit, &["file_path"]),
        tool("list_directory", Does::List, &["dir_path", "path"]),
        tool("glob", Does::Find, &["dir_path", "path"]),
        tool("grep_search", Does::Search, &["dir_path", "path"]),
        tool("search_file_content", Does::Search, &["dir_path", "path"]),
        tool("web_fetch", Does::Fetch, &["prompt"]),
        tool("google_web_search", Does::WebSearch, &[]),
        tool("invoke_agent", Does::SubAgent, &["agent_name"]),
        tool("activate_skill", Does::Skill, &["name"]),
        tool("write_todos", Does::Todo, &[]),
        tool("ask_user", Does::AskUser, &[]),
        tool("enter_plan_mode", Does::Harmless, &[]),
        tool("exit_plan_mode", Does::Harmless, &[]),
        tool("update_topic", Does::Harmless, &[]),
        tool("complete_task", Does::Harmless, &[]),
    ],
    mcp: Mcp::Underscores,
    // `bash -c` for each command.
    shell: SH,
    form: Form::Decision,
    serves: Serves {
        rewrite: Some(&Own {
            user: Words(".gemini/ .gemini/extensions/*/"),
            project: Words(".gemini/ .gemini/extensions/*/"),
            machine: Words("/etc/gemini-cli/"),
            files: Words("settings.json system-defaults.json gemini-extension.json policies"),
            variables: Words("GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
            marks: Words("run_shell_command ShellTool \"tools\" olic xcludeTools rule \\u"),
        }),
        ..Serves::RESTRICTING
    },
    started: Started::There(&["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"]),
    skills: Skills {
        personal: &[".agents/skills", ".gemini/skills"],
        project: &[".agents/skills", ".gemini/skills"],
        named: Named::Frontmatter,
        folds_case: true,
        first: First::ProjectAnyIn,
        plugins: &[".gemini/extensions"],
        deep: Deep {
            levels: 1,
            hidden: false,
            in_skills: false,
            itself: true,
        },
        ..Skills::NONE
    },
    ..Table::USUAL
};

/// Its configuration (google-gemini/gemini-cli, reference of hooks; tried with 0.61.0). Time
/// limits are in milliseconds.
pub(super) const SETTINGS: Settings = Settings {
    programs: &["gemini"],
    package: Some("@google/gemini-cli"),
    editor: None,
    home: Home {
        variable: Some("GEMINI_CLI_HOME"),
        in_variable: ".gemini",
        below_home: ".gemini",
    },
    user: "settings.json",
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
    after: None,
    unregistered: &[],
    watched: Watched {
        user: Words("settings.json extensions policies trustedFolders.json trusted_hooks.json"),
        home: Words(""),
        project: Words(".gemini/settings.json .gemini/extensions .gemini/policies"),
        machine: Words("/etc/gemini-cli"),
    },
    trust: None,
    switches: &[
        Switch {
            user: &["settings.json"],
            project: &[".gemini/settings.json"],
            key: &["hooksConfig", "enabled"],
            off: Off::Is(false),
        },
        Switch {
            user: &["settings.json"],
            project: &[".gemini/settings.json"],
            key: &["hooksConfig", "disabled"],
            off: Off::Names,
        },
    ],
    unseen: &[],
};
