//! Cursor (docs/hosts.md#cursor), by its documentation of hooks only.

use super::Scope;
use super::prelude::*;

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool { does: Capability::Shell, keys: &["command", "cwd", "working_directory"], names: &["Shell"] },
    Tool { does: Capability::ReadFile, keys: &["file_path", "path"], names: &["Read"] },
    Tool { does: Capability::WriteFile, keys: &["file_path", "path"], names: &["Write"] },
    Tool { does: Capability::EditFile, keys: &["file_path", "path"], names: &["Edit", "Delete"] },
    Tool { does: Capability::SearchContent, keys: &["path"], names: &["Grep"] },
    Tool { does: Capability::FindFiles, keys: &["path", "target_directory"], names: &["Glob"] },
    Tool { does: Capability::ListDirectory, keys: &["path", "target_directory"], names: &["LS"] },
    Tool { does: Capability::Fetch, keys: &["url"], names: &["WebFetch"] },
    Tool { does: Capability::WebSearch, keys: &[], names: &["WebSearch"] },
    Tool { does: Capability::SubAgent, keys: &["subagent_type"], names: &["Task"] },
    Tool { does: Capability::Todo, keys: &[], names: &["TodoWrite"] },
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
    tools: TOOLS,
    shell: Shell {
        persists: true,
        ..BASH_OR_ZSH
    },
    users_shell: true,
    answer_format: AnswerFormat::Permission,
    asks: true,
    start_variables: &["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    call_directory_first: true,
    skills: Skills {
        personal: Words(".cursor/skills .agents/skills .claude/skills .codex/skills"),
        project: Words(".cursor/skills .agents/skills .claude/skills .codex/skills"),
        ..Skills::NONE
    },
    reads_activate: true,
    skill_calls: &[CallSyntax::AtStart('/')],
    // Its configuration (cursor.com/docs, hooks; not tried).
    programs: &["cursor-agent"],
    editor: Some("cursor"),
    home: Home::new(None, "", ".cursor"),
    user: "hooks.json",
    project: ".cursor/hooks.json",
    project_note: "others who share the repository read this file too: where this program is missing, \
                   Cursor blocks every call of theirs",
    managed: Some("/etc/cursor/hooks.json"),
    grouped: false,
    versioned: &Scope::ALL,
    typed_entries: false,
    watched: Words("hooks.json permissions.json plugins cli-config.json extensions"),
    watched_project: Words(
        ".cursor/hooks.json .cursor/permissions.json .cursor/plugins .cursor/cli.json",
    ),
    watched_machine: "/etc/cursor",
    ..AgentProfile::USUAL
};
