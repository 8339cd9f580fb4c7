//! Qwen Code (docs/hosts.md#qwen-code): the documentation in release 0.24.4. Its hooks are Claude
//! Code's, its tools Gemini CLI's.

use super::settings::{Format, Handler, Home, Literal, Off, Settings, Switch, Watched};
use super::table::{Does, First, Keys, Moment, Named, Serves, Skills, Started, Table, tool};
use crate::host::shell::SH;
use crate::sys::name_list::Words;

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
    tools: &[
        tool(
            "run_shell_command",
            Does::Shell,
            &["command", "directory", "dir_path"],
        ),
        tool("read_file", Does::Read, &["file_path", "absolute_path"]),
        tool("write_file", Does::Write, &["file_path"]),
        tool("edit", Does::Edit, &["file_path"]),
        tool("notebook_edit", Does::Edit, &["notebook_path"]),
        tool("list_directory", Does::List, &["path"]),
        tool("glob", Does::Find, &["path"]),
        tool("grep_search", Does::Search, &["path"]),
        tool("web_fetch", Does::Fetch, &["url"]),
        tool("web_search", Does::WebSearch, &[]),
        tool("agent", Does::SubAgent, &["subagent_type"]),
        tool("task", Does::SubAgent, &["subagent_type"]),
        tool("skill", Does::Skill, &["skill"]),
        tool("todo_write", Does::Todo, &[]),
        tool("ask_user_question", Does::AskUser, &[]),
        tool("exit_plan_mode", Does::Harmless, &[]),
        tool("tool_search", Does::Harmless, &[]),
        tool("structured_output", Does::Harmless, &[]),
    ],
    shell: SH,
    serves: Serves {
        grant: true,
        ..Serves::RESTRICTING
    },
    started: Started::There(&["QWEN_PROJECT_DIR", "CLAUDE_PROJECT_DIR"]),
    skills: Skills {
        personal: &[".qwen/skills", ".agents/skills"],
        project: &[".qwen/skills", ".agents/skills"],
        named: Named::Frontmatter,
        first: First::Project,
        plugins: &[".qwen/extensions"],
        ..Skills::NONE
    },
    runs_hooks: true,
    ..Table::USUAL
};

/// Its configuration (features/hooks.md of its bundled documentation; tried with 0.24.4). It has
/// Claude Code's events, but no form without a shell, and its own name of the skill tool.
pub(super) const SETTINGS: Settings = Settings {
    programs: &["qwen"],
    package: Some("@qwen-code/qwen-code"),
    editor: None,
    home: Home {
        variable: Some("QWEN_HOME"),
        in_variable: "",
        below_home: ".qwen",
    },
    user: "settings.json",
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
    unregistered: &[],
    watched: Watched {
        user: Words(
            "settings.json extensions agents commands trustedFolders.json trusted_hooks.json",
        ),
        home: Words(""),
        project: Words(".qwen/settings.json .qwen/extensions .qwen/agents .qwen/commands"),
        machine: Words("/etc/qwen-code"),
    },
    trust: None,
    switches: &[Switch {
        user: &["settings.json"],
        project: &[".qwen/settings.json"],
        key: &["disableAllHooks"],
        off: Off::Is(true),
    }],
    unseen: &[],
};
