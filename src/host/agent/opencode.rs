//! opencode (docs/hosts.md#opencode): release 1.18.33. It has no external hooks; the payload is that
//! of our own plugin in it.

use super::table::{Does, Form, Injects, Keys, Mcp, Moment, Prompts, Serves, Skills, Table, tool};
use crate::host::shell::{Language, Shell};

pub(super) static TABLE: Table = Table {
    keys: Keys {
        event: "event",
        session: "sessionID",
        // A subagent has a session of its own.
        parent: "parentID",
        subagent: "parentID",
        prompt: "",
        cwd: "directory",
        tool: "tool",
        arguments: "args",
        text: "text",
        command: "command",
        command_arguments: "arguments",
    },
    events: &[
        ("tool.execute.before", Moment::BeforeTool),
        ("tool.execute.after", Moment::AfterTool),
        ("command.execute.before", Moment::Typed),
        ("chat.message", Moment::Prompt),
    ],
    prompts: Prompts::ByEventAfterTyping,
    tools: &[
        tool("bash", Does::Shell("command", &["workdir"])),
        tool("read", Does::Read(&["filePath"])),
        tool("write", Does::Write(&["filePath"])),
        tool("edit", Does::Edit(&["filePath"])),
        tool("multiedit", Does::Edit(&["filePath"])),
        tool("patch", Does::Patch("patchText")),
        tool("apply_patch", Does::Patch("patchText")),
        tool("list", Does::List(&["path"])),
        tool("glob", Does::Find(&["path"])),
        tool("grep", Does::Search(&["path"])),
        tool("webfetch", Does::Fetch("url")),
        tool("websearch", Does::WebSearch),
        tool("task", Does::SubAgent("subagent_type")),
        tool("skill", Does::Skill("name")),
        tool("todowrite", Does::Todo),
        tool("todoread", Does::Todo),
        tool("question", Does::AskUser),
        tool("invalid", Does::Harmless),
    ],
    mcp: Mcp::Underscore,
    shell: Shell {
        language: Language::BashOrZsh,
        persists: false,
    },
    form: Form::Decision,
    serves: Serves {
        grant: false,
        ask: false,
        rewrite: true,
    },
    project: &[],
    skills: Skills {
        enterprise: &[],
        personal: &[
            ".config/opencode/skills",
            ".config/opencode/skill",
            ".opencode/skills",
            ".claude/skills",
            ".agents/skills",
        ],
        project: &[
            ".opencode/skills",
            ".opencode/skill",
            ".claude/skills",
            ".agents/skills",
        ],
        project_first: true,
        plugins: &[],
        nested: false,
    },
    injects: Injects::Typed,
    reads_activate: false,
    types_unseen: false,
};
