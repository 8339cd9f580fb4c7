//! opencode (docs/hosts.md#opencode): release 1.18.33. It has no external hooks; the payload is that
//! of our own plugin in it.

use super::settings::{Format, Home, Settings, Watched};
use super::table::{
    Deep, Does, Form, Injects, Keys, Mcp, Moment, Named, Own, Prompts, Serves, Skills, Table, tool,
};
use crate::host::shell::BASH_OR_ZSH;
use crate::sys::name_list::Words;

pub(super) static TABLE: Table = Table {
    keys: Keys {
        event: "event",
        session: "sessionID",
        // A subagent has a session of its own.
        parent: "parentID",
        subagent: "parentID",
        prompt: "messageID",
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
        tool("bash", Does::Shell, &["command", "workdir"]),
        tool("read", Does::Read, &["filePath"]),
        tool("write", Does::Write, &["filePath"]),
        tool("edit", Does::Edit, &["filePath"]),
        tool("multiedit", Does::Edit, &["filePath"]),
        tool("patch", Does::Patch, &["patchText"]),
        tool("apply_patch", Does::Patch, &["patchText"]),
        tool("list", Does::List, &["path"]),
        tool("glob", Does::Find, &["path"]),
        tool("grep", Does::Search, &["path"]),
        tool("webfetch", Does::Fetch, &["url"]),
        tool("websearch", Does::WebSearch, &[]),
        tool("task", Does::SubAgent, &["subagent_type"]),
        tool("skill", Does::Skill, &["name"]),
        tool("todowrite", Does::Todo, &[]),
        tool("todoread", Does::Todo, &[]),
        tool("question", Does::AskUser, &[]),
        tool("invalid", Does::Harmless, &[]),
        tool("StructuredOutput", Does::Harmless, &[]),
    ],
    mcp: Mcp::Underscore,
    shell: BASH_OR_ZSH,
    users_shell: true,
    form: Form::Decision,
    serves: Serves {
        rewrite: Some(&Own {
            user: Words(".config/opencode/ .opencode/ $OPENCODE_CONFIG_DIR/"),
            project: Words("opencode.json opencode.jsonc .opencode/"),
            machine: Words("/etc/opencode/"),
            files: Words("opencode.json opencode.jsonc config.json agent agents mode modes"),
            variables: Words("OPENCODE_CONFIG OPENCODE_CONFIG_CONTENT OPENCODE_PERMISSION"),
            marks: Words("permission bash \\u"),
        }),
        ..Serves::RESTRICTING
    },
    skills: Skills {
        personal: &[
            ".config/opencode/skills",
            ".config/opencode/skill",
            ".opencode/skills",
            ".opencode/skill",
            "$OPENCODE_CONFIG_DIR/skills",
            "$OPENCODE_CONFIG_DIR/skill",
            ".claude/skills",
            ".agents/skills",
        ],
        project: &[
            ".opencode/skills",
            ".opencode/skill",
            ".claude/skills",
            ".agents/skills",
        ],
        named: Named::Frontmatter,
        deep: Deep {
            levels: usize::MAX,
            hidden: true,
            in_skills: true,
            itself: true,
        },
        ..Skills::NONE
    },
    injects: Injects::Typed,
    ..Table::USUAL
};

/// Its configuration (@opencode-ai/plugin 1.18.33; tried with 1.18.33).
pub(super) const SETTINGS: Settings = Settings {
    programs: &["opencode"],
    package: Some("opencode-ai"),
    editor: None,
    home: Home {
        variable: Some("XDG_CONFIG_HOME"),
        in_variable: "opencode",
        below_home: ".config/opencode",
    },
    user: "plugins/agent-skills.js",
    project: ".opencode/plugins/agent-skills.js",
    project_note: "others who share the repository load this plugin too: where this program is \
                   missing, it blocks every call of theirs",
    managed: None,
    format: Format::Plugin,
    gate: None,
    after: None,
    unregistered: &[],
    watched: Watched {
        user: Words(
            "config.json opencode.json opencode.jsonc plugin plugins agent agents command \
             commands tool tools mode modes",
        ),
        home: Words(
            ".opencode/opencode.json .opencode/opencode.jsonc .opencode/plugin .opencode/plugins \
             .opencode/agent .opencode/agents .opencode/command .opencode/commands .opencode/tool \
             .opencode/tools .opencode/mode .opencode/modes $OPENCODE_CONFIG_DIR",
        ),
        project: Words(
            "opencode.json opencode.jsonc .opencode/opencode.json .opencode/opencode.jsonc \
             .opencode/plugin .opencode/plugins .opencode/agent .opencode/agents \
             .opencode/command .opencode/commands .opencode/tool .opencode/tools .opencode/mode \
             .opencode/modes",
        ),
        machine: Words("/etc/opencode"),
    },
    trust: None,
    switches: &[],
    unseen: &[],
};
