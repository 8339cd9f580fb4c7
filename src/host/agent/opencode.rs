//! opencode (docs/hosts.md#opencode): release 1.18.33. It has no external hooks; the payload is that
//! of our own plugin in it.

use super::table::{
    Does, Form, Format, Home, Injects, Keys, Mcp, Moment, Named, Own, Prompts, Skills, Table, Tool,
    tools,
};
use crate::host::shell::BASH_OR_ZSH;
use crate::sys::name_list::Words;

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    tools(Does::Shell, &["command", "workdir"], &["bash"]),
    tools(Does::Read, &["filePath"], &["read"]),
    tools(Does::Write, &["filePath"], &["write"]),
    tools(Does::Edit, &["filePath"], &["edit", "multiedit"]),
    tools(Does::Patch, &["patchText"], &["patch", "apply_patch"]),
    tools(Does::List, &["path"], &["list"]),
    tools(Does::Find, &["path"], &["glob"]),
    tools(Does::Search, &["path"], &["grep"]),
    tools(Does::Fetch, &["url"], &["webfetch"]),
    tools(Does::WebSearch, &[], &["websearch"]),
    tools(Does::SubAgent, &["subagent_type"], &["task"]),
    tools(Does::Skill, &["name"], &["skill"]),
    tools(Does::Todo, &[], &["todowrite", "todoread"]),
    tools(Does::AskUser, &[], &["question"]),
    tools(Does::Harmless, &[], &["invalid", "StructuredOutput"]),
];

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
    tools: TOOLS,
    mcp: Mcp::Underscore,
    shell: BASH_OR_ZSH,
    users_shell: true,
    form: Form::Decision,
    rewrites: Some(&Own {
        user: Words(".config/opencode/ .opencode/ $OPENCODE_CONFIG_DIR/"),
        project: Words("opencode.json opencode.jsonc .opencode/"),
        machine: Words("/etc/opencode/"),
        files: Words("opencode.json opencode.jsonc config.json agent agents mode modes"),
        variables: Words("OPENCODE_CONFIG OPENCODE_CONFIG_CONTENT OPENCODE_PERMISSION"),
        marks: Words("permission bash \\u"),
    }),
    skills: Skills {
        personal: Words(
            ".config/opencode/skills .config/opencode/skill .opencode/skills .opencode/skill $OPENCODE_CONFIG_DIR/skills $OPENCODE_CONFIG_DIR/skill .claude/skills .agents/skills",
        ),
        project: Words(".opencode/skills .opencode/skill .claude/skills .agents/skills"),
        named: Named::Frontmatter,
        levels: usize::MAX,
        in_skills: true,
        itself: true,
        ..Skills::NONE
    },
    injects: Injects::Typed,
    // Its configuration (@opencode-ai/plugin 1.18.33; tried with 1.18.33).
    programs: &["opencode"],
    package: Some("opencode-ai"),
    home: Home::new(Some("XDG_CONFIG_HOME"), "opencode", ".config/opencode"),
    user: "plugins/agent-skills.js",
    project: ".opencode/plugins/agent-skills.js",
    project_note: "others who share the repository load this plugin too: where this program is \
                   missing, it blocks every call of theirs",
    format: Format::Plugin,
    watched: Words(
        "config.json opencode.json opencode.jsonc plugin plugins agent agents command \
         commands tool tools mode modes",
    ),
    watched_home: Words(
        ".opencode/opencode.json .opencode/opencode.jsonc .opencode/plugin .opencode/plugins \
         .opencode/agent .opencode/agents .opencode/command .opencode/commands .opencode/tool \
         .opencode/tools .opencode/mode .opencode/modes $OPENCODE_CONFIG_DIR",
    ),
    watched_project: Words(
        "opencode.json opencode.jsonc .opencode/opencode.json .opencode/opencode.jsonc \
         .opencode/plugin .opencode/plugins .opencode/agent .opencode/agents \
         .opencode/command .opencode/commands .opencode/tool .opencode/tools .opencode/mode \
         .opencode/modes",
    ),
    watched_machine: "/etc/opencode",
    ..Table::USUAL
};
