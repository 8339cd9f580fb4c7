//! Qwen Code (docs/hosts.md#qwen-code): the documentation in release 0.24.4. Its hooks are Claude
//! Code's, its tools Gemini CLI's.

use super::claude_code;
use super::table::{Does, Form, Injects, Mcp, Prompts, Serves, Skills, Table, tool};
use crate::host::shell::{Language, Shell};

pub(super) static TABLE: Table = Table {
    keys: claude_code::KEYS,
    events: claude_code::EVENTS,
    prompts: Prompts::ByIdentity,
    tools: &[
        tool(
            "run_shell_command",
            Does::Shell("command", &["directory", "dir_path"]),
        ),
        tool("read_file", Does::Read(&["file_path", "absolute_path"])),
        tool("write_file", Does::Write(&["file_path"])),
        tool("edit", Does::Edit(&["file_path"])),
        tool("notebook_edit", Does::Edit(&["notebook_path"])),
        tool("list_directory", Does::List(&["path"])),
        tool("glob", Does::Find(&["path"])),
        tool("grep_search", Does::Search(&["path"])),
        tool("web_fetch", Does::Fetch("url")),
        tool("web_search", Does::WebSearch),
        tool("agent", Does::SubAgent("subagent_type")),
        tool("task", Does::SubAgent("subagent_type")),
        tool("skill", Does::Skill("skill")),
        tool("todo_write", Does::Todo),
        tool("ask_user_question", Does::AskUser),
        tool("exit_plan_mode", Does::Harmless),
        tool("tool_search", Does::Harmless),
    ],
    mcp: Mcp::DoubleUnderscores,
    shell: Shell {
        language: Language::Sh,
        persists: false,
    },
    form: Form::Claude,
    serves: Serves {
        grant: true,
        ask: false,
        rewrite: false,
    },
    project: &["QWEN_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    skills: Skills {
        enterprise: &[],
        personal: &[".qwen/skills", ".agents/skills"],
        project: &[".qwen/skills", ".agents/skills"],
        project_first: true,
        plugins: &[".qwen/extensions"],
        nested: false,
    },
    injects: Injects::No,
    reads_activate: false,
    types_unseen: false,
};
