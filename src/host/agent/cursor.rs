//! Cursor (docs/hosts.md#cursor), by its documentation of hooks only.

use super::ConnectionScope;
use super::prelude::*;

#[rustfmt::skip]
const TOOLS: &[AgentTool] = &[
    AgentTool { does: Capability::Shell, keys: &["command", "cwd", "working_directory"], names: &["Shell"] },
    AgentTool { does: Capability::ReadFile, keys: &["file_path", "path"], names: &["Read"] },
    AgentTool { does: Capability::WriteFile, keys: &["file_path", "path"], names: &["Write"] },
    AgentTool { does: Capability::EditFile, keys: &["file_path", "path"], names: &["Edit", "Delete"] },
    AgentTool { does: Capability::SearchContent, keys: &["path"], names: &["Grep"] },
    AgentTool { does: Capability::FindFiles, keys: &["path", "target_directory"], names: &["Glob"] },
    AgentTool { does: Capability::ListDirectory, keys: &["path", "target_directory"], names: &["LS"] },
    AgentTool { does: Capability::Fetch, keys: &["url"], names: &["WebFetch"] },
    AgentTool { does: Capability::WebSearch, keys: &[], names: &["WebSearch"] },
    AgentTool { does: Capability::SubAgent, keys: &["subagent_type"], names: &["Task"] },
    AgentTool { does: Capability::Todo, keys: &[], names: &["TodoWrite"] },
];

pub(super) static TABLE: AgentProfile = AgentProfile {
    keys: CallKeys {
        session: "conversation_id",
        subagent: "",
        prompt: "generation_id",
        ..CallKeys::USUAL
    },
    events: &[
        ("preToolUse", EventKind::BeforeTool),
        ("beforeSubmitPrompt", EventKind::Prompt),
        ("sessionEnd", EventKind::End),
    ],
    vocabulary: Vocabulary::of(TOOLS),
    shell: Shell {
        persists: true,
        ..BASH_OR_ZSH
    },
    users_shell: true,
    answer_format: AnswerFormat::Permission,
    asks: true,
    start_variables: &["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    call_directory_first: true,
    skills: SkillLocations {
        personal: Words(".cursor/skills .agents/skills .claude/skills .codex/skills"),
        project: Words(".cursor/skills .agents/skills .claude/skills .codex/skills"),
        ..SkillLocations::NONE
    },
    reads_activate: true,
    skill_calls: &[CallSyntax::AtStart('/')],
    // Its configuration (cursor.com/docs, hooks; not tried).
    programs: &["cursor-agent"],
    editor: Some("cursor"),
    home: AgentHome::new(None, "", ".cursor"),
    user: "hooks.json",
    project: ".cursor/hooks.json",
    project_note: "others who share the repository read this file too: where this program is missing, \
                   Cursor blocks every call of theirs",
    managed: Some("/etc/cursor/hooks.json"),
    grouped: false,
    versioned: &ConnectionScope::ALL,
    typed_entries: false,
    watched: Words("hooks.json permissions.json plugins cli-config.json extensions"),
    watched_project: Words(
        ".cursor/hooks.json .cursor/permissions.json .cursor/plugins .cursor/cli.json",
    ),
    watched_machine: "/etc/cursor",
    ..AgentProfile::USUAL
};
