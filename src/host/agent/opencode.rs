//! opencode (docs/hosts.md#opencode): release 1.18.33. It has no external hooks; the payload is that
//! of our own plugin in it.

use super::prelude::*;

#[rustfmt::skip]
const TOOLS: &[AgentTool] = &[
    AgentTool { does: Capability::Shell, keys: &["command", "workdir"], names: &["bash"] },
    AgentTool { does: Capability::ReadFile, keys: &["filePath"], names: &["read"] },
    AgentTool { does: Capability::WriteFile, keys: &["filePath"], names: &["write"] },
    AgentTool { does: Capability::EditFile, keys: &["filePath"], names: &["edit", "multiedit"] },
    AgentTool { does: Capability::Patch, keys: &["patchText"], names: &["patch", "apply_patch"] },
    AgentTool { does: Capability::ListDirectory, keys: &["path"], names: &["list"] },
    AgentTool { does: Capability::FindFiles, keys: &["path"], names: &["glob"] },
    AgentTool { does: Capability::SearchContent, keys: &["path"], names: &["grep"] },
    AgentTool { does: Capability::Fetch, keys: &["url"], names: &["webfetch"] },
    AgentTool { does: Capability::WebSearch, keys: &[], names: &["websearch"] },
    AgentTool { does: Capability::SubAgent, keys: &["subagent_type"], names: &["task"] },
    AgentTool { does: Capability::Skill, keys: &["name"], names: &["skill"] },
    AgentTool { does: Capability::Todo, keys: &[], names: &["todowrite", "todoread"] },
    AgentTool { does: Capability::AskUser, keys: &[], names: &["question"] },
    AgentTool { does: Capability::Harmless, keys: &[], names: &["invalid", "StructuredOutput"] },
];

pub(super) static TABLE: AgentProfile = AgentProfile {
    keys: CallKeys {
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
        ("tool.execute.before", EventKind::BeforeTool),
        ("tool.execute.after", EventKind::AfterTool),
        ("command.execute.before", EventKind::Typed),
        ("chat.message", EventKind::Prompt),
    ],
    prompts: PromptDetection::ByEventAfterTyping,
    vocabulary: Vocabulary {
        tools: TOOLS,
        mcp: McpNaming::Underscore,
    },
    shell: BASH_OR_ZSH,
    users_shell: true,
    answer_format: AnswerFormat::Decision,
    command_rules: Some(&CommandRuleFiles {
        user: Words(".config/opencode/ .opencode/ $OPENCODE_CONFIG_DIR/"),
        project: Words("opencode.json opencode.jsonc .opencode/"),
        machine: Words("/etc/opencode/"),
        files: Words("opencode.json opencode.jsonc config.json agent agents mode modes"),
        variables: Words("OPENCODE_CONFIG OPENCODE_CONFIG_CONTENT OPENCODE_PERMISSION"),
        marks: Words("permission bash \\u"),
    }),
    skills: SkillLocations {
        personal: Words(
            ".config/opencode/skills .config/opencode/skill .opencode/skills .opencode/skill $OPENCODE_CONFIG_DIR/skills $OPENCODE_CONFIG_DIR/skill .claude/skills .agents/skills",
        ),
        project: Words(".opencode/skills .opencode/skill .claude/skills .agents/skills"),
        name_source: NameSource::Frontmatter,
        levels: usize::MAX,
        in_skills: true,
        itself: true,
        ..SkillLocations::NONE
    },
    injects: CommandInjection::Typed,
    // Its configuration (@opencode-ai/plugin 1.18.33; tried with 1.18.33).
    programs: &["opencode"],
    package: Some("opencode-ai"),
    home: AgentHome::new(Some("XDG_CONFIG_HOME"), "opencode", ".config/opencode"),
    user: "plugins/agent-skills.js",
    project: ".opencode/plugins/agent-skills.js",
    project_note: "others who share the repository load this plugin too: where this program is \
                   missing, it blocks every call of theirs",
    is_plugin: true,
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
    ..AgentProfile::USUAL
};
